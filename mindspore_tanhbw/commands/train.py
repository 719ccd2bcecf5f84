"""train: a network on real data, its Tanh gradients through the operator, beside the same with MindSpore's own."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
from pathlib import Path
from typing import Any, Callable

import mindspore
import numpy as np
from mindspore import Tensor, nn

from .. import Tanh
from .plots import draw_training
from .proof import as_expected, runs
from .session import UserError, modes, number, print_table, progress

NAME = "train"
HELP = "train a network on handwritten digits, with the operator and with MindSpore's own gradient"
BATCH = 64
TANH_LAYERS = 2
TOLERANCE = 1e-3
"""How far the two losses of an epoch may lie apart, relatively: what rounding grows to in training."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The length of the training and its seed."""
    parser.add_argument("--epochs", type=number(int, 1, 1e6), default=10)
    parser.add_argument("--seed", type=number(int, 0, 2**32 - 1), default=1)
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="also draw the curves there")


def run(options: argparse.Namespace) -> tuple[bool, list[dict[str, Any]]]:
    """Train in every mode; print the two curves side by side."""
    data = _digits()
    results = []
    passed = True
    for mode in modes(options.mode):
        ours = _train(Tanh, data, options, mode)
        own = _train(nn.Tanh, data, options, mode)
        expected = ours["steps"] * TANH_LAYERS
        apart = np.max(np.abs(np.array(ours["loss"]) / np.array(own["loss"]) - 1))
        ran = as_expected(ours["launches"], expected, options.device) and own["launches"] == 0
        passed = passed and ran and apart <= TOLERANCE
        print(f"\n{mode} mode on {options.device}, {ours['steps']} steps of {BATCH} digits")
        curves = zip(ours["loss"], own["loss"], ours["accuracy"], own["accuracy"])
        print_table(
            ["epoch", "loss", "loss, MindSpore", "accuracy", "accuracy, MindSpore"],
            [[n, f"{a:.6f}", f"{b:.6f}", f"{c:.4f}", f"{d:.4f}"] for n, (a, b, c, d) in enumerate(curves, 1)],
        )
        what = f"expected {expected}" if options.device == "CPU" else "of each graph, which keeps its plan, one counts"
        print(f"operator launches: {ours['launches']} ({what}), without it {own['launches']}")
        print(f"largest relative difference of the losses: {apart:.1e} (allowed {TOLERANCE:.0e})")
        results.append({"mode": mode, "operator": ours, "own": own, "expected_launches": expected})
    if options.plot:
        draw_training(results, options.device, options.plot)
    return bool(passed), results


def _digits() -> tuple[Any, Any, Any, Any]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise UserError("train needs scikit-learn for its data: pip install scikit-learn.") from None
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = (images[order] / 16).astype(np.float32), labels[order].astype(np.int32)
    held_out = len(images) // 5
    return images[held_out:], labels[held_out:], images[:held_out], labels[:held_out]


def training_step(activation: Callable[[], nn.Cell]) -> tuple[nn.Cell, nn.Cell]:
    """The network, and the cell that trains it by one batch and returns the loss."""
    net = nn.SequentialCell(nn.Dense(64, 48), activation(), nn.Dense(48, 32), activation(), nn.Dense(32, 10))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    return net, nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()


def _train(activation: Callable[[], nn.Cell], data: tuple[Any, ...], options: argparse.Namespace, mode: str) -> Any:
    images, labels, test_images, test_labels = data
    mindspore.set_seed(options.seed)
    net, step = training_step(activation)
    rng = np.random.default_rng(options.seed)
    curve: dict[str, Any] = {"loss": [], "accuracy": [], "steps": 0}
    before = runs(options.device)
    with progress() as tell:
        for epoch in range(options.epochs):
            order = rng.permutation(len(images))
            losses = []
            for start in range(0, len(order) - BATCH + 1, BATCH):
                batch = order[start : start + BATCH]
                losses.append(float(step(Tensor(images[batch]), Tensor(labels[batch])).asnumpy()))
            curve["steps"] += len(losses)
            curve["loss"].append(float(np.mean(losses)))
            guesses = net(Tensor(test_images)).asnumpy().argmax(axis=1)
            curve["accuracy"].append(float(np.mean(guesses == test_labels)))
            tell(f"{mode}, epoch {epoch + 1}/{options.epochs}")
    curve["launches"] = runs(options.device) - before
    return curve
