"""Graph compilation: jit, control flow around Tanh, dynamic shapes, and when MindSpore compiles again."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn
from side_by_side import BINDINGS, Gradients, TwoLayers, X, arrays

import mindspore_tanhbw as tbw


class Jitted(nn.Cell):
    """construct is compiled in PyNative mode too."""

    def __init__(self):
        super().__init__()
        self.tanh = nn.Tanh()

    @ms.jit
    def construct(self, x):
        return self.tanh(x) * x


class NestedJit(nn.Cell):
    """A compiled method calls a compiled method of another Cell."""

    def __init__(self):
        super().__init__()
        self.inner = Jitted()
        self.tanh = nn.Tanh()

    @ms.jit
    def outer(self, x):
        return self.tanh(self.inner(x)) + x

    def construct(self, x):
        return self.outer(2 * x)


class ControlFlow(nn.Cell):
    """Loops and branches that depend on values."""

    def __init__(self):
        super().__init__()
        self.tanh = nn.Tanh()

    def construct(self, x, times):
        count = Tensor(0, ms.int32)
        while count < times:
            x = self.tanh(x) * 1.5
            count = count + 1
        x = self.tanh(x) if x.sum() > 0 else x * 2
        for _ in range(2):
            x = self.tanh(x)
        return x


def gradient(net):
    return ms.grad(net)(Tensor(X))


@pytest.mark.parametrize("build, launches", [(Jitted, 1), (NestedJit, 2)])
def test_jit(same_as_unbound, build, launches):
    same_as_unbound(build, gradient, launches)


def test_gradient_inside_jit(same_as_unbound):
    def use(net):
        @ms.jit
        def inside(x):
            return ms.grad(net)(x)

        return inside(Tensor(X))

    same_as_unbound(Jitted, use, 1)


@pytest.mark.parametrize("sign, times, launches", [(1, 3, 6), (-1, 2, 4)])
def test_control_flow(same_as_unbound, sign, times, launches):
    def use(net):
        return ms.grad(net)(Tensor(sign * X), Tensor(times, ms.int32))

    same_as_unbound(ControlFlow, use, launches)


def batches(*sizes):
    return [Tensor(np.linspace(-2, 1, 3 * size).reshape(size, 3), ms.float32) for size in sizes]


def test_changing_batch_sizes(same_as_unbound):
    def use(net):
        gradients = ms.grad(net, 0, net.trainable_params())
        return [gradients(x) for x in batches(2, 5, 3, 2, 5)]

    same_as_unbound(TwoLayers, use, 5)


def test_dynamic_shape(same_as_unbound):
    def use(net):
        gradients = Gradients(net)
        gradients.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
        return [gradients(x) for x in batches(4, 1, 7)]

    same_as_unbound(TwoLayers, use, 3)


def test_dynamic_rank(same_as_unbound):
    def use(net):
        gradients = Gradients(net)
        gradients.set_inputs(Tensor(shape=None, dtype=ms.float32))
        return [gradients(x)[0] for x in (Tensor(X), Tensor(X[0]), Tensor(X[None]))]

    same_as_unbound(nn.Tanh, use, 3)


COUNT_COMPILATIONS = """
import contextlib, os, sys
from pathlib import Path
import numpy as np, mindspore as ms
from mindspore import Tensor
sys.path.insert(0, {folder!r})
from side_by_side import BINDINGS, Gradients, TwoLayers
ms.set_context(mode=ms.GRAPH_MODE)

def compilations():
    return len(list(Path(os.environ["MS_DEV_SAVE_GRAPHS_PATH"]).rglob("*_validate_*.ir")))

def unbound(net):
    return contextlib.nullcontext()

for dynamic in (False, True):
    for binding in (unbound, *BINDINGS.values()):
        net = TwoLayers()
        gradients = Gradients(net)
        if dynamic:
            gradients.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
        with binding(net):
            before = compilations()
            for size in (2, 5, 2):
                gradients(Tensor(np.ones((size, 3), np.float32)))[0][0].asnumpy()
            print(compilations() - before, end=" ")
"""


def test_compiles_as_often_as_unbound(run_python, tmp_path):
    """MindSpore writes a file for each graph that it compiles; these are counted."""
    program = COUNT_COMPILATIONS.format(folder=str(Path(__file__).parent))
    printed = run_python(program, MS_DEV_SAVE_GRAPHS="2", MS_DEV_SAVE_GRAPHS_PATH=str(tmp_path / "graphs"))
    counts = list(map(int, printed.split()))
    ways = 1 + len(BINDINGS)
    fixed, dynamic = counts[:ways], counts[ways:]
    assert set(fixed) == {2}, fixed
    assert dynamic == [1] * ways


def test_what_is_compiled_follows_the_binding(mode, binding):
    """A gradient that was compiled before is compiled again when the network is bound, and when it is unbound."""
    net = TwoLayers()
    compiled = [ms.grad(net), Gradients(net)]

    def launches():
        before = tbw.launch_count()
        arrays([gradients(Tensor(X)) for gradients in compiled])
        return tbw.launch_count() - before

    for _ in range(2):
        assert launches() == 0
        with binding(net):
            assert launches() == 2
    assert launches() == 0
