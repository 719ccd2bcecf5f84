"""Every dtype, rank and layout on Ascend: bit-equal on the simulator to NumPy rounding in the same places."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import pytest

SWEEP = """
DTYPES = ["float16", "float32", "float64", "bfloat16"]
SHAPES = [(2, 3, 1, 2, 1, 2, 1, 2)[:rank] for rank in range(9)] + [(0,), (3, 0, 2)]
rng = np.random.default_rng(7)
count = 0

def wide(tensor):
    # As the kernel computes: float16 and bfloat16 in float32.
    small = tensor.dtype in (ms.float16, ms.bfloat16)
    return (tensor.astype(ms.float32) if small else tensor).asnumpy()

def rounded(array, dtype):
    if dtype != ms.bfloat16:
        return array.astype(ms.dtype_to_nptype(dtype))
    bits = np.atleast_1d(array).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32).reshape(array.shape)

def right(result, grad_output, output):
    global count
    g, y = wide(grad_output.astype(output.dtype)), wide(output)
    expected = rounded(g * (y.dtype.type(1) - y * y), output.dtype)
    assert result.dtype == output.dtype and result.shape == output.shape
    result = wide(result) if result.dtype == ms.bfloat16 else result.asnumpy()
    if SIMULATED:
        np.testing.assert_array_equal(result, expected)
    else:
        tolerance = 1e-12 if output.dtype == ms.float64 else 1e-6 if output.dtype == ms.float32 else 1e-2
        np.testing.assert_allclose(result, expected, tolerance, tolerance)
    count += 1

def tensor(shape, dtype):
    return Tensor(rng.uniform(-2, 2, shape)).astype(getattr(ms, dtype))

class Tanh(nn.Cell):
    def construct(self, x):
        return tbw.tanh(x)

class Turned(nn.Cell):
    # Views in PyNative mode; in Graph mode what the graph makes of them.
    def construct(self, g, y):
        return tbw.tanh_backward(g.T, y.T)

class Narrow(nn.Cell):
    def construct(self, x):
        return ops.cast(tbw.tanh(x), ms.float16)

class Halved(nn.Cell):
    def construct(self, x):
        return x * 1

    def bprop(self, x, out, dout):
        return (ops.cast(dout, ms.float16),)

class Half(nn.Cell):
    def __init__(self):
        super().__init__()
        self.halved = Halved()

    def construct(self, x):
        return self.halved(tbw.tanh(x))

class TurnedTanh(nn.Cell):
    def construct(self, x):
        return tbw.tanh(x.T)

backward, tanh = Backward(), Tanh()
differentiate = ops.GradOperation(sens_param=True)
gradient_of_tanh, gradient_of_turned = differentiate(tanh), differentiate(TurnedTanh())
for dtype in DTYPES:
    for shape in SHAPES:
        g, y = tensor(shape, dtype), tensor(shape, dtype)
        right(backward(g, y), g, y)
        right(gradient_of_tanh(y, g), g, tanh(y))
    g, y = tensor((4, 6), dtype), tensor((4, 6), dtype)
    right(Turned()(g, y), g.T, y.T)
    right(backward(g.T[1:4], y.T[::2]), g.T[1:4], y.T[::2])
    right(gradient_of_turned(y, g.T).T, g.T, tanh(y.T))
    right(gradient_of_tanh(y.T[::2], g.T[1:4]), g.T[1:4], tanh(y.T[::2]))

# A float16 gradient comes into a float32 Tanh: as it is out of Half, cast out of Narrow.
x, g = tensor((2, 3), "float32"), tensor((2, 3), "float32")
half = g.astype(ms.float16)
right(differentiate(Half())(x, g), half, tanh(x))
right(differentiate(Narrow())(x, half), half, tanh(x))
print(count)
"""


@pytest.mark.parametrize("mode", ["PYNATIVE", "GRAPH"])
def test_dtypes_ranks_and_layouts(on_ascend, mode):
    assert int(on_ascend(SWEEP, mode)) == 4 * (11 * 2 + 4) + 2


@pytest.mark.parametrize("mode", ["PYNATIVE", "GRAPH"])
@pytest.mark.parametrize("size", [0, 1, 512, 1 << 20])
def test_the_workspace_is_allocated_passed_and_released(traced, mode, size):
    printed, calls = traced(
        """
from cann_sim import control

class Tanh(nn.Cell):
    def construct(self, x):
        return tbw.tanh(x)

def step():
    np.testing.assert_array_equal(backward(Tensor(G), Tensor(Y)).asnumpy(), G * (1 - Y * Y))
    y = tanh(Tensor(Y)).asnumpy()
    np.testing.assert_array_equal(differentiate(Tensor(Y), Tensor(G)).asnumpy(), G * (1 - y * y))
    ms.runtime.synchronize()
    return ms.runtime.memory_allocated(), control.memory()[0]

backward, tanh = Backward(), Tanh()
differentiate = ops.GradOperation(sens_param=True)(tanh)
step()
# The checks of size, and that nobody else writes there, are the simulator's.
ms.runtime.reset_peak_memory_stats()
before = step()
print(before == step(), ms.runtime.max_memory_allocated() - before[0] >= WORKSPACE)
""".replace("WORKSPACE", str(size)),
        mode,
        workspace=size,
    )
    assert printed.split() == ["True", "True"]
    assert [one["workspace"] for one in calls] == [size] * len(calls) and len(calls) == 6
