"""What runs in a process that the tests start: importable there, so in a module of its own."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
from mindspore import Tensor
from side_by_side import BINDINGS, TwoLayers, X, run

import mindspore_tanhbw as tbw


def gradients(net, x=X):
    """By input and weights."""
    return ms.grad(net, 0, net.trainable_params())(Tensor(x))


def gradients_in_a_worker(task):
    """Whether the process was bound when it started; gradients unbound and bound; launches."""
    mode, factor = task
    ms.set_context(mode=ms.PYNATIVE_MODE if mode == "pynative" else ms.GRAPH_MODE)
    was_bound = tbw.is_bound()
    unbound, _ = run(TwoLayers, lambda net: gradients(net, factor * X))
    ours, launches = run(TwoLayers, lambda net: gradients(net, factor * X), BINDINGS["bind"])
    return was_bound, unbound, ours, launches
