"""Every way to write a Tanh: bound, or listed here with the reason why there is nothing to bind."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import mindspore as ms
import mindspore.numpy
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops
from side_by_side import BINDINGS


class Call(nn.Cell):
    """A function, a primitive or a Cell, called by a Cell."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class OpsFunction(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


class OpsPrimitiveInConstruct(nn.Cell):
    def construct(self, x):
        return ops.Tanh()(x)


class Method(nn.Cell):
    def construct(self, x):
        return x.tanh()


class InPlace(nn.Cell):
    def construct(self, x):
        y = x * 1.0
        y.tanh_()
        return y


class Numpy(nn.Cell):
    def construct(self, x):
        return mindspore.numpy.tanh(x)


class Mint(nn.Cell):
    def construct(self, x):
        return mint.tanh(x)


class MintFunctional(nn.Cell):
    def construct(self, x):
        return mint.nn.functional.tanh(x)


class Csr(nn.Cell):
    def construct(self, x):
        rows, columns = Tensor([0, 2, 3], ms.int32), Tensor([0, 1, 2], ms.int32)
        return ops.csr_tanh(ms.CSRTensor(rows, columns, x[0], (2, 3))).values


class Coo(nn.Cell):
    def construct(self, x):
        return ops.coo_tanh(ms.COOTensor(Tensor([[0, 1], [1, 2], [1, 0]], ms.int32), x[0], (2, 3))).values


class Sequence(nn.Cell):
    """A recurrent layer over a sequence of three."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, x):
        return self.layer(ops.stack((x, x * 2, 1 - x)))[0]


class Step(nn.Cell):
    """One step of a recurrent cell from a state that is not zero."""

    def __init__(self, cell, memory=False):
        super().__init__()
        self.cell = cell
        state = Tensor(np.linspace(-1, 1, 8).reshape(2, 4), ms.float32)
        self.state = (state, state) if memory else state
        self.memory = memory

    def construct(self, x):
        result = self.cell(x, self.state)
        return result[0] if self.memory else result


BOUND = {
    "ops.tanh": (OpsFunction, 1),
    "ops.tanh as an attribute": (lambda: Call(ops.tanh), 1),
    "ops.Tanh() before": (lambda: Call(ops.Tanh()), 1),
    "ops.Tanh() in construct": (OpsPrimitiveInConstruct, 1),
    "Tensor.tanh": (Method, 1),
    "nn.Tanh": (nn.Tanh, 1),
    "nn.get_activation": (lambda: nn.get_activation("tanh"), 1),
    "mint.tanh": (Mint, 1),
    "mint.nn.functional.tanh": (MintFunctional, 1),
    "mint.nn.Tanh": (mint.nn.Tanh, 1),
    "mindspore.numpy.tanh": (Numpy, 1),
    "ops.csr_tanh": (Csr, 1),
    "ops.coo_tanh": (Coo, 1),
    "nn.Dense(activation)": (lambda: nn.Dense(3, 4, activation="tanh"), 1),
    "nn.DenseBnAct": (lambda: nn.DenseBnAct(3, 4, activation="tanh"), 1),
    "nn.Tanhshrink": (nn.Tanhshrink, 1),
    "nn.RNN": (lambda: Sequence(nn.RNN(3, 4)), 3),
    "nn.RNN, two layers, both directions": (lambda: Sequence(nn.RNN(3, 4, 2, bidirectional=True)), 12),
    "nn.GRU": (lambda: Sequence(nn.GRU(3, 4)), 3),
    "nn.RNNCell": (lambda: Step(nn.RNNCell(3, 4)), 1),
    "nn.GRUCell": (lambda: Step(nn.GRUCell(3, 4)), 1),
    "nn.LSTMCell": (lambda: Step(nn.LSTMCell(3, 4), memory=True), 2),
}

NOT_POSSIBLE = {
    "nn.LSTM": (lambda: Sequence(nn.LSTM(3, 4)), "one fused kernel on CPU, without a Tanh in it"),
    "nn.GELU": (lambda: nn.GELU(approximate=True), "one kernel of its own, GeLU"),
    "nn.FastGelu": (nn.FastGelu, "one kernel of its own, FastGeLU"),
    "nn.Mish": (nn.Mish, "one kernel of its own, Mish"),
}


def gradients(net):
    x = Tensor(np.array([[-1.5, 0.3, 0.1], [0.7, 1.2, -0.4]]), ms.float32)
    weights = net.trainable_params()
    return ms.grad(net, 0, weights)(x) if weights else ms.grad(net)(x)


@pytest.mark.parametrize("spelling", BOUND)
def test_bound(same_as_unbound, spelling):
    build, launches = BOUND[spelling]
    same_as_unbound(build, gradients, launches)


@pytest.mark.parametrize("spelling", NOT_POSSIBLE)
def test_nothing_to_bind(same_as_unbound, spelling):
    build, _ = NOT_POSSIBLE[spelling]
    same_as_unbound(build, gradients, 0)


IN_PLACE = """
import sys
sys.path.insert(0, {folder!r})
import mindspore as ms
from mindspore import nn
from side_by_side import BINDINGS, run
from test_spellings import InPlace, gradients
ms.set_context(mode=ms.{mode}_MODE)
for binding in (None, *BINDINGS.values()):
    try:
        run(InPlace, gradients, binding)
    except RuntimeError as error:
        assert "InplaceTanh" in str(error)
        print(type(error).__name__, run(nn.Tanh, gradients)[1])
"""


def test_in_place_has_no_kernel_on_cpu(mode, run_python):
    """Tensor.tanh_ fails as it does unbound, and nothing stays bound; in a process of its own, as it might."""
    printed = run_python(IN_PLACE.format(folder=str(Path(__file__).parent), mode=mode.upper()))
    assert printed.splitlines() == ["RuntimeError 0"] * (1 + len(BINDINGS))
