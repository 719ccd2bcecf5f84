"""doctor: what is installed and found, what it means for the operator, and the command that mends it."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import os
import sys
from typing import Any

from . import findings, findings_ascend
from .findings import Finding

NAME = "doctor"
HELP = "what is installed and found, what it means, and the command that mends it"

_COLOURS = {"ok": 32, "warning": 33, "missing": 31, "info": 2}


def add_options(parser: argparse.ArgumentParser) -> None:
    """It has none of its own."""


def run(options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Print a line for each finding. It compiles nothing, and sets no device target."""
    device = findings_ascend.device(options.device)
    found = examine(device)
    usable = all(one.state != "missing" for one in found)
    for one in found:
        print(_line(one))
    print(f"\n{'usable' if usable else 'not usable'} on {device}")
    return usable, {"device": device, "usable": usable, "findings": [one._asdict() for one in found]}


def examine(device: str) -> list[Finding]:
    """
    All findings for a device target, the last of which says what comes of the others.

    Args:
        device (str): "CPU" or "Ascend". On CPU what CANN lacks is information only.

    Returns:
        List[Finding].
    """
    ascend = findings_ascend.findings()
    if device == "CPU":
        ascend = [one if one.state == "ok" else one._replace(state="info") for one in ascend]
    found = [
        findings.package(),
        findings.python(),
        findings.mindspore_version(),
        findings.mindspore_headers(),
        findings.numpy_version(),
        findings.device_target(device),
        findings.cpu_kernel(),
        findings.white_list(),
        findings.cache(),
        findings.compiler(device),
        findings.python_headers(),
        *ascend,
    ]
    return [*found, findings.mechanism(found)]


def _line(one: Finding) -> str:
    state = one.state.ljust(7)
    if sys.stdout and sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        state = f"\x1b[{_COLOURS[one.state]}m{state}\x1b[0m"
    text = one.found + (f": {one.means}" if one.means else "")
    return f"{state}  {one.name.ljust(17)}  {text}" + (f". Mend: {one.mend}" if one.mend else "")
