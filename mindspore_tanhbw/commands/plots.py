"""The plots of check, train and bench; readable in grey."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .session import UserError

_DARK, _LIGHT = "0.15", "0.75"


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
        targets = [float(row["target"]) for row in rows]
        for label, above in (("measured (below 1: faster)", False), ("measured, above its target", True)):
            chosen = [i for i in places if (rows[i]["ratio"] > targets[i]) is above]
            if chosen:
                ratios = [rows[i]["ratio"] for i in chosen]
                axes.barh(chosen, ratios, color=_DARK if above else _LIGHT, height=0.6, label=label)
        axes.plot(targets, places, "|", color="black", markersize=14, markeredgewidth=2, label="target, at most")
        axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
        axes.set_yticks(places, [f"{row['what']}\nagainst {row['against']}" for row in rows], fontsize=7)
        for place, row in zip(places, rows):
            text = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            axes.annotate(f"{row['ratio']:.2f}", (row["ratio"], place), bbox=box, **text)
        axes.set_xlabel("ratio of median times (no unit)")
        axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1), fontsize=8, ncols=3, frameon=False)


def draw_training(results: list[dict[str, Any]], device: str, file: Path) -> None:
    """train: loss and accuracy of each mode, with the operator and with MindSpore's own gradient."""
    with _axes(file, f"Digits, 64-48-32-10 network with Tanh, on {device}", 9, 3.6, 2) as (loss, accuracy):
        # Wide below thin, open markers around filled ones: where curves are the same, each can still be seen.
        styles = (
            ({"color": "0.85", "linewidth": 9}, {"marker": "o", "markersize": 9, "fillstyle": "none"}),
            ({"color": "0.65", "linewidth": 4}, {"marker": "s", "markersize": 4}),
        )
        for result, (own, ours) in zip(results, styles):
            for axes, key in ((loss, "loss"), (accuracy, "accuracy")):
                epochs = range(1, len(result["own"][key]) + 1)
                axes.plot(epochs, result["own"][key], label=f"{result['mode']}, MindSpore", **own)
                axes.plot(epochs, result["operator"][key], label=f"{result['mode']}, operator", color=_DARK, **ours)
                axes.xaxis.get_major_locator().set_params(integer=True)
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
            none = ": 0 everywhere" if not max(*curve["own"], *curve["ours"]) else ""
            one.set(title=curve["dtype"] + none, xlabel="x (input of Tanh)", ylim=(0, 0.6))
        axes[0].set_ylabel("largest error (ULP of the upstream gradient)")
        axes[-1].legend(fontsize=8)
