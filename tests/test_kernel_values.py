"""The CPU kernel by its C functions: its numbers on every dispatch path, its refusals and its launch count."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import itertools
import threading

import numpy as np
import pytest

from kernel.oracle import CODES, STORED, assert_agrees, expected, numbers, special, stored
from mindspore_tanhbw._library import library

LIB = library()
LIB.tanhbw_backward.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 3 + [ctypes.c_int64]
LIB.tanhbw_path.restype = ctypes.c_char_p

OK, NULL_POINTER, INVALID = 0, 161001, 161002
ALL_PATHS = ("portable", "avx2", "avx512")
PATHS = [path for path in ALL_PATHS if LIB.tanhbw_force_path(path.encode()) == OK]
LIB.tanhbw_force_path(None)
# Where threads and streaming stores begin, in bytes of the result.
SPLIT, STREAM = 256 << 10, 12 << 20


@pytest.fixture(autouse=True)
def defaults():
    yield
    LIB.tanhbw_force_path(None)
    LIB.tanhbw_set_num_threads(0)


@pytest.fixture(params=PATHS)
def path(request):
    assert LIB.tanhbw_force_path(request.param.encode()) == OK
    return request.param


def run(dtype, g, y):
    """The kernel on arrays in stored form; nothing may be written outside the result."""
    pad = 64
    buffer = np.full(g.nbytes + 2 * pad, 0xA5, np.uint8)
    assert LIB.tanhbw_backward(CODES[dtype], g.ctypes.data, y.ctypes.data, buffer.ctypes.data + pad, g.size) == OK
    assert (buffer[:pad] == 0xA5).all() and (buffer[pad + g.nbytes :] == 0xA5).all()
    return buffer[pad : pad + g.nbytes].view(STORED[dtype]).copy()


def samples(dtype, n, seed=0):
    """Gradients of many magnitudes, and tanh's outputs, saturated ones among them."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(n) * 10.0 ** rng.integers(-4, 4, n)
    return stored(dtype, g), stored(dtype, np.tanh(rng.standard_normal(n) * 4))


def pairs(dtype):
    return (np.ascontiguousarray(part.ravel()) for part in np.meshgrid(special(dtype), special(dtype)))


