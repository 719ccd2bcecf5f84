"""The plots of check, train and bench; readable in grey."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .session import UserError

_DARK, _MIDDLE, _LIGHT = "0.15", "0.45", "0.75"
_MARKERS = "osD^vP"


@contextlib.contextmanager
def _axes(file: Path, title: str, width: float, height: float, count: int = 1) -> Iterator[Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("--plot needs matplotlib: pip install matplotlib.") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, count)
    figure.suptitle(title)
    for one in axes if count > 1 else [axes]:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(color="0.9")
        one.set_axisbelow(True)
    yield axes
    figure.savefig(file)


def draw_ratios(rows: list[dict[str, Any]], device: str, file: Path) -> None:
    """bench: the ratio of each measurement, and where it should come to."""
    rows = [row for row in rows if row["target"].replace(".", "").isdigit()][::-1]
    title = f"Time of the operator on {device}, relative to what it is measured against"
    with _axes(file, title, 9, 1.5 + 0.3 * len(rows)) as axes:
        places = range(len(rows))
        axes.barh(places, [row["ratio"] for row in rows], color=_MIDDLE, height=0.6, label="measured (below 1: faster)")
        targets = [float(row["target"]) for row in rows]
        axes.plot(targets, places, "|", color="black", markersize=14, markeredgewidth=2, label="target, at most")
        axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
        axes.set_yticks(places, [f"{row['what']}\nagainst {row['against']}" for row in rows], fontsize=7)
        for place, row, target in zip(places, rows, targets):
            right = max(row["ratio"], target), place
            text = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
            axes.annotate(f"{row['ratio']:.2f}", right, **text)
        axes.set_xlabel("ratio of median times (no unit)")
        axes.legend(loc="lower right", fontsize=8)


def draw_training(results: list[dict[str, Any]], device: str, file: Path) -> None:
    """train: loss and accuracy of each mode, with the operator and with MindSpore's own gradient."""
    with _axes(file, f"Digits, 64-48-32-10 network with Tanh, on {device}", 9, 3.6, 2) as (loss, accuracy):
        for result, marker in zip(results, _MARKERS):
            own, ours = {"color": _LIGHT, "linewidth": 5}, {"color": _DARK, "marker": marker}
            for key, style in (("own", own), ("operator", ours)):
                label = f"{result['mode']}, {'MindSpore' if key == 'own' else 'operator'}"
                epochs = range(1, len(result[key]["loss"]) + 1)
                loss.plot(epochs, result[key]["loss"], label=label, **style)
                accuracy.plot(epochs, result[key]["accuracy"], label=label, **style)
        loss.set(xlabel="epoch", ylabel="training loss (cross entropy, nats)", yscale="log")
        accuracy.set(xlabel="epoch", ylabel="accuracy on held-out digits (share)")
        accuracy.legend(fontsize=8)


def draw_errors(curves: list[dict[str, Any]], device: str, file: Path) -> None:
    """check: the largest error of the gradient near each input, in units in the last place of the upstream gradient."""
    title = f"Gradient of Tanh on {device}, against float64 from the same output y"
    with _axes(file, title, 9, 3.6, len(curves)) as axes:
        for one, curve in zip(axes, curves):
            one.plot(curve["x"], curve["own"], color=_LIGHT, linewidth=5, label="MindSpore's own")
            one.plot(curve["x"], curve["ours"], color=_DARK, linewidth=1.2, label="operator")
            one.set(title=curve["dtype"], xlabel="x (input of Tanh)", ylim=(0, 0.6))
        axes[0].set_ylabel("largest error (ULP of the upstream gradient)")
        axes[-1].legend(fontsize=8)
