"""vmap of tanh_backward launches the operator once for the batch, over any axes and in nine dimensions."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops

import mindspore_tanhbw as tbw
from mindspore_tanhbw._library import library_path

G = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
Y = np.linspace(-0.9, 0.7, 12, dtype=np.float32).reshape(3, 4)


class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)


def batched(grad_output, output, in_axes, out_axes=0, net=None):
    """The result as an array, and the launches."""
    before = tbw.launch_count()
    result = ms.vmap(net or Backward(), in_axes, out_axes)(Tensor(grad_output), Tensor(output)).asnumpy()
    return result, tbw.launch_count() - before


@pytest.mark.parametrize(
    "grad_output, output, in_axes, expected",
    [
        (G, Y, 0, G * (1 - Y * Y)),
        (G, Y, 1, (G * (1 - Y * Y)).T),
        (G.T, Y, (1, 0), G * (1 - Y * Y)),
        (G[0], Y, (None, 0), G[0] * (1 - Y * Y)),
        (G, Y[:, 1], (1, None), (G * (1 - Y[:, 1:2] ** 2)).T),
    ],
    ids=["first axis", "last axis", "two axes", "one grad_output", "one output"],
)
def test_axes(mode, grad_output, output, in_axes, expected):
    result, launches = batched(np.ascontiguousarray(grad_output), output, in_axes)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)
    assert launches == 1


def test_nothing_batched_in_the_operator(mode):
    class Beside(nn.Cell):
        def construct(self, grad_output, other):
            return tbw.tanh_backward(grad_output, grad_output) + other

    result, launches = batched(Y[0], G, (None, 0), net=Beside())
    np.testing.assert_allclose(result, Y[0] * (1 - Y[0] ** 2) + G, rtol=1e-6)
    assert launches == 1


def test_eight_dimensions_and_the_batch(mode):
    shape = (2, 1, 3, 1, 1, 2, 1, 2, 1)
    y = np.linspace(-0.9, 0.7, 24, dtype=np.float32).reshape(shape)
    g = (1 + np.arange(24, dtype=np.float32)).reshape(shape)
    result, launches = batched(g, y, 2)
    np.testing.assert_allclose(result, np.moveaxis(g * (1 - y * y), 2, 0), rtol=1e-6)
    assert launches == 1


def test_another_custom_operator_keeps_the_loop_of_mindspore(mode):
    """MindSpore looks rules up by "Custom", the name of every ops.Custom."""
    tbw.tanh_backward(Tensor(G), Tensor(Y))
    info = ops.CustomRegOp("Other").input(0, "a").input(1, "b").output(0, "c")
    info = info.dtype_format(*[ops.DataType.F32_Default] * 3).target("CPU").get_op_info()
    custom = ops.Custom(f"{library_path()}:TanhBackward", lambda a, b: a, lambda a, b: a, "aot", reg_info=info)

    class Other(nn.Cell):
        def construct(self, grad_output, output):
            return custom(grad_output, output)

    result, launches = batched(G, Y, 0, net=Other())
    np.testing.assert_allclose(result, G * (1 - Y * Y), rtol=1e-6, atol=1e-6)
    assert launches == 3


@pytest.mark.parametrize("name", ["PYNATIVE", "GRAPH"])
def test_on_ascend(traced, name):
    printed, launches = traced("print(ms.vmap(Backward(), (1, None))(Tensor(G), Tensor(Y[:, 1])).asnumpy())", name)
    expected = (np.arange(1, 7).reshape(2, 3) * (1 - np.array([[0.25], [1.0]]) ** 2)).T
    np.testing.assert_allclose(np.array(printed.replace("[", "").replace("]", "").split(), float), expected.ravel())
    assert [one["inputs"][0]["shape"] for one in launches] == [[3, 2]]
