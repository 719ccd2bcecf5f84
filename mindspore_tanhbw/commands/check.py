"""check: gradients through the operator against MindSpore's own, with the proof that the operator ran."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import contextlib
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops.auto_generate import TanhGrad

from .. import bound, tanh, tanh_backward
from .._checks import DTYPES
from .plots import draw_errors
from .proof import as_expected, runs
from .session import modes, print_table, progress
from .spellings import BOUND, NOT_POSSIBLE, ONLY_ON_CPU, gradients

NAME = "check"
HELP = "gradients through the operator against MindSpore's own"
ULPS = 4
"""Tolerance: MindSpore's own kernels round 1 - y^2 in other places than ours does."""

# Significand bits, the leading one included.
_BITS = {mindspore.float16: 11, mindspore.float32: 24, mindspore.float64: 53, mindspore.bfloat16: 8}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where to draw."""
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="also draw the error over the input there")


def run(options: argparse.Namespace) -> tuple[bool, list[dict[str, Any]]]:
    """Check every mode, dtype and spelling; print two tables."""
    rows, spellings = [], []
    names = [name for name in (*BOUND, *NOT_POSSIBLE) if options.device == "CPU" or name not in ONLY_ON_CPU]
    with progress() as tell:
        for mode in modes(options.mode):
            tell(f"{mode} mode")
            for dtype in DTYPES:
                rows.append(_check(mode, dtype, "tanh_backward", options.device))
                # MindSpore has no bfloat16 Tanh on CPU.
                if dtype != mindspore.bfloat16 or options.device != "CPU":
                    rows.append(_check(mode, dtype, "gradient of tanh", options.device))
            spellings += [_check_spelling(mode, name, options.device) for name in names]
    print(f"device {options.device}, error against MindSpore's own TanhGrad in ULP of grad_output, at most {ULPS}")
    if options.device == "CPU":
        print("MindSpore has no bfloat16 Tanh on CPU, so there is no gradient of it")
    else:
        print(f"not tried here: {', '.join(ONLY_ON_CPU)}; a graph counts one launch for each plan that it made")
    _print(rows, "route", "mode", "dtype", "launches", "error", "result")
    print("\nbound and unbound, launches of one backward pass")
    _print(spellings, "spelling", "mode", "bound", "unbound", "result")
    if options.plot:
        dtypes = [dtype for dtype in DTYPES if dtype != mindspore.bfloat16 or options.device != "CPU"]
        draw_errors([_curve(dtype) for dtype in dtypes], options.device, options.plot)
    rows += spellings
    return not any(row["failed"] for row in rows), rows


def _print(rows: list[dict[str, Any]], *columns: str) -> None:
    print_table(columns, [[row[column] for column in columns] for row in rows])


def _check_spelling(mode: str, name: str, device: str) -> dict[str, Any]:
    build, expected = BOUND.get(name) or (NOT_POSSIBLE[name][0], 0)
    launches = {}
    for binding in ("unbound", "bound"):
        with bound() if binding == "bound" else contextlib.nullcontext():
            before = runs(device)
            gradients(build())
            launches[binding] = runs(device) - before
    failed = launches["unbound"] != 0 or not as_expected(launches["bound"], expected, device)
    result = NOT_POSSIBLE[name][1] if name in NOT_POSSIBLE else "ok"
    row = {"spelling": name, "mode": mode, **launches, "result": result, "failed": failed}
    return {**row, "result": f"{expected} expected"} if failed else row


def _curve(dtype: Any, points: int = 100, near: int = 100) -> dict[str, Any]:
    x = Tensor(np.linspace(-5, 5, points * near)).astype(dtype)
    ones, output = ops.ones_like(x), ops.tanh(x)
    reference = 1 - _numpy(output) ** 2
    curve = {"own": TanhGrad()(output, ones), "ours": ops.GradOperation(sens_param=True)(tanh)(x, ones)}
    errors = {key: np.abs(_numpy(value) - reference) * 2.0 ** (_BITS[dtype] - 1) for key, value in curve.items()}
    largest = {key: value.reshape(points, near).max(axis=1) for key, value in errors.items()}
    return {"dtype": str(dtype), "x": _numpy(x).reshape(points, near).mean(axis=1), **largest}


def _check(mode: str, dtype: Any, route: str, device: str) -> dict[str, Any]:
    rng = np.random.default_rng(20)
    x = Tensor(rng.normal(size=(61, 7)) * 2).astype(dtype)
    grad_output = Tensor(rng.normal(size=(61, 7))).astype(dtype)
    before = runs(device)
    if route == "tanh_backward":
        output = Tensor(np.tanh(rng.normal(size=(61, 7)))).astype(dtype)
        ours = _numpy(tanh_backward(grad_output, output))
    else:
        output = ops.tanh(x)
        ours = _numpy(ops.GradOperation(sens_param=True)(tanh)(x, grad_output))
    launches = runs(device) - before
    reference = _own_gradient(grad_output, output, device)
    scale = np.abs(_numpy(grad_output)) * 2.0 ** (1 - _BITS[dtype])
    error = float(np.max(np.abs(ours - reference) / scale))
    ran = as_expected(launches, 1, device)
    return {
        "route": route,
        "mode": mode,
        "dtype": str(dtype),
        "launches": launches,
        "error": round(error, 2),
        "result": "ok" if ran and error <= ULPS else ("differs" if ran else "operator did not run"),
        "failed": not ran or error > ULPS,
    }


def _own_gradient(grad_output: Tensor, output: Tensor, device: str) -> Any:
    if output.dtype == mindspore.bfloat16 and device == "CPU":
        # No such kernel of MindSpore's; its float32 one then, on the same values.
        return _numpy(TanhGrad()(output.astype(mindspore.float32), grad_output.astype(mindspore.float32)))
    return _numpy(TanhGrad()(output, grad_output))


def _numpy(tensor: Tensor) -> Any:
    return tensor.astype(mindspore.float64).asnumpy()
