"""bench: the operator against MindSpore's own gradient, printed as ratios of time; below 1 ours is faster."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
from pathlib import Path

from .measurements import Row, measurements
from .plots import draw_ratios
from .session import number, print_table, progress

NAME = "bench"
HELP = "time of the operator against MindSpore's own gradient"


def add_options(parser: argparse.ArgumentParser) -> None:
    """How much to measure, and where to draw it."""
    parser.add_argument("--repeats", type=number(int, 7, 1e6), default=15, help="samples of each side, at least 7")
    parser.add_argument("--processes", type=number(int, 1, 1e6), default=7, help="runs of what needs a process")
    parser.add_argument("--largest", type=number(float, 1e3, 1e8), default=1e8, metavar="N", help="most elements")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="also draw the ratios there")


def run(options: argparse.Namespace) -> tuple[bool, list[Row]]:
    """Measure and print; there is no passing or failing a time."""
    rows: list[Row] = []
    with progress() as tell:
        for row in measurements(options):
            rows.append(row)
            tell(row["what"])
    print(f"device {options.device}, median of {options.repeats}, both sides in turn in one process")
    print_table(
        ["what", "against", "ours", "other", "measured", "at most", ""],
        [
            [row["what"], row["against"], _time(row["ours"]), _time(row["other"]), *_verdict(row)]
            for row in rows
        ],
    )
    if options.plot:
        draw_ratios(rows, options.device, options.plot)
    return True, rows


def _verdict(row: Row) -> tuple[str, str, str]:
    """Measured and wanted: a ratio of the two times, or the milliseconds between them."""
    if row["target"].endswith(" ms"):
        measured, unit = f"{1e3 * row['difference']:+.0f}", " ms"
    else:
        measured, unit = f"{row['ratio']:.2f}", ""
    return measured + unit, row["target"], "above" if float(measured) > float(row["target"].split()[0]) else ""


def _time(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.2f} us"
