"""tanh_backward: values, dtypes, shapes, strides; and what it refuses, before any kernel runs."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn

import mindspore_tanhbw as tbw

DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)


class Transposed(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output.T, output[::2].T)


def chain(grad_output, output):
    """g (1 - y^2) in float64, rounded once; the 16-bit types by way of float32, as the kernel computes them."""
    wide = np.float32 if output.dtype == np.float16 else np.float64
    g, y = grad_output.astype(wide), output.astype(wide)
    return (g * (wide(1) - y * y)).astype(output.dtype)


def launched(call):
    before = tbw.launch_count()
    result = call().asnumpy()
    return result, tbw.launch_count() - before


@pytest.mark.parametrize("rank", range(9))
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_every_rank(mode, dtype, rank):
    rng = np.random.default_rng(rank)
    shape = (2, 3, 1, 2, 1, 2, 3, 1)[:rank]
    g, y = (np.asarray(rng.uniform(-3, 3, shape)).astype(DTYPES[dtype]) for _ in "gy")
    result, launches = launched(lambda: Backward()(Tensor(g), Tensor(y)))
    assert launches == 1
    assert result.dtype == g.dtype and result.shape == shape
    np.testing.assert_array_max_ulp(result, chain(g, y), 1)
    if rank > 1:
        assert not np.allclose(result, chain(y, g))


def test_bfloat16(mode):
    g = Tensor([1.5, -3.0, 7.0], ms.bfloat16)
    y = Tensor([0.5, 0.25, -1.0], ms.bfloat16)
    result, launches = launched(lambda: Backward()(g, y).astype(ms.float32))
    assert launches == 1
    np.testing.assert_array_equal(result, [1.125, -2.8125, 0.0])


def test_special_values(mode):
    inf, nan = np.inf, np.nan
    g = np.array([0.0, -0.0, inf, nan, 2.0, 2.0, 1e-45, 5.0], np.float32)
    y = np.array([0.5, 0.5, 0.5, 0.5, nan, inf, 0.0, -1.0], np.float32)
    result, launches = launched(lambda: Backward()(Tensor(g), Tensor(y)))
    assert launches == 1
    np.testing.assert_array_equal(result, np.array([0.0, -0.0, inf, nan, nan, -inf, 1e-45, 0.0], np.float32))
    np.testing.assert_array_equal(np.signbit(result[:2]), [False, True])


def test_strided_inputs(mode):
    g = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.linspace(-2, 2, 24, dtype=np.float32).reshape(6, 4)
    result, launches = launched(lambda: Transposed()(Tensor(g), Tensor(y)))
    assert launches == 1
    np.testing.assert_array_max_ulp(result, chain(g.T, y[::2].T), 1)


def test_empty():
    empty = Tensor(np.zeros((0, 3), np.float32))
    assert tbw.tanh_backward(empty, empty).shape == (0, 3)


def test_dynamic_shape():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Backward()
        net.set_inputs(*(Tensor(shape=[None, 3], dtype=ms.float32) for _ in "gy"))
        for n in (2, 5):
            g = np.full((n, 3), 2, np.float32)
            y = np.full((n, 3), 0.5, np.float32)
            result, launches = launched(lambda net=net, g=g, y=y: net(Tensor(g), Tensor(y)))
            assert launches == 1
            np.testing.assert_array_equal(result, chain(g, y))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


f32 = Tensor(np.ones((2, 3), np.float32))
nine = Tensor(np.ones((1,) * 9, np.float32))
BAD = {
    "no grad_output": (None, f32, TypeError, ["'grad_output'", "161001"]),
    "output is a number": (f32, 3, TypeError, ["'output'", "161001"]),
    "mixed dtypes": (f32, f32.astype(ms.float16), TypeError, ["Float32", "Float16", "161002"]),
    "integers": (f32.astype(ms.int32), f32.astype(ms.int32), TypeError, ["Int32", "161002"]),
    "complex": (f32.astype(ms.complex64), f32.astype(ms.complex64), TypeError, ["Complex64", "161002"]),
    "mixed shapes": (f32, f32.reshape(3, 2), ValueError, ["(2, 3)", "(3, 2)", "161002"]),
    "broadcastable shapes": (f32, f32[0], ValueError, ["(2, 3)", "(3,)", "161002"]),
    "nine dimensions": (nine, nine, ValueError, ["'grad_output'", "9", "8", "161002"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_a_kernel_runs(mode, case):
    g, y, error, texts = BAD[case]
    before = tbw.launch_count()
    with pytest.raises(error) as caught:
        Backward()(g, y)
    assert tbw.launch_count() == before
    for text in ["tanh_backward", *texts]:
        assert text in str(caught.value)
    # The next call works.
    np.testing.assert_array_equal(Backward()(f32, f32).asnumpy(), np.zeros((2, 3)))


def test_threads_are_those_that_mindspore_may_use(run_python):
    printed = run_python(
        "import mindspore as ms, mindspore_tanhbw as tbw\n"
        "from mindspore_tanhbw._library import library\n"
        "ms.set_context(runtime_num_threads=1)\n"
        "x = ms.Tensor([1.0])\n"
        "tbw.tanh_backward(x, x)\n"
        "print(library().tanhbw_num_threads())\n"
    )
    assert printed.split() == ["1"]
