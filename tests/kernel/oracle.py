"""What the operator must compute, in NumPy: float64 where the type is narrower, and distances in ULPs."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np

CODES = {"float16": 0, "float32": 1, "float64": 2, "bfloat16": 3}
# How each dtype is stored here: NumPy has no bfloat16, so its bits.
STORED = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": np.uint16}
# The 16-bit types have one rounding after float32 and float64 is computed in itself, so these can be predicted to the
# bit. float32 rounds 1 - y^2 and then the product: the first may be off by less than one place of the result, and
# rounding two numbers that near to each other gives neighbours or the same.
MOST_ULPS = {"float16": 0, "float32": 1, "float64": 0, "bfloat16": 0}

_SIGNED = {2: np.int16, 4: np.int32, 8: np.int64}


def from_bfloat16(bits):
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bfloat16(values):
    """To nearest, ties to even, from the part that is dropped."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    kept, dropped = bits >> 16, bits & 0xFFFF
    up = (dropped > 0x8000) | ((dropped == 0x8000) & (kept % 2 == 1))
    return np.where(np.isnan(values), 0x7FC0, kept + up).astype(np.uint16)


def stored(dtype, values):
    """Numbers in the form in which `dtype` is stored here, rounded once."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return to_bfloat16(np.asarray(values, np.float32))
        return np.asarray(values).astype(STORED[dtype])


def numbers(dtype, array):
    return from_bfloat16(array) if dtype == "bfloat16" else array


def expected(dtype, g, y):
    """g (1 - y^2) for arrays in their stored form."""
    with np.errstate(all="ignore"):
        if dtype in ("float16", "bfloat16"):
            g, y = (numbers(dtype, one).astype(np.float32) for one in (g, y))
            return stored(dtype, g * (np.float32(1) - y * y))
        wide_g, wide_y = g.astype(np.float64), y.astype(np.float64)
        complement = 1 - wide_y * wide_y
        if dtype == "float32":
            # Beyond float32's range, which no output of Tanh comes near, it is infinite, as in CANN's float32.
            beyond = np.isinf(complement.astype(np.float32))
            complement = np.where(beyond, np.copysign(np.inf, complement), complement)
        return (wide_g * complement).astype(STORED[dtype])


def _order(array):
    """The numbers' places in their order, +0 and -0 being one."""
    bits = array.view(_SIGNED[array.itemsize]).astype(object if array.itemsize == 8 else np.int64)
    least = -(2 ** (8 * array.itemsize - 1))
    return np.where(bits < 0, least - bits, bits)


def assert_agrees(dtype, result, wanted, most=None):
    """The same NaNs, the same signs of zeros, and nowhere more than so many ULPs apart."""
    most = MOST_ULPS[dtype] if most is None else most
    assert result.shape == wanted.shape and result.dtype == wanted.dtype
    nan = np.isnan(numbers(dtype, wanted))
    np.testing.assert_array_equal(np.isnan(numbers(dtype, result)), nan)
    zero = (numbers(dtype, wanted) == 0) & (numbers(dtype, result) == 0)
    signs = (np.signbit(numbers(dtype, one)[zero]) for one in (result, wanted))
    np.testing.assert_array_equal(*signs)
    if most == 0:
        bits = f"u{result.itemsize}"
        np.testing.assert_array_equal(result[~nan].view(bits), wanted[~nan].view(bits))
    else:
        apart = np.abs(_order(result[~nan]) - _order(wanted[~nan]))
        assert apart.size == 0 or apart.max() <= most, f"{apart.max()} ULPs"


def special(dtype):
    """Numbers on the edges of a type's range and of the formula's, in stored form."""
    if dtype == "bfloat16":
        bits = [0, 1, 0x7F, 0x80, 0x3E80, 0x3F00, 0x3F35, 0x3F7F, 0x3F80, 0x3F81, 0x4049, 0x5F7F, 0x7F7F, 0x7F80]
        bits += [0x7FC0, 0x7F81, 0x7FFF]
        return np.uint16([one | sign for one in bits for sign in (0, 0x8000)])
    info = np.finfo(dtype)
    values = [0, info.smallest_subnormal, info.tiny - info.smallest_subnormal, info.tiny, info.eps, 0.25, 0.5, 0.7071]
    values += [1 - info.epsneg, 1, 1 + info.eps, 3.25, np.sqrt(info.max), info.max, np.inf, np.nan]
    values = np.array(values, dtype)
    return np.concatenate([values, -values])