def test_the_widest_path_is_the_default_and_no_other_name_is_taken():
    assert PATHS[0] == "portable" and LIB.tanhbw_path().decode() == PATHS[-1]
    for name in {"", "sse", "AVX2", *ALL_PATHS} - set(PATHS):
        assert LIB.tanhbw_force_path(name.encode()) != OK
        assert LIB.tanhbw_path().decode() == PATHS[-1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_pattern_of_each_input(path, dtype):
    every = np.arange(65536, dtype=np.uint16).view(STORED[dtype])
    for partner in special(dtype):
        other = np.full_like(every, partner)
        assert_agrees(dtype, run(dtype, every, other), expected(dtype, every, other))
        assert_agrees(dtype, run(dtype, other, every), expected(dtype, other, every))


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_pattern_of_each_input_with_many_partners(path, dtype):
    every = np.arange(65536, dtype=np.uint16).view(STORED[dtype])
    for partner in every[::127]:
        other = np.full_like(every, partner)
        assert_agrees(dtype, run(dtype, every, other), expected(dtype, every, other))
        assert_agrees(dtype, run(dtype, other, every), expected(dtype, other, every))


@pytest.mark.parametrize("dtype", CODES)
def test_special_values_with_each_other(path, dtype):
    g, y = pairs(dtype)
    assert_agrees(dtype, run(dtype, g, y), expected(dtype, g, y))


@pytest.mark.parametrize("dtype", CODES)
def test_random_values(path, dtype):
    for seed, scale in enumerate([1, 1e-37, 1e30]):
        g, y = samples(dtype, 100003, seed)
        g = stored(dtype, numbers(dtype, g).astype(np.float64) * scale)
        assert_agrees(dtype, run(dtype, g, y), expected(dtype, g, y))


def test_float32_keeps_its_digits_near_saturation(path):
    y = np.float32(1) - np.arange(1, 1001, dtype=np.float32) * np.float32(2.0**-24)
    exact = [1 - int(v) ** 2 / 2**48 for v in y.astype(np.float64) * 2**24]  # 48 bits fit into a float64
    np.testing.assert_array_equal(run("float32", np.ones_like(y), y), np.float32(exact))


@pytest.mark.parametrize("dtype", CODES)
def test_the_inputs_are_not_interchangeable(path, dtype):
    g, y = stored(dtype, [2.0, 0.5, -3.0, 2.0, -2.0]), stored(dtype, [0.5, 0.25, 0.75, 1.0, 1.0])
    wanted = stored(dtype, [1.5, 0.46875, -1.3125, 0.0, -0.0])
    np.testing.assert_array_equal(run(dtype, g, y).view(np.uint8), wanted.view(np.uint8))


@pytest.mark.parametrize("dtype", CODES)
def test_the_same_bits_on_every_path_and_thread_count_and_at_any_address(dtype):
    itemsize = np.dtype(STORED[dtype]).itemsize
    special_g, special_y = pairs(dtype)
    for nbytes in (SPLIT + 8, STREAM + 8):
        n = nbytes // itemsize
        g, y = samples(dtype, n)
        # NaNs too, whose bits show which operand's came through.
        g[: special_g.size], y[: special_y.size] = special_g, special_y
        first = run(dtype, g, y).view(np.uint8)
        for name, threads, shift in itertools.product(PATHS, (1, 2, 3), (0, 1, 32)):
            assert LIB.tanhbw_force_path(name.encode()) == OK
            LIB.tanhbw_set_num_threads(threads)
            assert LIB.tanhbw_num_threads() == threads
            result = np.empty(nbytes + 64, np.uint8)[shift : shift + n * itemsize]
            addresses = (array.ctypes.data for array in (g, y, result))
            assert LIB.tanhbw_backward(CODES[dtype], *addresses, n) == OK
            assert np.array_equal(result, first), (name, threads, shift)


def aot(params, shapes, dtypes):
    """TanhBackward as MindSpore calls it; None stands for a null pointer."""
    count = len(params)
    rows = [(ctypes.c_int64 * max(len(shape), 1))(*shape) for shape in shapes]
    return LIB.TanhBackward(
        count,
        (ctypes.c_void_p * count)(*params),
        (ctypes.c_int * count)(*map(len, shapes)),
        (ctypes.POINTER(ctypes.c_int64) * count)(*rows),
        (ctypes.c_char_p * count)(*(name.encode() for name in dtypes)),
        None,
        None,
    )


@pytest.fixture
def three():
    """grad_output, output and a grad_input that shows whether it was written; room for 6 numbers of any dtype."""
    return [np.full(6, 0.5), np.full(6, 0.25), np.full(6, 7.25)]


@pytest.mark.parametrize("dtype", CODES)
def test_mindspores_entry(dtype):
    g, y = samples(dtype, 6)
    result = np.empty_like(g)
    before = LIB.tanhbw_launch_count()
    assert aot([array.ctypes.data for array in (g, y, result)], [(2, 3)] * 3, [dtype] * 3) == OK
    assert_agrees(dtype, result, expected(dtype, g, y))
    assert LIB.tanhbw_launch_count() == before + 1


F64, SHAPE = "float64", (2, 3)
REFUSED = {
    "integers": ([SHAPE] * 3, ["int32"] * 3),
    "complex": ([SHAPE] * 3, ["complex64"] * 3),
    "mixed inputs": ([SHAPE] * 3, [F64, "float32", F64]),
    "mixed result": ([SHAPE] * 3, [F64, F64, "float32"]),
    "unequal shapes": ([SHAPE, (3, 2), SHAPE], [F64] * 3),
    "unequal ranks": ([SHAPE, (6,), SHAPE], [F64] * 3),
    "a further dimension": ([SHAPE, (2, 3, 4), SHAPE], [F64] * 3),
    "broadcast": ([SHAPE, (1, 3), SHAPE], [F64] * 3),
    "unequal result": ([SHAPE, SHAPE, (2, 2)], [F64] * 3),
    "negative dimension": ([(-1, 3)] * 3, [F64] * 3),
    "too many elements": ([(2**32, 2**32)] * 3, [F64] * 3),
    "two tensors": ([SHAPE] * 2, [F64] * 2),
    "four tensors": ([SHAPE] * 4, [F64] * 4),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_not_written_nor_counted(three, case):
    shapes, dtypes = REFUSED[case]
    before = LIB.tanhbw_launch_count()
    assert aot([array.ctypes.data for array in [*three, three[2]][: len(shapes)]], shapes, dtypes) == INVALID
    assert (three[2] == 7.25).all()
    assert LIB.tanhbw_launch_count() == before


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_null_pointers_are_not_followed_nor_counted(three, missing):
    addresses = [array.ctypes.data for array in three]
    addresses[missing] = None
    before = LIB.tanhbw_launch_count()
    assert aot(addresses, [SHAPE] * 3, [F64] * 3) == NULL_POINTER
    assert LIB.tanhbw_backward(CODES[F64], *addresses, 6) == NULL_POINTER
    assert (three[2] == 7.25).all()
    assert LIB.tanhbw_launch_count() == before


@pytest.mark.parametrize("n, calls", [(1, 20_000), (300_000, 50)], ids=["short calls", "calls that share the pool"])
def test_launch_count_is_exact_from_four_threads(n, calls):
    g, y = samples("float32", n)
    wanted, right = run("float32", g, y), []
    start = threading.Barrier(4)

    def work():
        result = np.empty_like(g)
        arguments = (CODES["float32"], g.ctypes.data, y.ctypes.data, result.ctypes.data, n)
        start.wait()
        for _ in range(calls):
            result.fill(np.nan)
            right.append(LIB.tanhbw_backward(*arguments) == OK and np.array_equal(result, wanted))

    before = LIB.tanhbw_launch_count()
    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(right) == 4 * calls and all(right)
    assert LIB.tanhbw_launch_count() == before + 4 * calls
