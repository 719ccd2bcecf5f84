"""What the examples share: train unbound and bound from one seed, compare the losses, count the launches, plot."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import contextlib
import sys
from pathlib import Path

import mindspore
import numpy as np

import mindspore_tanhbw as tbw
from mindspore_tanhbw.commands.session import UserError, modes, print_table, progress, use_device

ROWS = 10


def run(description, train, steps, launches, draw, unit="no unit", tolerance=1e-4):
    """
    Compare two trainings on the command line's behalf.

    Args:
        description (str): The first line names the example.
        train (Callable): `train(steps, show)` trains from MindSpore's current seed and calls `show(n)` after n steps.
            Returns the losses, {name: one number for each step}, and what else there is to draw.
        steps (int): The default of --steps.
        launches (Callable): `launches(steps)` gives the launches of the operator that are expected on CPU: their
            number, or a range where MindSpore decides.
        draw (Callable): `draw(axes, unbound, bound)` draws what else the two trainings returned.
        unit (str): The unit of the losses.
        tolerance (float): How far two losses may lie apart, relatively: what float32 rounding grows to in training.

    Returns:
        int, the exit code: 0 if the losses are equal and the operator ran as often as expected, else 1; 2 for a
        mistake of the user's.
    """
    options = _options(description, steps)
    try:
        device = use_device(options.device)
        # On few cores MindSpore's asynchronous PyNative mode mostly waits for itself: here it is up to 30 times slower.
        mindspore.runtime.launch_blocking()
        (mode,) = modes(options.mode)
        title = f"{mode} mode on {device}, {options.steps} steps, seed {options.seed}"
        title = f"{description.splitlines()[0].rstrip('.')}\n{title}"
        print(f"{title}\n")
        losses, count, rest = zip(*(_train(train, options, binding) for binding in (contextlib.nullcontext, tbw.bound)))
        passed = _report(losses, count, launches(options.steps), device, tolerance)
        if options.plot:
            _plot(options.plot, title, losses, unit, draw, rest)
    except (UserError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if passed else 1


def _options(description, steps):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", choices=["auto", "CPU", "Ascend"], default="auto", help="auto: Ascend when usable")
    parser.add_argument("--mode", choices=["pynative", "graph"], default="pynative")
    parser.add_argument("--steps", type=int, default=steps, metavar="N", help=f"default {steps}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.svg", help="draw losses and results there (needs matplotlib)"
    )
    options = parser.parse_args()
    if options.steps < 1:
        parser.error("--steps must be at least 1")
    return options


def _train(train, options, binding):
    name = "bound" if binding is tbw.bound else "unbound"
    mindspore.set_seed(options.seed)
    before = tbw.launch_count()
    with binding(), progress() as tell:
        losses, rest = train(options.steps, lambda step: tell(f"{name}: step {step}/{options.steps}"))
        launches = tbw.launch_count() - before
    return {key: np.asarray(values, np.float64) for key, values in losses.items()}, launches, rest


def _report(losses, count, expected, device, tolerance):
    unbound, bound = losses
    steps = len(next(iter(bound.values())))
    shown = sorted({*range(0, steps, -(-steps // ROWS)), steps - 1})
    header = ["step", *(f"{key}, {side}" for key in bound for side in ("unbound", "bound"))]
    print_table(header, [[n + 1, *(f"{side[key][n]:.6f}" for key in bound for side in losses)] for n in shown])
    apart = max(np.max(np.abs(bound[key] / unbound[key] - 1)) for key in bound)
    print(f"\nlargest relative difference of the losses: {apart:.1e} (allowed {tolerance:.0e})")
    passed = bool(apart <= tolerance)
    if device == "CPU":
        allowed = expected if isinstance(expected, range) else range(expected, expected + 1)
        text = str(expected) if allowed is not expected else f"{expected.start} to {expected.stop - 1}"
        print(f"operator launches: {count[1]} bound (expected {text}), {count[0]} unbound")
        passed = passed and count[1] in allowed and count[0] == 0
    print("passed" if passed else "FAILED")
    return passed


def _plot(path, title, losses, unit, draw, rest):
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("--plot needs matplotlib: pip install matplotlib.") from None
    rcParams["svg.hashsalt"] = "mindspore_tanhbw"  # the same file for the same figures
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    figure.suptitle(title, fontsize=11)
    left, right = figure.subplots(1, 2)
    for (key, unbound), bound, dashes in zip(losses[0].items(), losses[1].values(), ("--", ":")):
        step = np.arange(1, len(bound) + 1)
        # Wide and light below, thin and dark above: both can be seen where they are the same, in grey too.
        left.plot(step, unbound, color="0.75", linewidth=4, label=f"{key}, unbound")
        left.plot(step, bound, color="black", linewidth=1.2, linestyle=dashes, label=f"{key}, bound")
    left.set(title="Loss", xlabel="training step", ylabel=f"loss ({unit})")
    if all(np.min(values) > 0 and np.max(values) > 100 * np.min(values) for values in losses[0].values()):
        left.set_yscale("log")
    left.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=len(losses[0]), frameon=False)
    draw(right, *rest)
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except ValueError as error:  # a format that matplotlib does not write
        raise UserError(f"--plot {path}: {error}") from None
    print(f"drawn: {path}")
