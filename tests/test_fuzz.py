"""tanh_backward on any dtype, shape, strides and values that it takes, against the oracle in ULPs."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import math

import mindspore as ms
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mindspore import Tensor, mint, nn

import mindspore_tanhbw as tbw
from kernel.oracle import CODES, STORED, assert_agrees, expected, from_bfloat16, special, stored, to_bfloat16

QUICK, LONG = 500, 20_000
SIDES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1021]
MOST_ELEMENTS = 20_000


@st.composite
def shapes(draw):
    shape, room = (), MOST_ELEMENTS
    for side in draw(st.lists(st.sampled_from(SIDES), max_size=8)):
        shape += (side if side <= room else 1,)
        # An empty axis too: the base of a view may not be empty.
        room //= shape[-1] or 3
    return shape


# Beyond one chunk of the work, beyond what one thread does, and beyond what streaming stores begin with.
LARGE = st.sampled_from([(65_537,), (401, 3, 257), (1_000_003,), (2, 3_150_001)])


# How an input lies in memory. MindSpore has no negative strides: of a reversed slice it makes a copy.
LAYOUTS = ["contiguous", "transposed", "stepped", "narrowed", "broadcast"]


def laid_out(make, shape, layout, axis):
    """A Tensor of that shape and layout, and the same numbers as an array in stored form."""
    if layout == "contiguous" or not shape:
        return make(shape)
    axis %= len(shape)
    if layout == "transposed":
        order = tuple(range(axis, len(shape))) + tuple(range(axis))
        base, array = make(tuple(shape[place] for place in np.argsort(order)))
        return mint.permute(base, order), array.transpose(order)
    wider = list(shape)
    wider[axis] = {"stepped": 3 * shape[axis], "narrowed": shape[axis] + 2, "broadcast": 1}.get(layout, shape[axis])
    base, array = make(tuple(wider))
    if layout == "broadcast":
        return base.broadcast_to(shape), np.broadcast_to(array, shape)
    index = (slice(None),) * axis + ({"stepped": slice(1, None, 3), "narrowed": slice(1, -1)}[layout],)
    return base[index], array[index]


# Values by class, in stored form. The oracle does not care which input gets which.
def ordinary(rng, dtype, n):
    return stored(dtype, rng.standard_normal(n) * 3)


def outputs_of_tanh(rng, dtype, n):
    return stored(dtype, np.tanh(rng.standard_normal(n) * 3))


def saturated(rng, dtype, n):
    """Within some places of 1 and -1, on both sides."""
    one = stored(dtype, [1.0]).view(f"i{np.dtype(STORED[dtype]).itemsize}")
    near = (one + rng.integers(-40, 5, n)).astype(one.dtype).view(STORED[dtype])
    return np.where(rng.random(n) < 0.5, near, stored(dtype, -numbers_of(dtype, near)))


def subnormal(rng, dtype, n):
    """Around the least normal number."""
    tiny = 2.0**-126 if dtype == "bfloat16" else float(np.finfo(dtype).tiny)
    return stored(dtype, tiny * 4 * rng.uniform(-1, 1, n))


def huge(rng, dtype, n):
    most = 3e38 if dtype == "bfloat16" else float(np.finfo(dtype).max)
    return stored(dtype, most * rng.uniform(-1, 1, n))


def any_bits(rng, dtype, n):
    return rng.integers(0, 256, n * np.dtype(STORED[dtype]).itemsize, dtype=np.uint8).view(STORED[dtype])


def edges(rng, dtype, n):
    return rng.choice(special(dtype), n)


CLASSES = [ordinary, outputs_of_tanh, saturated, subnormal, huge, any_bits, edges]


def numbers_of(dtype, array):
    return from_bfloat16(array) if dtype == "bfloat16" else array


@st.composite
def inputs(draw, dtype, of_shapes):
    """(dtype, two Tensors, the same two as arrays in stored form)."""
    shape = draw(of_shapes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tensors, arrays = [], []
    for _ in "gy":
        values, layout, axis = draw(st.sampled_from(CLASSES)), draw(st.sampled_from(LAYOUTS)), draw(st.integers(0, 7))

        def make(of, values=values):
            array = values(rng, dtype, math.prod(of)).reshape(of)
            if dtype == "bfloat16":
                return Tensor(from_bfloat16(array)).astype(ms.bfloat16), array
            return Tensor(array), array

        tensor, array = laid_out(make, shape, layout, axis)
        assert tensor.shape == array.shape == shape
        tensors.append(tensor)
        arrays.append(array)
    return dtype, tensors, arrays


def as_numpy(dtype, tensor):
    """A result, bfloat16 widened, in stored form."""
    return to_bfloat16(tensor.asnumpy()) if dtype == "bfloat16" else tensor.asnumpy()


class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)


def fuzz(backward, dtypes, of_shapes, cases):
    """Hypothesis draws from the same seed in every run, so that a failure here is one everywhere."""
    sizes = []

    # Some at once, because MindSpore takes long to wait for a result, but hardly longer for many.
    @settings(
        max_examples=-(-cases // len(dtypes)), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(st.tuples(*(inputs(dtype, of_shapes) for dtype in dtypes)))
    def some(cases):
        results = [backward(*tensors) for _, tensors, _ in cases]
        types = [result.dtype for result in results]
        wide = [result.astype(ms.float32) if result.dtype == ms.bfloat16 else result for result in results]
        for (dtype, _, arrays), result, of_type in zip(cases, wide, types):
            sizes.append(arrays[0].size)
            assert of_type == getattr(ms, dtype) and result.shape == arrays[0].shape
            assert_agrees(dtype, as_numpy(dtype, result), expected(dtype, *arrays))

    before = tbw.launch_count()
    some()
    launches = tbw.launch_count() - before
    assert len(sizes) >= cases and max(sizes) > 1000
    # Whether a kernel is launched for an empty tensor is MindSpore's choice.
    assert len(sizes) - sizes.count(0) <= launches <= len(sizes)


def test_pynative_mode():
    fuzz(tbw.tanh_backward, 5 * list(CODES), shapes(), QUICK)


@pytest.mark.long
@pytest.mark.parametrize("dtype", CODES)
def test_pynative_mode_long(dtype):
    fuzz(tbw.tanh_backward, 20 * [dtype], shapes(), LONG // len(CODES))


@pytest.mark.parametrize("cases", [12, pytest.param(120, marks=pytest.mark.long)])
def test_large_tensors(cases):
    fuzz(tbw.tanh_backward, list(CODES), LARGE, cases)


@pytest.mark.parametrize("cases", [20, pytest.param(200, marks=pytest.mark.long)])
def test_graph_mode(cases):
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        # A graph for each shape and dtype: few of them.
        fuzz(Backward(), list(CODES), shapes(), cases)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
