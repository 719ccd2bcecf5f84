"""Networks side by side in one process, each bound or not."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
from mindspore import Tensor, nn
from side_by_side import TARGET, Loss, TwoLayers, X, arrays, assert_close, run
from workers import gradients

import mindspore_tanhbw as tbw


def launches(use):
    before = tbw.launch_count()
    result = arrays(use())
    return tbw.launch_count() - before, result


def test_two_networks(mode):
    """One bound, one not, in turns."""
    one, other = TwoLayers(), TwoLayers()
    expected = [launches(lambda net=net: gradients(net))[1] for net in (one, other)]
    with tbw.bound(one):
        for _ in range(2):
            for net, count, own in ((one, 1, expected[0]), (other, 0, expected[1])):
                found, result = launches(lambda net=net: gradients(net))
                assert found == count
                assert_close(result, own)
    assert launches(lambda: gradients(one))[0] == 0


def test_two_networks_bound_one_after_the_other(mode):
    one, other = TwoLayers(), TwoLayers()
    tbw.bind(one)
    tbw.bind(other)
    tbw.unbind(one)
    assert not tbw.is_bound(one) and tbw.is_bound(other) and not tbw.is_bound()
    assert [launches(lambda net=net: gradients(net))[0] for net in (one, other)] == [0, 1]
    tbw.unbind(other)
    assert launches(lambda: gradients(other))[0] == 0


def test_one_network_inside_a_loss(mode):
    """The network is bound, whatever it is called from."""
    loss = Loss(TwoLayers())
    with tbw.bound(loss.net):
        assert launches(lambda: ms.grad(loss)(Tensor(X), Tensor(TARGET)))[0] == 1


def test_bound_alone_and_with_the_process(mode):
    net = TwoLayers()
    with tbw.bound(net):
        with tbw.bound():
            assert launches(lambda: gradients(net))[0] == 1
        assert launches(lambda: gradients(net))[0] == 1
    assert launches(lambda: gradients(net))[0] == 0


def test_a_network_without_tanh(mode):
    net = nn.Dense(3, 2)
    with tbw.bound(net) as report:
        assert int(report) == 0
        assert run(lambda: net, gradients)[1] == 0
