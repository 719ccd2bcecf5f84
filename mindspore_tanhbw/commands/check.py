"""check: gradients through the operator against MindSpore's own, with the proof that the operator ran."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
from pathlib import Path
from typing import Any, Dict, List, Tuple

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops.auto_generate import TanhGrad

from .. import launch_count, tanh, tanh_backward
from .._checks import DTYPES
from .plots import draw_errors
from .session import modes, print_table

NAME = "check"
HELP = "gradients through the operator against MindSpore's own"
ULPS = 4
"""Tolerance: MindSpore's own kernels round 1 - y^2 in other places than ours does."""

# Significand bits, the leading one included.
_BITS = {mindspore.float16: 11, mindspore.float32: 24, mindspore.float64: 53, mindspore.bfloat16: 8}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where to draw."""
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="also draw the error over the input there")


def run(options: argparse.Namespace) -> Tuple[bool, List[Dict[str, Any]]]:
    """Check every mode and dtype; print a table."""
    rows = [
        _check(mode, dtype, route, options.device)
        for mode in modes(options.mode)
        for dtype in DTYPES
        for route in ("tanh_backward", "gradient of tanh")
        # MindSpore has no bfloat16 Tanh on CPU.
        if not (dtype == mindspore.bfloat16 and options.device == "CPU" and route != "tanh_backward")
    ]
    header = ["route", "mode", "dtype", "launches", "error in ULP of grad_output", "result"]
    print(f"device {options.device}, tolerance {ULPS} ULP")
    print_table(header, [[row[key] for key in ("route", "mode", "dtype", "launches", "error", "result")] for row in rows])
    if options.plot:
        dtypes = [dtype for dtype in DTYPES if dtype != mindspore.bfloat16 or options.device != "CPU"]
        draw_errors([_curve(dtype) for dtype in dtypes], options.device, options.plot)
    return all(row["result"] == "ok" for row in rows), rows


def _curve(dtype: Any, points: int = 100, near: int = 100) -> Dict[str, Any]:
    x = Tensor(np.linspace(-5, 5, points * near)).astype(dtype)
    ones, output = ops.ones_like(x), ops.tanh(x)
    reference = 1 - _numpy(output) ** 2
    curve = {"own": TanhGrad()(output, ones), "ours": ops.GradOperation(sens_param=True)(tanh)(x, ones)}
    errors = {key: np.abs(_numpy(value) - reference) * 2.0 ** (_BITS[dtype] - 1) for key, value in curve.items()}
    largest = {key: value.reshape(points, near).max(axis=1) for key, value in errors.items()}
    return {"dtype": str(dtype), "x": _numpy(x).reshape(points, near).mean(axis=1), **largest}


def _check(mode: str, dtype: Any, route: str, device: str) -> Dict[str, Any]:
    rng = np.random.default_rng(20)
    x = Tensor(rng.normal(size=(61, 7)) * 2).astype(dtype)
    grad_output = Tensor(rng.normal(size=(61, 7))).astype(dtype)
    before = launch_count()
    if route == "tanh_backward":
        output = Tensor(np.tanh(rng.normal(size=(61, 7)))).astype(dtype)
        ours = _numpy(tanh_backward(grad_output, output))
    else:
        output = ops.tanh(x)
        ours = _numpy(ops.GradOperation(sens_param=True)(tanh)(x, grad_output))
    launches = launch_count() - before
    reference = _own_gradient(grad_output, output, device)
    scale = np.abs(_numpy(grad_output)) * 2.0 ** (1 - _BITS[dtype])
    error = float(np.max(np.abs(ours - reference) / scale))
    ran = launches == (1 if device == "CPU" else 0)
    return {
        "route": route,
        "mode": mode,
        "dtype": str(dtype),
        # CANN counts no launches for us; there the simulator's trace or MindSpore's profiler tells.
        "launches": launches if device == "CPU" else "not counted",
        "error": round(error, 2),
        "result": "ok" if ran and error <= ULPS else ("differs" if ran else "operator did not run"),
    }


def _own_gradient(grad_output: Tensor, output: Tensor, device: str) -> Any:
    if output.dtype == mindspore.bfloat16 and device == "CPU":
        # No such kernel of MindSpore's; its float32 one then, on the same values.
        return _numpy(TanhGrad()(output.astype(mindspore.float32), grad_output.astype(mindspore.float32)))
    return _numpy(TanhGrad()(output, grad_output))


def _numpy(tensor: Tensor) -> Any:
    return tensor.astype(mindspore.float64).asnumpy()
