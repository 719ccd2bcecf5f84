r"""The gradient of tanh_backward itself, for second and higher orders.

With z = g (1 - y^2), g the upstream gradient and y the output of Tanh:

    dz/dg = 1 - y^2     so, for dz upstream of z:   dg = dz (1 - y^2) = tanh_backward(dz, y)
    dz/dy = -2 g y                                  dy = -2 g y dz

dg is the operator again, which makes every order work: y is the output of Tanh, whose gradient is the operator.
"""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0


from mindspore import Tensor, ops

from .primitives import primitives


def bprop(grad_output: Tensor, output: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor, Tensor]:
    """The form that MindSpore asks of an operator's bprop: its inputs, its result, the gradient of the result."""
    dout = ops.cast(dout, output.dtype)
    return primitives.tanh_backward(dout, output), dout * grad_output * output * (-2)
