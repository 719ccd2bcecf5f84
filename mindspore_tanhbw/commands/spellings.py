"""Every way to write a Tanh, each a network of its own: with something to bind, and without."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Any, Callable

import mindspore
import mindspore.numpy
import numpy as np
from mindspore import Tensor, mint, nn, ops


class Call(nn.Cell):  # type: ignore[misc]  # mindspore has no type information
    """A function, a primitive or a Cell, called by a Cell."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def construct(self, x: Tensor) -> Tensor:
        return self.function(x)


class OpsFunction(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class OpsPrimitiveInConstruct(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return ops.Tanh()(x)


class Method(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return x.tanh()


class Numpy(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return mindspore.numpy.tanh(x)


class Mint(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return mint.tanh(x)


class MintFunctional(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return mint.nn.functional.tanh(x)


class Sequence(nn.Cell):  # type: ignore[misc]
    """A recurrent layer over a sequence of three."""

    def __init__(self, layer: nn.Cell) -> None:
        super().__init__()
        self.layer = layer

    def construct(self, x: Tensor) -> Tensor:
        return self.layer(ops.stack((x, x * 2, 1 - x)))[0]


class Step(nn.Cell):  # type: ignore[misc]
    """One step of a recurrent cell from a state that is not zero."""

    def __init__(self, cell: nn.Cell, memory: bool = False) -> None:
        super().__init__()
        self.cell = cell
        state = Tensor(np.linspace(-1, 1, 8).reshape(2, 4), mindspore.float32)
        self.state = (state, state) if memory else state
        self.memory = memory

    def construct(self, x: Tensor) -> Tensor:
        result = self.cell(x, self.state)
        return result[0] if self.memory else result


X = np.array([[-1.5, 0.3, 0.1], [0.7, 1.2, -0.4]], np.float32)
"""An input for each of them."""

BOUND: dict[str, tuple[Callable[[], nn.Cell], int]] = {
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
    "nn.Dense(activation)": (lambda: nn.Dense(3, 4, activation="tanh"), 1),
    "nn.Tanhshrink": (nn.Tanhshrink, 1),
    "nn.RNN": (lambda: Sequence(nn.RNN(3, 4, 2)), 6),
    "nn.GRU": (lambda: Sequence(nn.GRU(3, 4, 2)), 6),
    "nn.RNNCell": (lambda: Step(nn.RNNCell(3, 4)), 1),
    "nn.GRUCell": (lambda: Step(nn.GRUCell(3, 4)), 1),
    "nn.LSTMCell": (lambda: Step(nn.LSTMCell(3, 4), memory=True), 2),
}
"""With the launches of one backward pass on CPU."""

NOT_POSSIBLE: dict[str, tuple[Callable[[], nn.Cell], str]] = {
    "nn.LSTM": (lambda: Sequence(nn.LSTM(3, 4)), "one fused kernel on CPU, without a Tanh in it"),
    "nn.GELU": (lambda: nn.GELU(approximate=True), "one kernel of its own, GeLU"),
    "nn.FastGelu": (nn.FastGelu, "one kernel of its own, FastGeLU"),
    "nn.Mish": (nn.Mish, "one kernel of its own, Mish"),
}
"""With the reason."""

ONLY_ON_CPU = ("nn.GRU", *NOT_POSSIBLE)
"""What `check` does not try on Ascend: there GRU and LSTM are kernels of another kind."""


def gradients(net: nn.Cell) -> Any:
    """By the input and by the weights."""
    weights = net.trainable_params()
    return mindspore.grad(net, 0, weights)(Tensor(X)) if weights else mindspore.grad(net)(Tensor(X))
