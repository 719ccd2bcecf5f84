"""Gradients are the same bit for bit: over runs, threads of the kernel, instruction sets, routes, modes, processes."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import hashlib

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops

import mindspore_tanhbw as tbw
from mindspore_tanhbw._library import library

DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": np.float32}
PATHS = [b"portable", b"avx2", b"avx512"]
COUNT = (1 << 18) + 77
"""Enough for the kernel to use several threads, and no multiple of anything."""


class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)


class Function(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


def inputs(dtype, count=COUNT):
    rng = np.random.default_rng(7)
    x, g = (rng.normal(size=count) for _ in "xg")
    return (Tensor(one.astype(DTYPES[dtype])).astype(getattr(ms, dtype)) for one in (x, g))


def bits(tensor):
    # Exact for bfloat16, which NumPy has not.
    tensor = tensor.astype(ms.float32) if tensor.dtype == ms.bfloat16 else tensor
    return tensor.asnumpy().tobytes()


@pytest.fixture
def kernel():
    kernel = library()
    threads = kernel.tanhbw_num_threads()
    yield kernel
    kernel.tanhbw_force_path(None)
    kernel.tanhbw_set_num_threads(threads)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operator_over_paths_threads_and_runs(mode, kernel, dtype):
    y, g = inputs(dtype)
    backward = Backward()
    backward(g, y)  # building it sets the number of threads
    paths = [path for path in PATHS if kernel.tanhbw_force_path(path) == 0]
    assert b"portable" in paths
    results, before, calls = set(), tbw.launch_count(), 0
    for path in paths:
        assert kernel.tanhbw_force_path(path) == 0
        for threads in (1, 2, 3, 8):
            kernel.tanhbw_set_num_threads(threads)
            for _ in range(3):
                results.add(bits(backward(g, y)))
                calls += 1
    assert tbw.launch_count() == before + calls
    assert len(results) == 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradient_over_paths_threads_routes_and_modes(kernel, dtype):
    x, g = inputs(dtype)
    gradient = ops.GradOperation(sens_param=True)
    results, before, calls = set(), tbw.launch_count(), 0
    y = ops.tanh(x)
    paths = [path for path in PATHS if kernel.tanhbw_force_path(path) == 0]
    for value in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=value)
        try:
            net = Function()
            for path in paths:
                kernel.tanhbw_force_path(path)
                for threads in (1, 2, 5):
                    kernel.tanhbw_set_num_threads(threads)
                    results |= {bits(gradient(tbw.tanh)(x, g)), bits(Backward()(g, y))}
                    with tbw.bound(net):
                        results.add(bits(gradient(net)(x, g)))
                    calls += 3
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    assert tbw.launch_count() == before + calls
    assert len(results) == 1


@pytest.mark.parametrize("order", [2, 3])
def test_higher_orders_over_runs(mode, order):
    x, _ = inputs("float32", 1001)

    def derivative():
        function = tbw.tanh
        for _ in range(order):
            function = ms.grad(function)
        return bits(function(x))

    assert len({derivative() for _ in range(5)}) == 1


PROGRAM = """
import hashlib
import mindspore as ms, numpy as np
from mindspore import Tensor, nn
import mindspore_tanhbw as tbw
ms.set_context(mode=ms.{mode}_MODE)
ms.set_seed(11)
net = nn.SequentialCell(nn.Dense(6, 50), tbw.Tanh(), nn.Dense(50, 40), tbw.Tanh(), nn.Dense(40, 1))
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.05, 0.9))
rng = np.random.default_rng(3)
x, y = (Tensor(rng.normal(size=(64, width)).astype(np.float32)) for width in (6, 1))
for _ in range(20): loss = step(x, y)
weights = b"".join(weight.asnumpy().tobytes() for weight in net.trainable_params())
print(hashlib.sha256(weights).hexdigest(), tbw.launch_count())
"""


@pytest.mark.parametrize("name", ["PYNATIVE", "GRAPH"])
def test_training_over_processes(run_python, name):
    first, second = (run_python(PROGRAM.format(mode=name)).split() for _ in range(2))
    assert first == second and first[1] == "40"
    assert first[0] != hashlib.sha256(b"").hexdigest()
