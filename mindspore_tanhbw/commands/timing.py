"""How bench measures: ours and the other in turn, in one process, medians."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable

_SAMPLE_SECONDS = 2e-3
"""A sample repeats what takes less time, so that the clock and the interpreter's own noise do not count."""


@dataclass(frozen=True)
class Pair:
    """Median seconds of one call of each."""

    ours: float
    other: float

    @property
    def ratio(self) -> float:
        """Below 1: ours is faster."""
        return self.ours / self.other


def in_turn(ours: Callable[[], Any], other: Callable[[], Any], repeats: int) -> Pair:
    """Both, one sample after the other, after a first call of each that is not counted."""
    counts = [_calls_in_a_sample(ours), _calls_in_a_sample(other)]
    samples: list[list[float]] = [[], []]
    for _ in range(repeats):
        for side, (call, count) in enumerate(zip((ours, other), counts)):
            samples[side].append(_seconds(call, count) / count)
    return Pair(*map(statistics.median, samples))


def processes_in_turn(ours: str, other: str, repeats: int) -> Pair:
    """The same for two programs that each print seconds, every run in a process of its own."""
    samples: list[list[float]] = [[], []]
    for _ in range(repeats):
        for side, program in enumerate((ours, other)):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
            samples[side].append(float(done.stdout.split()[-1]))
    return Pair(*map(statistics.median, samples))


def _calls_in_a_sample(call: Callable[[], Any]) -> int:
    call()
    seconds = min(_seconds(call, 1) for _ in range(3))
    return max(1, int(_SAMPLE_SECONDS / seconds))


def _seconds(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start
