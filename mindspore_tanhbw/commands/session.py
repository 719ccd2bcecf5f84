"""What the commands share: device, modes, tables."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import mindspore


class UserError(Exception):
    """Something that the user can mend: one line, exit code 2."""


def number(kind: Callable[[str], Any], least: float, most: float) -> Callable[[str], Any]:
    """The type of an option that is a number."""

    def parse(text: str) -> Any:
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be at least {least:g} and at most {most:g}, but is {text}")
        return value

    parse.__name__ = kind.__name__  # for argparse's own message
    return parse


def use_device(name: str) -> str:
    """Set the device target and return its name."""
    # Without CANN in the environment the operator has no kernel there, and MindSpore reports libraries it cannot load.
    ascend = "ASCEND_OPP_PATH" in os.environ and mindspore.hal.is_available("Ascend")
    if name == "Ascend" and not ascend:
        raise UserError("no Ascend device is usable here; use --device CPU.")
    target = ("Ascend" if ascend else "CPU") if name == "auto" else name
    mindspore.set_device(target)
    return target


def modes(wanted: str) -> Iterator[str]:
    """Set MindSpore's mode to each of the wanted ones in turn."""
    for name, value in (("pynative", mindspore.PYNATIVE_MODE), ("graph", mindspore.GRAPH_MODE)):
        if wanted in (name, "both"):
            mindspore.set_context(mode=value, jit_config={"jit_level": "O0"})
            yield name


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """MindSpore warns of layers and settings that check and bench use on purpose, in the middle of their tables."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that is written over and goes in the end; nothing where there is no terminal."""
    terminal = sys.stderr.isatty()

    def tell(text: str) -> None:
        if terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        tell("\r")


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns as wide as what stands in them, all but the first aligned right."""
    lines: list[list[str]] = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))
        print("  ".join([line[0].ljust(widths[0]), *rest]))
