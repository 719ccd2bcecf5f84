"""The proof of check and train that the operator ran."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from .. import launch_count
from .._ascend import plan_count
from ..bprop.runner import runner


def runs(device: str) -> int:
    """
    How often the operator ran in this process, as far as this device counts it.

    On CPU the launches, exactly. On Ascend in PyNative mode the launches; in Graph mode the plans that MindSpore asked
    the operator for, of which a compiled graph makes one and keeps it: more than none where it ran.
    """
    launches = launch_count()  # also waits for what is still to run
    return launches if device == "CPU" else plan_count() + runner().launches_on_ascend()


def as_expected(counted: int, expected: int, device: str) -> bool:
    """Whether that is what `expected` launches look like on this device."""
    return counted == expected if device == "CPU" else (counted > 0) == (expected > 0)
