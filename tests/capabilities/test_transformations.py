"""Derivatives of higher order, forward mode, Jacobians, vmap; and every use that a network can make of one Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
import pytest
from mindspore import Tensor, nn, ops
from side_by_side import TARGET, Loss, TwoLayers, X


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tanh = nn.Tanh()

    def construct(self, x):
        return self.tanh(1.5 * x) * x


class ManyUses(Scaled):
    def construct(self, x):
        y = self.tanh(x)
        return y * y + ops.sin(y) + x * y


class TwoResults(Scaled):
    def construct(self, x):
        y = self.tanh(x)
        return 2 * y, y * x


class Unused(Scaled):
    def construct(self, x):
        self.tanh(x)
        return x * x


class UnusedOfTwo(Scaled):
    def construct(self, x):
        _, used = self.tanh(x), self.tanh(2 * x)
        return used


class ChangedByAdding(Scaled):
    def construct(self, x):
        y = self.tanh(x)
        z = y * 1.0
        y.add_(1.0)
        return y + z


class ChangedByMultiplying(Scaled):
    def construct(self, x):
        y = self.tanh(x)
        y.mul_(3.0)
        return y


class Detached(Scaled):
    def construct(self, x):
        return self.tanh(x) * ops.stop_gradient(self.tanh(2 * x))


def derivative(order):
    def use(net):
        for _ in range(order):
            net = ms.grad(net)
        return net(Tensor(X))

    return use


# PyNative mode runs all of the order below again; Graph mode leaves out what nothing needs.
@pytest.mark.parametrize("order, launches", [(1, 1), (2, range(2, 4)), (3, range(2, 7))])
def test_orders(same_as_unbound, order, launches):
    same_as_unbound(Scaled, derivative(order), launches)


FUNCTIONS = {
    "jvp": (lambda net: ms.jvp(net, Tensor(X), Tensor(X + 1)), 1),
    "jvp of grad": (lambda net: ms.jvp(ms.grad(net), Tensor(X), Tensor(X + 1)), range(2, 4)),
    "vjp": (lambda net: ms.vjp(net, Tensor(X))[1](Tensor(X + 1)), 1),
    "jacrev": (lambda net: ms.jacrev(net)(Tensor(X[1, 1:])), 1),
    "jacfwd": (lambda net: ms.jacfwd(net)(Tensor(X[1, 1:])), 1),
    "jacfwd of grad": (lambda net: ms.jacfwd(ms.grad(net))(Tensor(X[1, 1:])), range(2, 4)),
    "vmap of grad": (lambda net: ms.vmap(ms.grad(net), in_axes=1)(Tensor(X)), 1),
    "vmap of vmap of grad": (lambda net: ms.vmap(ms.vmap(ms.grad(net)), in_axes=1)(Tensor(X)), 1),
    "vmap of second order": (lambda net: ms.vmap(ms.grad(ms.grad(net)))(Tensor(X)), range(2, 4)),
    "grad of vmap": (lambda net: ms.grad(ms.vmap(net, in_axes=1, out_axes=0))(Tensor(X)), 1),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(same_as_unbound, function):
    use, launches = FUNCTIONS[function]
    same_as_unbound(Scaled, use, launches)


def test_second_order_loss_with_weights(same_as_unbound):
    """As in physics-informed networks: weights are trained on a derivative."""

    class Slope(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = TwoLayers()
            self.slope = ms.grad(self.net)

        def construct(self, x):
            return (self.slope(x) ** 2).sum()

    def use(loss):
        return ms.value_and_grad(loss, None, loss.trainable_params())(Tensor(X))

    same_as_unbound(Slope, use, range(2, 4))


USES = {
    "many uses": (ManyUses, 1),
    "two results": (TwoResults, 1),
    "unused": (Unused, 0),
    "one of two unused": (UnusedOfTwo, 1),
    "detached": (Detached, 1),
    "changed in place, added to": (ChangedByAdding, 1),
    "changed in place, multiplied": (ChangedByMultiplying, 1),
}


@pytest.mark.parametrize("case", USES)
def test_uses(same_as_unbound, case):
    build, launches = USES[case]
    same_as_unbound(build, derivative(1), launches)


def test_several_gradients_of_one_network(same_as_unbound):
    def use(net):
        x, target = Tensor(X), Tensor(TARGET)
        loss = Loss(net)
        by_input = ms.grad(loss)(x, target)
        by_weights = ms.grad(loss, None, net.trainable_params())(x, target)
        return by_input, by_weights, ms.grad(loss, 0, net.trainable_params())(x, target)

    same_as_unbound(TwoLayers, use, 3)
