"""A network run twice, unbound and bound, from the same start: the results are equal, and the operator ran."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

import mindspore_tanhbw as tbw

BINDINGS = {
    "bind": lambda net: tbw.bound(),
    "bind(net)": lambda net: tbw.bound(net),
}
"""The ways to bind: each makes a context manager from the network that is to run."""

X = np.array([[-2.0, -0.3, 0.0], [0.4, 1.1, 2.5]], np.float32)
TARGET = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)


class TwoLayers(nn.Cell):
    """The network of most tests: one Tanh between two layers with weights."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.tanh = nn.Tanh()
        self.last = nn.Dense(4, 2)

    def construct(self, x):
        return self.last(self.tanh(self.first(x)))


class Gradients(nn.Cell):
    """A network's gradients, by input and weights, as a Cell: `set_inputs` reaches only what is a Cell."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.gradients = ops.GradOperation(get_all=True, get_by_list=True)
        self.weights = ms.ParameterTuple(net.trainable_params())

    def construct(self, x):
        return self.gradients(self.net, self.weights)(x)


class Loss(nn.Cell):
    """The mean square of a network's distance from TARGET."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.loss = nn.MSELoss()

    def construct(self, x, target):
        return self.loss(self.net(x), target)


def run(build, use, binding=None, seed=11):
    """use(build()), bound or not, from one seed; returns the arrays in its result and the launches."""
    ms.set_seed(seed)
    net = build()
    before = tbw.launch_count()
    if binding is None:
        result = arrays(use(net))
    else:
        with binding(net):
            result = arrays(use(net))
    return result, tbw.launch_count() - before


def arrays(result):
    """The tensors of nested tuples and lists, in order, as float64 arrays."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in arrays(part)]
    if isinstance(result, Tensor):
        # A copy: what PyNative mode has still to run happens here, while the network is bound.
        return [result.astype(ms.float64).asnumpy().copy()]
    return [np.asarray(result, np.float64)]


def assert_close(ours, own, dtype=np.float32):
    """Equal but for the rounding of a few operations in `dtype`."""
    assert len(ours) == len(own) > 0
    for one, other in zip(ours, own):
        assert one.shape == other.shape and np.isfinite(other).all()
        scale = max(1.0, np.abs(other).max(initial=0.0))
        np.testing.assert_allclose(one, other, rtol=0, atol=8 * np.finfo(dtype).eps * scale)
