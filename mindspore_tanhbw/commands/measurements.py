"""What bench measures, a row each."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Callable

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops.auto_generate import TanhGrad

from .. import Tanh, bound, tanh, tanh_backward
from .._library import library
from .session import modes
from .timing import Pair, in_turn, processes_in_turn
from .train import BATCH, training_step

CHAIN = 50
SMALL = 64

Row = dict[str, Any]


def measurements(options: argparse.Namespace) -> Iterator[Row]:
    """Yield them one after the other."""
    # Asynchronous PyNative mode hands each call to threads that wake up when the machine lets them; one after the
    # other a call costs what it costs.
    mindspore.set_context(pynative_synchronize=True)
    for mode in modes(options.mode):
        if mode == "graph":
            yield from _graph(options)
            continue
        if options.device == "CPU":
            yield from _kernel(options)
        yield from _pynative(options)
    yield from _process(options)


def _row(what: str, against: str, pair: Pair, target: str) -> Row:
    figures = {"ours": pair.ours, "other": pair.other, "ratio": pair.ratio, "difference": pair.ours - pair.other}
    return {"what": what, "against": against, **figures, "target": target}


def _tensors(count: int, dtype: Any) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(1)
    block = rng.normal(size=min(count, 1 << 20)).astype(np.float32)
    values = np.resize(block, count)
    return Tensor(values).astype(dtype), Tensor(np.tanh(values)).astype(dtype)


def _kernel(options: argparse.Namespace) -> Iterator[Row]:
    sizes = [10**power for power in range(3, 9) if 10**power <= options.largest]
    for dtype in (mindspore.float32, mindspore.float64):
        for size in sizes:
            g, y = _tensors(size, dtype)
            pair = in_turn(partial(tanh_backward, g, y), partial(TanhGrad(), y, g), options.repeats)
            yield _row(f"operator, {dtype}, {size:.0e}", "TanhGrad", pair, "1.00")
    for size in (size for size in sizes if size >= 10**7):
        yield _row(f"operator, Float32, {size:.0e}", "triad", in_turn(*_triad(size), options.repeats), "1.11")
    for dtype in (mindspore.float16, mindspore.bfloat16):
        size = sizes[-1]
        ours, other = (partial(tanh_backward, *_tensors(size, one)) for one in (dtype, mindspore.float32))
        pair = in_turn(ours, other, options.repeats)
        yield _row(f"operator, {dtype}, {size:.0e}", "Float32", pair, "0.65")


def _triad(size: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The operator into memory that is there, and a = b * c by NumPy in as many threads."""
    kernel = library()
    g, y, out = (np.full(size, value, np.float32) for value in (1.5, 0.5, 0.0))
    pointers = [array.ctypes.data for array in (g, y, out)]
    threads = kernel.tanhbw_num_threads()
    parts = [slice(size * i // threads, size * (i + 1) // threads) for i in range(threads)]
    pool = ThreadPoolExecutor(threads)
    address = [ctypes.c_void_p(pointer) for pointer in pointers]
    count = ctypes.c_int64(size)
    return (
        lambda: kernel.tanhbw_backward(1, *address, count),
        lambda: list(pool.map(lambda part: np.multiply(g[part], y[part], out=out[part]), parts)),
    )


class Chain(nn.Cell):  # type: ignore[misc]  # mindspore has no type information
    """Tanh after Tanh."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def construct(self, x: Tensor) -> Tensor:
        for _ in range(CHAIN):
            x = self.function(x)
        return x


def _pynative(options: argparse.Namespace) -> Iterator[Row]:
    g, y = _tensors(SMALL, mindspore.float32)
    pair = in_turn(lambda: tanh_backward(g, y).asnumpy(), lambda: TanhGrad()(y, g).asnumpy(), options.repeats)
    yield _row(f"PyNative, one call, {SMALL}", "TanhGrad", pair, "1.20")
    one, own = (mindspore.value_and_grad(layer) for layer in (Tanh(), nn.Tanh()))
    pair = in_turn(lambda: one(g)[1].asnumpy(), lambda: own(g)[1].asnumpy(), options.repeats)
    yield _row("PyNative, value_and_grad of a Tanh", "nn.Tanh", pair, "1.10")
    chain = mindspore.grad(Chain(ops.tanh))

    def bound_chain() -> Any:
        with bound():
            return chain(g).asnumpy()

    pair = in_turn(bound_chain, lambda: chain(g).asnumpy(), options.repeats)
    yield _row(f"PyNative, chain of {CHAIN}, bound", "unbound", pair, "1.15")


def _graph(options: argparse.Namespace) -> Iterator[Row]:
    # Alone, by their mark: binding and unbinding would compile again in every turn.
    x, _ = _tensors(SMALL, mindspore.float32)
    ours, own = (mindspore.grad(Chain(function)) for function in (tanh, ops.tanh))
    pair = in_turn(lambda: ours(x).asnumpy(), lambda: own(x).asnumpy(), options.repeats)
    yield _row(f"Graph, chain of {CHAIN}", "ops.tanh", pair, "1.02")
    rng = np.random.default_rng(2)
    images = Tensor(rng.normal(size=(BATCH, 64)).astype(np.float32))
    labels = Tensor(rng.integers(0, 10, BATCH).astype(np.int32))
    ours, own = (training_step(layer)[1] for layer in (Tanh, nn.Tanh))
    pair = in_turn(lambda: ours(images, labels).asnumpy(), lambda: own(images, labels).asnumpy(), options.repeats)
    yield _row("Graph, a step of train", "nn.Tanh", pair, "1.02")


_IMPORT = """
import time{before}
start = time.perf_counter()
import {package}
print(time.perf_counter() - start)
"""
_FIRST = """
import time, mindspore, numpy as np, mindspore_tanhbw as tbw
mindspore.set_device({device!r})
x = mindspore.Tensor(np.ones(64, np.float32))
start = time.perf_counter()
mindspore.grad({function})(x).asnumpy()
print(time.perf_counter() - start)
"""


def _process(options: argparse.Namespace) -> Iterator[Row]:
    ours, own = (_FIRST.format(device=options.device, function=name) for name in ("tbw.tanh", "mindspore.ops.tanh"))
    yield _row("first gradient of a process", "ops.tanh", processes_in_turn(ours, own, options.processes), "+50 ms")
    ours = _IMPORT.format(before=", mindspore", package="mindspore_tanhbw")
    alone = _IMPORT.format(before="", package="mindspore")
    pair = processes_in_turn(ours, alone, options.processes)
    # What its import takes is the difference already: it is timed after MindSpore's own.
    yield {**_row("import, after MindSpore's", "MindSpore's", pair, "+20 ms"), "difference": pair.ours}
