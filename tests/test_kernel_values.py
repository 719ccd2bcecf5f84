"""The CPU kernel by its C functions: every dispatch path, bit for bit against NumPy."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import threading

import numpy as np
import pytest

from mindspore_tanhbw._library import library

FLOAT16, FLOAT32, FLOAT64, BFLOAT16 = range(4)
NULL_POINTER, INVALID = 161001, 161002
STORED = {FLOAT16: np.float16, FLOAT32: np.float32, FLOAT64: np.float64, BFLOAT16: np.uint16}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-40, 6e-8, 65504.0, 3e38, np.inf, -np.inf, np.nan]


@pytest.fixture(params=["portable", "avx2", "avx512"])
def kernel(request):
    lib = library()
    if lib.tanhbw_force_path(request.param.encode()):
        pytest.skip(f"this processor has no {request.param}")
    yield lib
    lib.tanhbw_force_path(None)
    lib.tanhbw_set_num_threads(0)


def run(lib, dtype, grad_output, output):
    result = np.full(grad_output.size + 8, 7, STORED[dtype])
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (grad_output, output, result))
    assert lib.tanhbw_backward(dtype, *pointers, ctypes.c_int64(grad_output.size)) == 0
    assert np.all(result[grad_output.size :] == 7), "written past the end"
    return result[: grad_output.size]


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16(values):
    """Round to nearest even; a NaN stays one."""
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def reference(dtype, g, y):
    with np.errstate(all="ignore"):
        if dtype == BFLOAT16:
            wide_g, wide_y = widened(g), widened(y)
            return to_bfloat16(wide_g * (np.float32(1) - wide_y * wide_y))
        wide = np.float32 if dtype == FLOAT16 else np.float64
        g, y = g.astype(wide), y.astype(wide)
        return (g * (wide(1) - y * y)).astype(STORED[dtype])


def same(dtype, result, expected):
    if dtype == BFLOAT16:
        result, expected = widened(result), widened(expected)
    np.testing.assert_array_equal(result, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16])
def test_every_16_bit_pattern_of_each_input(kernel, dtype):
    every = np.arange(65536, dtype=np.uint16)
    with np.errstate(over="ignore"):
        partners = np.array(SPECIAL, np.float32)
        partners = to_bfloat16(partners) if dtype == BFLOAT16 else partners.astype(np.float16).view(np.uint16)
    for partner in partners:
        other = np.full_like(every, partner)
        for g, y in ((every, other), (other, every)):
            g, y = (one.view(STORED[dtype]) for one in (g, y))
            same(dtype, run(kernel, dtype, g, y), reference(dtype, g, y))


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_special_values_and_random_ones(kernel, dtype):
    rng = np.random.default_rng(8)
    special = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1).astype(STORED[dtype])
    random = rng.normal(size=(2, 100003)).astype(STORED[dtype])
    tiny = (random * 1e-38).astype(STORED[dtype])
    saturated = np.stack([random[0], np.tanh(random[1] * 9)]).astype(STORED[dtype])
    for g, y in (special, random, tiny, saturated):
        same(dtype, run(kernel, dtype, g, y), reference(dtype, g, y))
    assert not np.array_equal(run(kernel, dtype, *random), run(kernel, dtype, *random[::-1]))


@pytest.mark.parametrize("dtype", STORED)
def test_every_small_size_at_an_odd_address_and_any_number_of_threads(kernel, dtype):
    rng = np.random.default_rng(9)
    values = rng.normal(size=(2, 3_000_001)).astype(np.float32)
    g, y = (to_bfloat16(one) if dtype == BFLOAT16 else one.astype(STORED[dtype]) for one in values)
    expected = reference(dtype, g, y)
    for n in range(130):
        same(dtype, run(kernel, dtype, g[1 : n + 1], y[3 : n + 3]), reference(dtype, g[1 : n + 1], y[3 : n + 3]))
    for threads in (1, 2, 3):
        kernel.tanhbw_set_num_threads(threads)
        same(dtype, run(kernel, dtype, g, y), expected)


def aot(shapes, dtypes, null=False):
    arrays = [np.full(6, 7, np.float32) for _ in shapes]
    params = (ctypes.c_void_p * 3)(*(0 if null else one.ctypes.data for one in arrays))
    ndims = (ctypes.c_int * 3)(*map(len, shapes))
    rows = [(ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
    pointers = (ctypes.POINTER(ctypes.c_int64) * 3)(*rows)
    names = (ctypes.c_char_p * 3)(*(one.encode() for one in dtypes))
    status = library().TanhBackward(3, params, ndims, pointers, names, None, None)
    return status, bool(np.all(arrays[2] == 7))


@pytest.mark.parametrize(
    "shapes, dtypes, null, status",
    [
        ([(2, 3), (3, 2), (2, 3)], ["float32"] * 3, False, INVALID),
        ([(2, 3), (2, 3), (6,)], ["float32"] * 3, False, INVALID),
        ([(6,)] * 3, ["float32", "float16", "float32"], False, INVALID),
        ([(6,)] * 3, ["int32"] * 3, False, INVALID),
        ([(6,)] * 3, ["float32"] * 3, True, NULL_POINTER),
    ],
)
def test_what_is_refused_is_not_written_nor_counted(shapes, dtypes, null, status):
    before = library().tanhbw_launch_count()
    assert aot(shapes, dtypes, null) == (status, True)
    assert library().tanhbw_launch_count() == before


def test_count_over_threads():
    before = library().tanhbw_launch_count()
    work = [threading.Thread(target=lambda: [aot([(6,)] * 3, ["float32"] * 3) for _ in range(500)]) for _ in range(4)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert library().tanhbw_launch_count() == before + 2000
