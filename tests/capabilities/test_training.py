"""Training as MindSpore offers it: weights, recompute, accumulation, mixed precision, loss scaling, Model.train."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
import mindspore.dataset
import numpy as np
import pytest
from mindspore import Tensor, nn
from mindspore.train import FixedLossScaleManager, Model
from side_by_side import TARGET, Loss, TwoLayers, X


class WithNormalisation(nn.Cell):
    """What mixed precision level O2 treats on its own: batch normalisation stays in float32."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.normalise = nn.BatchNorm1d(4)
        self.tanh = nn.Tanh()
        self.last = nn.Dense(4, 2)

    def construct(self, x):
        return self.last(self.tanh(self.normalise(self.first(x))))


def weights(net):
    return [parameter.value() for parameter in net.trainable_params()]


def train(step, net, steps=2):
    return [step(Tensor(X), Tensor(TARGET)) for _ in range(steps)] + weights(net)


def optimizer(net, loss_scale=1.0):
    return nn.SGD(net.trainable_params(), learning_rate=0.1, loss_scale=loss_scale)


def train_one_step(net):
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer(net)).set_train()
    return train(step, net)


def test_value_and_grad_with_weights(same_as_unbound):
    def use(net):
        return ms.value_and_grad(Loss(net), (0, 1), net.trainable_params())(Tensor(X), Tensor(TARGET))

    same_as_unbound(TwoLayers, use, 1)


def test_train_one_step(same_as_unbound):
    same_as_unbound(TwoLayers, train_one_step, 2)


class RecomputedCall(TwoLayers):
    """The function in place of the flag."""

    def construct(self, x):
        return self.last(ms.recompute(self.tanh, self.first(x)))


def recomputed_network():
    net = TwoLayers()
    net.recompute()
    return net


@pytest.mark.parametrize("build", [recomputed_network, RecomputedCall])
def test_recompute(same_as_unbound, build):
    same_as_unbound(build, train_one_step, 2)


def test_gradient_accumulation(same_as_unbound):
    def use(net):
        gradients = ms.value_and_grad(Loss(net), None, net.trainable_params())
        total = None
        for shift in range(3):
            _, part = gradients(Tensor(X + shift), Tensor(TARGET))
            total = part if total is None else tuple(a + b for a, b in zip(total, part))
        optimizer(net)(total)
        return weights(net)

    same_as_unbound(TwoLayers, use, 3)


@pytest.mark.parametrize("level", ["O1", "O2", "O3"])
def test_amp_levels(same_as_unbound, level):
    def use(net):
        # On CPU MindSpore knows no overflow, which O2 would look for by default.
        step = ms.amp.build_train_network(net, optimizer(net), nn.MSELoss(), level=level, loss_scale_manager=None)
        return train(step, net)

    same_as_unbound(WithNormalisation, use, 2, np.float16)


@pytest.mark.parametrize("level", ["O1", "auto"])
def test_auto_mixed_precision(same_as_unbound, level):
    same_as_unbound(TwoLayers, lambda net: train_one_step(ms.amp.auto_mixed_precision(net, level)), 2, np.float16)


def test_a_tanh_in_float16_between_float32(same_as_unbound):
    def use(net):
        return train_one_step(ms.amp.custom_mixed_precision(net, white_list=[nn.Tanh]))

    same_as_unbound(TwoLayers, use, 2, np.float16)


@pytest.mark.parametrize(
    "scaler", [lambda: ms.amp.StaticLossScaler(2.0**10), lambda: ms.amp.DynamicLossScaler(2.0**8, 2, 1)]
)
def test_loss_scaler(same_as_unbound, scaler):
    def use(net):
        scale = scaler()
        loss = Loss(net)

        def forward(x, target):
            return scale.scale(loss(x, target))

        gradients, update = ms.value_and_grad(forward, None, net.trainable_params()), optimizer(net)
        values = []
        for _ in range(2):
            value, scaled = gradients(Tensor(X), Tensor(TARGET))
            update(scale.unscale(scaled))
            values.append(scale.unscale(value))
            scale.adjust(Tensor(True))
        return values + weights(net)

    same_as_unbound(TwoLayers, use, 2)


@pytest.mark.parametrize("level, loss_scale, sink", [("O0", 1.0, False), ("O2", 64.0, True)])
def test_model_train(same_as_unbound, level, loss_scale, sink):
    rows = {"x": np.concatenate([X, X + 1, -X]), "target": np.concatenate([TARGET, TARGET, -TARGET])}

    def use(net):
        batches = ms.dataset.NumpySlicesDataset(rows, shuffle=False).batch(2)
        scale = FixedLossScaleManager(loss_scale, drop_overflow_update=False)
        update = optimizer(net, loss_scale)
        model = Model(net, nn.MSELoss(), update, amp_level=level, loss_scale_manager=scale)
        model.train(2, batches, dataset_sink_mode=sink)
        return weights(net)

    same_as_unbound(TwoLayers, use, 6, np.float32 if level == "O0" else np.float16)
