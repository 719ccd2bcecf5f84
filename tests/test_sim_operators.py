# Every operator of the simulator computes what NumPy computes; none is without such a test.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cann_sim.build import cann_root
from cann_sim.client import BF16, Cann

HERE = Path(__file__).resolve().parent
TOLERANCE = {np.dtype("float16"): 1e-3, np.dtype("float32"): 5e-7, np.dtype("float64"): 1e-14}
RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def cann():
    library = Cann(cann_root() / "lib64" / "libopapi.so")
    library.aclInit(None)
    assert library.aclrtSetDevice(0) == 0
    return library


def numbers(*shape, dtype=np.float32, low=-2.0, high=2.0):
    """Asymmetric numbers: exchanged operands show."""
    return RNG.uniform(low, high, shape).astype(dtype)


def close(actual, expected):
    assert actual.shape == expected.shape
    if actual.dtype.kind == "f":
        np.testing.assert_allclose(actual, expected.astype(actual.dtype), rtol=TOLERANCE[actual.dtype], atol=1e-7)
    else:
        np.testing.assert_array_equal(actual, expected)


# name -> (number of inputs, reference, lowest and highest input, output dtype or None for the input's)
ELEMENTWISE = {
    "aclnnTanh": (1, np.tanh, -3, 3, None),
    "aclnnTanhBackward": (2, lambda dy, y: dy * (1 - y * y), -3, 3, None),
    "aclnnNeg": (1, np.negative, -3, 3, None),
    "aclnnAbs": (1, np.abs, -3, 3, None),
    "aclnnSign": (1, np.sign, -3, 3, None),
    "aclnnRelu": (1, lambda x: np.maximum(x, 0), -3, 3, None),
    "aclnnExp": (1, np.exp, -3, 3, None),
    "aclnnLog": (1, np.log, 1.1, 9, None),
    "aclnnSqrt": (1, np.sqrt, 0, 9, None),
    "aclnnRsqrt": (1, lambda x: 1 / np.sqrt(x), 0.1, 9, None),
    "aclnnReciprocal": (1, lambda x: 1 / x, 0.1, 9, None),
    "aclnnSin": (1, np.sin, 0.1, 1.5, None),
    "aclnnCos": (1, np.cos, 0.1, 1.4, None),
    "aclnnSigmoid": (1, lambda x: 1 / (1 + np.exp(-x)), -3, 3, None),
    "aclnnFloor": (1, np.floor, -3, 3, None),
    "aclnnCeil": (1, np.ceil, -3, 3, None),
    "aclnnMul": (2, np.multiply, -3, 3, None),
    "aclnnDiv": (2, np.divide, 0.5, 3, None),
    "aclnnMaximum": (2, np.maximum, -3, 3, None),
    "aclnnMinimum": (2, np.minimum, -3, 3, None),
    "aclnnPowTensorTensor": (2, np.power, 0.5, 3, None),
    "aclnnSigmoidBackward": (2, lambda dy, y: dy * y * (1 - y), 0.1, 0.9, None),
    "aclnnLogicalNot": (1, lambda x: x == 0, -0.4, 0.4, bool),
    "aclnnIsFinite": (1, lambda x: np.isfinite(x), -3, 3, bool),
    "aclnnEqTensor": (2, np.equal, -1, 1, bool),
    "aclnnNeTensor": (2, np.not_equal, -1, 1, bool),
    "aclnnGtTensor": (2, np.greater, -1, 1, bool),
    "aclnnGeTensor": (2, np.greater_equal, -1, 1, bool),
    "aclnnLtTensor": (2, np.less, -1, 1, bool),
    "aclnnLeTensor": (2, np.less_equal, -1, 1, bool),
    "aclnnLogicalAnd": (2, np.logical_and, -1, 1, bool),
    "aclnnLogicalOr": (2, np.logical_or, -1, 1, bool),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_operators_equal_numpy(cann, name, dtype):
    count, reference, low, high, out_dtype = ELEMENTWISE[name]
    inputs = [numbers(3, 5, dtype=dtype, low=low, high=high) for _ in range(count)]
    if out_dtype is bool:
        inputs = [np.round(array).astype(dtype) for array in inputs]
        inputs[0][0, 0] = inputs[-1][0, 0]
    if name == "aclnnIsFinite":
        inputs[0][1, :3] = np.inf, np.nan, -np.inf
    out = cann.tensor(np.zeros((3, 5), out_dtype or dtype))
    cann.run(name, *map(cann.tensor, inputs), out)
    wide = [array.astype(np.float64) for array in inputs]
    close(out.numpy(), reference(*wide))


@pytest.mark.parametrize("name", ["aclnnTanhBackward", "aclnnMul", "aclnnGtTensor"])
def test_inputs_and_outputs_may_be_strided(cann, name):
    _count, reference, *_ = ELEMENTWISE[name]
    base = [numbers(6, 8), numbers(8, 3)]
    views = [base[0][::2, 1:5], base[1][::2].T]
    out_base = np.full((5, 9), 9, bool if name == "aclnnGtTensor" else np.float32)
    out = cann.tensor(out_base[1:4, ::-1][:, 1:9:2])
    cann.run(name, *map(cann.tensor, views), out)
    close(out.numpy(), reference(*views))
    expected = out_base.copy()
    expected[1:4, ::-1][:, 1:9:2] = reference(*views)
    untouched = cann.download(out.pointer, out_base.nbytes).view(out_base.dtype).reshape(out_base.shape)
    close(untouched, expected)


def test_16_bit_floats_are_computed_in_float32_and_rounded_once(cann):
    dy, y = numbers(1000, dtype=np.float16), numbers(1000, dtype=np.float16)
    out = cann.tensor(np.zeros(1000, np.float16))
    cann.run("aclnnTanhBackward", cann.tensor(dy), cann.tensor(y), out)
    wide_dy, wide_y = dy.astype(np.float32), y.astype(np.float32)
    np.testing.assert_array_equal(out.numpy(), (wide_dy * (1 - wide_y * wide_y)).astype(np.float16))


def bfloat16(array):
    """To nearest, ties to even, through integers: independent of the simulator's way."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    low, high = bits & 0xFFFF, bits >> 16
    return (high + ((low > 0x8000) | ((low == 0x8000) & (high & 1 == 1)))).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def test_bfloat16_is_computed_in_float32_and_rounded_once(cann):
    dy, y = bfloat16(numbers(1000)), bfloat16(numbers(1000))
    tensors = [cann.tensor(array.view(np.int16), BF16) for array in (dy, y, np.zeros(1000, np.uint16))]
    cann.run("aclnnTanhBackward", *tensors)
    expected = bfloat16(widened(dy) * (1 - widened(y) * widened(y)))
    np.testing.assert_array_equal(tensors[2].numpy().view(np.uint16), expected)


@pytest.mark.parametrize("value", [0.0, -0.0, 65504.0, 65519.9, 65520.0, 1e9, 6e-8, 2.9e-8, 2.99e-8, 6.1e-5, 1.0005,
                                   np.inf, np.nan])
def test_rounding_to_float16_equals_numpy(cann, value):
    array = np.array([value, -value], np.float32)
    out = cann.tensor(np.zeros(2, np.float16))
    cann.run("aclnnCast", cann.tensor(array), 1, out)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out.numpy(), array.astype(np.float16))


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("target,code", [(np.float16, 1), (np.float32, 0), (np.float64, 11), (np.int32, 3), (np.int64, 9),
                                         (np.bool_, 12)])
def test_cast_equals_numpy(cann, source, target, code):
    array = np.arange(6).reshape(2, 3).astype(source)
    out = cann.tensor(np.zeros((2, 3), target))
    cann.run("aclnnCast", cann.tensor(array), code, out)
    np.testing.assert_array_equal(out.numpy(), array.astype(target))


WITH_SCALAR = {
    "aclnnMuls": np.multiply, "aclnnDivs": np.divide, "aclnnPowTensorScalar": np.power, "aclnnEqScalar": np.equal,
    "aclnnNeScalar": np.not_equal, "aclnnGtScalar": np.greater, "aclnnGeScalar": np.greater_equal,
    "aclnnLtScalar": np.less, "aclnnLeScalar": np.less_equal,
}


@pytest.mark.parametrize("name", WITH_SCALAR)
def test_operators_with_a_scalar_equal_numpy(cann, name):
    x = numbers(4, 3, low=0.5, high=3)
    x[1, 1] = 1.5
    expected = WITH_SCALAR[name](x, np.float32(1.5))
    out = cann.tensor(np.zeros_like(expected))
    cann.run(name, cann.tensor(x), cann.scalar(1.5, np.float32), out)
    close(out.numpy(), expected)


@pytest.mark.parametrize("name,sign", [("Add", 1), ("Sub", -1)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_addition_and_subtraction_scale_the_second_operand(cann, name, sign, dtype):
    x, y = np.array([[1, 2, 3], [4, 5, 6]], dtype), np.array([10, 20, 30], dtype)
    alpha = cann.scalar(3, np.int64)
    expected = x + sign * 3 * y
    out, inplace = cann.tensor(np.zeros_like(x)), cann.tensor(x)
    cann.run(f"aclnn{name}", cann.tensor(x), cann.tensor(y), alpha, out)
    cann.run(f"aclnnInplace{name}", inplace, cann.tensor(y), alpha)
    close(out.numpy(), expected)
    close(inplace.numpy(), expected)
    expected = x + sign * 3 * 7
    out, inplace = cann.tensor(np.zeros_like(x)), cann.tensor(x)
    cann.run(f"aclnn{name}s", cann.tensor(x), cann.scalar(7, np.int64), alpha, out)
    cann.run(f"aclnnInplace{name}s", inplace, cann.scalar(7, np.int64), alpha)
    close(out.numpy(), expected)
    close(inplace.numpy(), expected)


@pytest.mark.parametrize("name,reference", [("Mul", np.multiply), ("Div", np.divide)])
def test_inplace_arithmetic_equals_numpy(cann, name, reference):
    x, y = numbers(2, 3), numbers(3, low=0.5, high=3)
    tensor, scaled = cann.tensor(x), cann.tensor(x)
    cann.run(f"aclnnInplace{name}", tensor, cann.tensor(y))
    cann.run(f"aclnnInplace{name}s", scaled, cann.scalar(2.5, np.float32))
    close(tensor.numpy(), reference(x, y))
    close(scaled.numpy(), reference(x, np.float32(2.5)))


def test_the_remaining_elementwise_operators_equal_numpy(cann):
    x, dy = numbers(3, 4), numbers(3, 4)
    out = cann.tensor(np.zeros_like(x))
    cann.run("aclnnPowScalarTensor", cann.scalar(2.5, np.float32), cann.tensor(x), out)
    close(out.numpy(), np.power(np.float64(2.5), x))
    cann.run("aclnnThresholdBackward", cann.tensor(dy), cann.tensor(x), cann.scalar(0.25, np.float32), out)
    close(out.numpy(), np.where(x > 0.25, dy, 0))
    cann.run("aclnnSWhere", cann.tensor(x > 0), cann.tensor(x), cann.tensor(dy), out)
    close(out.numpy(), np.where(x > 0, x, dy))
    low, high = cann.scalar(-0.5, np.float32), cann.scalar(0.75, np.float32)
    for limits in ((low, high), (low, None), (None, high)):
        cann.run("aclnnClamp", cann.tensor(x), *limits, out)
        close(out.numpy(), np.clip(x, -0.5 if limits[0] else -9, 0.75 if limits[1] else 9))
    tensor = cann.tensor(x)
    cann.run("aclnnInplaceTanh", tensor)
    close(tensor.numpy(), np.tanh(x.astype(np.float64)))


def test_fills_and_copies(cann):
    tensor = cann.tensor(numbers(2, 3))
    cann.run("aclnnInplaceOne", tensor)
    close(tensor.numpy(), np.ones((2, 3)))
    cann.run("aclnnInplaceZero", tensor)
    close(tensor.numpy(), np.zeros((2, 3)))
    cann.run("aclnnInplaceFillScalar", tensor, cann.scalar(4.5, np.float32))
    close(tensor.numpy(), np.full((2, 3), 4.5))
    row = np.array([1, 2, 3], np.int32)
    cann.run("aclnnInplaceCopy", tensor, cann.tensor(row))
    close(tensor.numpy(), np.array([row, row]))
    mask = np.array([[True, False, True], [False, False, True]])
    cann.run("aclnnInplaceMaskedFillScalar", tensor, cann.tensor(mask), cann.scalar(-1, np.float32))
    close(tensor.numpy(), np.where(mask, -1, row))
    cann.run("aclnnInplaceMaskedFillTensor", tensor, cann.tensor(~mask), cann.tensor(np.array([8], np.float32)))
    close(tensor.numpy(), np.where(mask, -1, 8))


def test_matrix_products_equal_numpy(cann):
    a, b = numbers(4, 5), numbers(5, 3)
    for name in ("aclnnMm", "aclnnMatmul"):
        out = cann.tensor(np.zeros((4, 3), np.float32))
        cann.run(name, cann.tensor(a), cann.tensor(b), out, 0)
        close(out.numpy(), a.astype(np.float64) @ b)
    out = cann.tensor(np.zeros((4, 3), np.float32))
    cann.run("aclnnMm", cann.tensor(np.ascontiguousarray(a.T).T), cann.tensor(np.ascontiguousarray(b.T).T), out, 0)
    close(out.numpy(), a.astype(np.float64) @ b)
    batch, matrices = numbers(2, 1, 4, 5), numbers(3, 5, 2)
    out = cann.tensor(np.zeros((2, 3, 4, 2), np.float32))
    cann.run("aclnnBatchMatMul", cann.tensor(batch), cann.tensor(matrices), out, 0)
    close(out.numpy(), batch.astype(np.float64) @ matrices)
    bias = numbers(3)
    out = cann.tensor(np.zeros((4, 3), np.float32))
    cann.run("aclnnAddmm", cann.tensor(bias), cann.tensor(a), cann.tensor(b), cann.scalar(2, np.float32),
             cann.scalar(3, np.float32), out, 0)
    close(out.numpy(), 2 * bias + 3 * (a.astype(np.float64) @ b))


@pytest.mark.parametrize("axes,keep", [([0], False), ([-1], True), ([0, 2], False), ([], False)])
def test_reductions_equal_numpy(cann, axes, keep):
    x = numbers(2, 3, 4)
    axis = tuple(axes) or None
    references = {"aclnnReduceSum": np.sum, "aclnnMean": np.mean, "aclnnMeanV2": np.mean, "aclnnAmax": np.max,
                  "aclnnAmin": np.min}
    for name, reference in references.items():
        expected = np.asarray(reference(x.astype(np.float64), axis=axis, keepdims=keep))
        out = cann.tensor(np.zeros(expected.shape, np.float32))
        last = {"aclnnReduceSum": [0], "aclnnMean": [0], "aclnnMeanV2": [False]}.get(name, [])
        cann.run(name, cann.tensor(x), axes, keep, *last, out)
        close(out.numpy(), expected)
    for name, reference in {"aclnnAll": np.all, "aclnnAny": np.any}.items():
        expected = np.asarray(reference(x > 0, axis=axis, keepdims=keep))
        out = cann.tensor(np.zeros(expected.shape, bool))
        cann.run(name, cann.tensor(x > 0), axes, keep, out)
        close(out.numpy(), expected)


def test_extremes_equal_numpy(cann):
    x = numbers(3, 4, 2)
    x[1, 2, 0] = np.nan
    for name, dim_name, arg_name, value, place in (("Max", "MaxDim", "ArgMax", np.max, np.argmax),
                                                   ("Min", "MinDim", "ArgMin", np.min, np.argmin)):
        out = cann.tensor(np.zeros((), np.float32))
        cann.run("aclnn" + name, cann.tensor(x), out)
        close(out.numpy(), np.asarray(value(x)))
        places, values = cann.tensor(np.zeros((3, 2), np.int64)), cann.tensor(np.zeros((3, 2), np.float32))
        cann.run("aclnn" + arg_name, cann.tensor(x), 1, False, places)
        close(places.numpy(), place(x, axis=1))
        places = cann.tensor(np.zeros((3, 2), np.int64))
        cann.run("aclnn" + dim_name, cann.tensor(x), 1, False, values, places)
        close(values.numpy(), value(x, axis=1))
        close(places.numpy(), place(x, axis=1))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_its_gradients_equal_numpy(cann, axis):
    x, dy = numbers(3, 4, 2, low=-5, high=5), numbers(3, 4, 2)
    wide = x.astype(np.float64)
    soft = np.exp(wide) / np.exp(wide).sum(axis, keepdims=True)
    out = cann.tensor(np.zeros_like(x))
    cann.run("aclnnSoftmax", cann.tensor(x), axis, out)
    close(out.numpy(), soft)
    cann.run("aclnnLogSoftmax", cann.tensor(x), axis, out)
    close(out.numpy(), np.log(soft))
    y, log_y = soft.astype(np.float32), np.log(soft).astype(np.float32)
    cann.run("aclnnSoftmaxBackward", cann.tensor(dy), cann.tensor(y), axis, out)
    wide_y = y.astype(np.float64)
    close(out.numpy(), wide_y * (dy - (dy * wide_y).sum(axis, keepdims=True)))
    cann.run("aclnnLogSoftmaxBackward", cann.tensor(dy), cann.tensor(log_y), axis, out)
    close(out.numpy(), dy - np.exp(log_y.astype(np.float64)) * dy.astype(np.float64).sum(axis, keepdims=True))


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_the_mean_squared_error_and_its_gradient_equal_numpy(cann, reduction):
    x, y = numbers(3, 4), numbers(3, 4)
    errors = (x.astype(np.float64) - y) ** 2
    expected = np.asarray([errors, errors.mean(), errors.sum()][reduction])
    out = cann.tensor(np.zeros(expected.shape, np.float32))
    cann.run("aclnnMseLoss", cann.tensor(x), cann.tensor(y), reduction, out)
    close(out.numpy(), expected)
    dy = numbers(*expected.shape)
    out = cann.tensor(np.zeros((3, 4), np.float32))
    cann.run("aclnnMseLossBackward", cann.tensor(np.asarray(dy)), cann.tensor(x), cann.tensor(y), reduction, out)
    close(out.numpy(), 2 * (x.astype(np.float64) - y) * dy / (12 if reduction == 1 else 1))


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_binary_cross_entropy_and_its_gradient_equal_numpy(cann, reduction, weighted):
    x, y = numbers(3, 4), numbers(3, 4, low=0, high=1)
    w, p = (numbers(4, low=0.5, high=2), numbers(3, 1, low=0.5, high=2)) if weighted else (1.0, 1.0)
    weights = [cann.tensor(w), cann.tensor(p)] if weighted else [None, None]
    sigmoid = 1 / (1 + np.exp(-x.astype(np.float64)))
    losses = -w * (p * y * np.log(sigmoid) + (1 - y) * np.log(1 - sigmoid))
    expected = np.asarray([losses, losses.mean(), losses.sum()][reduction])
    out = cann.tensor(np.zeros(expected.shape, np.float32))
    cann.run("aclnnBinaryCrossEntropyWithLogits", cann.tensor(x), cann.tensor(y), *weights, reduction, out)
    close(out.numpy(), expected)
    dy = np.asarray(numbers(*expected.shape))
    out = cann.tensor(np.zeros((3, 4), np.float32))
    name = "aclnnBinaryCrossEntropyWithLogitsBackward"
    cann.run(name, cann.tensor(dy), cann.tensor(x), cann.tensor(y), *weights, reduction, out)
    close(out.numpy(), dy * w * ((1 - y) * sigmoid - p * y * (1 - sigmoid)) / (12 if reduction == 1 else 1))


def test_operators_that_move_elements_equal_numpy(cann):
    x = numbers(2, 3)
    out = cann.tensor(np.zeros((2, 4, 9), np.float32))
    cann.run("aclnnRepeat", cann.tensor(x), [2, 2, 3], out)
    close(out.numpy(), np.tile(x, (2, 2, 3)))
    y = numbers(2, 3, 4)
    out = cann.tensor(np.zeros((4, 2, 3), np.float32))
    cann.run("aclnnPermute", cann.tensor(y), [2, 0, 1], out)
    close(out.numpy(), y.transpose(2, 0, 1))
    parts = [numbers(2, 1, 4), numbers(2, 3, 4), numbers(2, 2, 4)]
    out = cann.tensor(np.zeros((2, 6, 4), np.float32))
    cann.run("aclnnCat", list(map(cann.tensor, parts)), 1, out)
    close(out.numpy(), np.concatenate(parts, 1))
    pieces = [cann.tensor(np.zeros_like(part)) for part in parts]
    cann.run("aclnnSplitWithSize", cann.tensor(np.concatenate(parts, 1)), [1, 3, 2], 1, pieces)
    for piece, part in zip(pieces, parts):
        close(piece.numpy(), part)
    out = cann.tensor(np.zeros((4, 2, 3), np.float32))
    cann.run("aclnnExpand", cann.tensor(x), [4, 2, 3], out)
    close(out.numpy(), np.broadcast_to(x, (4, 2, 3)))
    labels = np.array([2, 0, 1, 5], np.int32)
    out = cann.tensor(np.zeros((4, 3), np.float32))
    on, off = cann.tensor(np.array([2], np.float32)), cann.tensor(np.array([-1], np.float32))
    cann.run("aclnnOneHot", cann.tensor(labels), 3, on, off, -1, out)
    close(out.numpy(), np.where(labels[:, None] == np.arange(3), 2, -1))
    index = np.array([[2, 0], [1, 1]], np.int64)
    out = cann.tensor(np.zeros((2, 2), np.float32))
    cann.run("aclnnGather", cann.tensor(x), 1, cann.tensor(index), out)
    close(out.numpy(), np.take_along_axis(x, index, 1))
    source = numbers(2, 2)
    expected = x.astype(np.float64).copy()
    np.add.at(expected, (np.arange(2)[:, None], index), source)
    out = cann.tensor(np.zeros((2, 3), np.float32))
    cann.run("aclnnScatterAdd", cann.tensor(x), 1, cann.tensor(index), cann.tensor(source), out)
    close(out.numpy(), expected)


# The older route: name -> (inputs, attributes, expected outputs).


# With the masks that MindSpore sets for them.
SLICES = [
    ((slice(1, 4, 2), slice(-3, 99), slice(0, 5)), {}),
    ((slice(None, None, -2), slice(2, 0, -1)), {"begin_mask": 1, "end_mask": 1}),
    ((-1, slice(1, 1), 2), {"shrink_axis_mask": 5}),
    ((slice(0, 2), None, Ellipsis, slice(3, None)), {"new_axis_mask": 2, "ellipsis_mask": 4, "end_mask": 8}),
]


def bounds(index):
    """Begin, end and step; those that a mask leaves out may be anything."""
    if isinstance(index, slice):
        return index.start or 0, index.stop or 0, index.step or 1
    return (index, index + 1, 1) if isinstance(index, int) else (0, 0, 1)


def aclop_cases():
    x, y, row = numbers(3, 4), numbers(3, 4, low=0.5, high=3), numbers(4)
    image, bias = numbers(2, 3, 2, 2), numbers(3)
    cases = {
        "Identity": ([x], {}, [x]),
        "Assign": ([x, y], {}, [y]),
        "AssignAdd": ([x, y], {}, [x + y]),
        "AssignSub": ([x, y], {}, [x - y]),
        "RealDiv": ([x, y], {}, [x / y]),
        "OnesLike": ([x], {}, [np.ones_like(x)]),
        "ZerosLike": ([x], {}, [np.zeros_like(x)]),
        "AddN": ([x, y, x], {}, [x + y + x]),
        "BiasAdd": ([x, row], {"data_format": "NCHW"}, [x + row]),
        "BiasAddGrad": ([x], {"data_format": "NCHW"}, [x.sum(0, dtype=np.float64)]),
        "ReduceMean": ([x, np.array([1])], {"keep_dims": False}, [x.mean(1, dtype=np.float64)]),
        "ReduceMeanD": ([x], {"axes": [0], "keep_dims": True}, [x.mean(0, dtype=np.float64, keepdims=True)]),
        "ReduceSum": ([x, np.array([0])], {"keep_dims": False}, [x.sum(0, dtype=np.float64)]),
        "ReduceSumD": ([x], {"axes": [1], "keep_dims": False}, [x.sum(1, dtype=np.float64)]),
        "Add": ([x, y], {}, [x + y]),
        "IsNan": ([np.where(x > 0, np.float32(np.nan), x)], {}, [x > 0]),
        "SqrtGrad": ([y, x], {}, [x / (2 * y)]),
        "Elu": ([x], {"alpha": 1.0}, [np.where(x > 0, x, np.expm1(x))]),
        "EluGrad": ([y, x], {}, [np.where(x > 0, y, y * (x + 1))]),
        "ArgMaxV2": ([x, np.array([1])], {}, [x.argmax(1)]),
        "Pack": ([x, y], {"axis": 1, "N": 2}, [np.stack([x, y], 1)]),
        "Split": ([np.array(1), x], {"num_split": 2}, [x[:, :2], x[:, 2:]]),
        "Unpack": ([x], {"axis": 0, "num": 3}, list(x)),
        "UnsortedSegmentSum": ([x, np.array([1, -1, 1]), np.array(2)], {}, [np.stack([0 * x[0], x[0] + x[2]])]),
        "Fill": ([np.array([2, 3]), np.float32(4.5).reshape(())], {}, [np.full((2, 3), 4.5)]),
        "GatherV2": ([x, np.array([[3, 0], [1, 1]]), np.array(1)], {}, [x[:, [[3, 0], [1, 1]]]]),
        "OneHot": ([np.array([1, 2]), np.array(3), np.float32([5]).reshape(1), np.float32([7]).reshape(1)], {"axis": -1},
                   [np.array([[7, 5, 7], [7, 7, 5]])]),
    }
    for name, case in cases.items():
        yield pytest.param(name, *case, id=name)
    yield pytest.param("BiasAdd", [image, bias], {"data_format": "NCHW"}, [image + bias[:, None, None]], id="BiasAdd-4D")
    yield pytest.param("BiasAddGrad", [image], {"data_format": "NCHW"}, [image.sum((0, 2, 3), dtype=np.float64)],
                       id="BiasAddGrad-4D")
    for index, masks in SLICES:
        begin, end, step = map(np.array, zip(*map(bounds, index)))
        x = numbers(4, 3, 5)
        shape, dy = np.array(x.shape), numbers(*x[index].shape)
        gradient = np.zeros_like(x)
        gradient[index] = dy
        yield pytest.param("StridedSlice", [x, begin, end, step], masks, [x[index]], id=f"StridedSlice-{index}")
        yield pytest.param("StridedSliceGrad", [shape, begin, end, step, dy], masks, [gradient],
                           id=f"StridedSliceGrad-{index}")
    x = numbers(3, 4)
    wide = x.astype(np.float64)
    soft = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    labels = np.array([3, 0, 2])
    one_hot = np.eye(4)[labels]
    loss = -(one_hot * np.log(soft)).sum(1)
    yield pytest.param("SparseSoftmaxCrossEntropyWithLogits", [x, labels], {}, [loss, soft - one_hot], id="SparseSoftmax")
    smooth = one_hot * 0.75 + 0.0625
    yield pytest.param("SoftmaxCrossEntropyWithLogits", [x, smooth.astype(np.float32)], {},
                       [-(smooth * np.log(soft)).sum(1), soft - smooth], id="SoftmaxCrossEntropy")


ACLOP_CASES = list(aclop_cases())


@pytest.mark.parametrize("name,inputs,attributes,expected", ACLOP_CASES)
def test_operators_of_the_older_route_equal_numpy(cann, name, inputs, attributes, expected):
    outputs = [cann.tensor(np.zeros(np.shape(e), np.float32)) for e in expected]
    assert cann.run_aclop(name, list(map(cann.tensor, inputs)), outputs, **attributes) == 0, cann.message()
    for out, e in zip(outputs, expected):
        np.testing.assert_allclose(out.numpy(), e, rtol=1e-6, atol=1e-6)


def scalar(value):
    return np.array(value, np.float32)


def optimizer_cases():
    p, g, a, b = numbers(5), numbers(5), numbers(5), numbers(5, low=0.1, high=1)
    wide = p.astype(np.float64)
    for nesterov in (False, True):
        for first in (0.0, 1.0):
            stat = np.full(5, first, np.float32)
            step = g + 0.1 * wide
            velocity = step if first else a * 0.9 + (1 - 0.2) * step
            update = step + 0.9 * velocity if nesterov else velocity
            yield pytest.param("SGD", [p, g, scalar(0.5), a, scalar(0.9), stat], {
                "weight_decay": 0.1, "dampening": 0.2, "nesterov": nesterov}, [wide - 0.5 * update],
                {3: velocity, 5: np.zeros(5)}, id=f"SGD-{nesterov}-{first}")
        velocity = a * 0.9 + g.astype(np.float64)
        update = g + 0.9 * velocity if nesterov else velocity
        for name in ("ApplyMomentum", "ApplyMomentumD"):
            yield pytest.param(name, [p, a, scalar(0.5), g, scalar(0.9)], {"use_nesterov": nesterov},
                               [wide - 0.5 * update], {1: velocity}, id=f"{name}-{nesterov}")
        m, v = 0.9 * a.astype(np.float64) + 0.1 * g, 0.99 * b.astype(np.float64) + 0.01 * g.astype(np.float64) ** 2
        rate = 0.5 * np.sqrt(1 - 0.99**3) / (1 - 0.9**3)
        direction = m * 0.9 + 0.1 * g if nesterov else m
        for name in ("ApplyAdam", "ApplyAdamD"):
            yield pytest.param(name, [p, a, b, *map(scalar, (0.9**3, 0.99**3, 0.5, 0.9, 0.99, 1e-3)), g],
                               {"use_nesterov": nesterov}, [wide - rate * direction / (np.sqrt(v) + 1e-3), m, v],
                               {1: m, 2: v}, id=f"{name}-{nesterov}")
    m, v = 0.9 * a.astype(np.float64) + 0.1 * g, 0.99 * b.astype(np.float64) + 0.01 * g.astype(np.float64) ** 2
    new = wide - 0.5 * (m / (np.sqrt(v) + 1e-3) + 0.2 * wide)
    yield pytest.param("AdamApplyOneWithDecayAssign",
                       [g, b, a, p, *map(scalar, (0.5, 0.9, 0.1, 0.99, 0.01, 0.2, 1e-3))], {}, [v, m, new],
                       {1: v, 2: m, 3: new}, id="AdamWithDecay")


OPTIMIZER_CASES = list(optimizer_cases())


@pytest.mark.parametrize("name,inputs,attributes,expected,states", OPTIMIZER_CASES)
def test_optimizers_update_parameters_and_states(cann, name, inputs, attributes, expected, states):
    tensors = list(map(cann.tensor, inputs))
    outputs = [cann.tensor(np.zeros(np.shape(e), np.float32)) for e in expected]
    assert cann.run_aclop(name, tensors, outputs, **attributes) == 0, cann.message()
    for out, e in zip(outputs, expected):
        np.testing.assert_allclose(out.numpy(), e, rtol=2e-5)
    for index, e in states.items():
        np.testing.assert_allclose(tensors[index].numpy(), e, rtol=2e-5, atol=1e-7)


def test_an_operator_that_is_not_there_fails_with_its_name(cann):
    x = cann.tensor(numbers(2))
    assert cann.run_aclop("NoSuchOperator", [x], [x]) == 100024
    assert "NoSuchOperator is not simulated" in cann.message()
    assert not hasattr(cann.library, "aclnnNoSuchOperator")


def test_every_operator_has_a_value_test():
    table = subprocess.run(["nm", "-D", "--defined-only", cann_root() / "lib64/libopapi.so"], check=True,
                           capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in table.splitlines()}
    operators = {name[:-len("GetWorkspaceSize")] for name in names if name.endswith("GetWorkspaceSize")}
    with open(__file__, encoding="utf-8") as source:
        text = source.read()
    spelled = {f"aclnn{inplace}{name}{suffix}" for inplace in ("", "Inplace") for name in ("Add", "Sub", "Mul", "Div")
               for suffix in ("", "s")} | {"aclnn" + name for name in ("Max", "Min", "MaxDim", "MinDim", "ArgMax", "ArgMin")}
    untested = {name for name in operators if f'"{name}"' not in text} - spelled
    assert not untested
    assert len(operators) > 80
    older = re.findall(r'^    \{"(\w+)",', (HERE / "cann_sim/src/ops/aclop_ops.cc").read_text(encoding="utf-8"), re.M)
    tested = {case.values[0] for case in ACLOP_CASES + OPTIMIZER_CASES}
    assert len(older) > 15 and set(older) == tested
