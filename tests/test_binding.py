"""The operator as the gradient of Tanh: it ran, it is right, and without the binding it does not run."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import threading

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops
from mindspore.ops.auto_generate import TanhGrad

import mindspore_tanhbw as tbw
from mindspore_tanhbw.bprop.registry import registry

X = np.array([[-2.0, -0.3, 0.0], [0.4, 1.1, 2.5]], np.float32)
SENS = np.array([[1.0, -2.0, 3.0], [0.5, 5.0, -1.5]], np.float32)


class Function(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


class Primitive(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tanh = ops.Tanh()

    def construct(self, x):
        return self.tanh(x)


class Method(nn.Cell):
    def construct(self, x):
        return x.tanh()


class Mint(nn.Cell):
    def construct(self, x):
        return mint.tanh(x)


class Sliced(nn.Cell):
    """Neither the input of Tanh nor the gradient of its output is contiguous."""

    def construct(self, x):
        return tbw.tanh(x.T[::2]).T


class Narrow(nn.Cell):
    """A float16 gradient comes into a float32 Tanh."""

    def construct(self, x):
        return ops.cast(tbw.tanh(x), ms.float16)


@ms.jit
def jitted(x):
    return tbw.tanh(x)


SPELLINGS = {
    "ops.tanh": Function,
    "ops.Tanh": Primitive,
    "nn.Tanh": nn.Tanh,
    "mint.tanh": Mint,
    "mint.nn.Tanh": mint.nn.Tanh,
    "Tensor.tanh": Method,
    "nn.get_activation": lambda: nn.get_activation("tanh"),
}


def launched(call):
    before = tbw.launch_count()
    result = call()
    result = result.asnumpy()
    return result, tbw.launch_count() - before


def gradient(function, x=X, sens=SENS):
    return launched(lambda: ops.GradOperation(sens_param=True)(function)(Tensor(x), Tensor(sens)))


def own_gradient(x=X, sens=SENS):
    return TanhGrad()(ops.tanh(Tensor(x)), Tensor(sens)).asnumpy()


@pytest.fixture(autouse=True)
def unbound_afterwards():
    yield
    tbw.unbind()


@pytest.mark.parametrize("function", [tbw.tanh, tbw.Tanh(), jitted], ids=["tanh", "Tanh", "jit"])
def test_tanh_runs_the_operator(mode, function):
    result, launches = gradient(function)
    assert launches == 1
    np.testing.assert_allclose(result, own_gradient(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (1, 2, 1, 2, 1, 2, 1, 2)])
def test_dtypes_and_ranks(mode, dtype, shape):
    rng = np.random.default_rng(3)
    x, sens = (np.asarray(rng.normal(size=shape)).astype(dtype) for _ in "xs")
    result, launches = gradient(tbw.tanh, x, sens)
    assert launches == 1
    bound = 4 * np.finfo(dtype).eps * np.abs(sens.astype(np.float64))
    assert np.all(np.abs(result.astype(np.float64) - own_gradient(x, sens)) <= bound)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_bind_reaches_every_spelling(mode, spelling):
    function = SPELLINGS[spelling]()
    unbound, launches = gradient(function)
    assert launches == 0
    with tbw.bound() as report:
        assert int(report) >= 1
        # Built anew: Graph mode keeps what it has compiled of the old one.
        result, launches = gradient(SPELLINGS[spelling]())
    assert launches == 1
    np.testing.assert_allclose(result, unbound, rtol=0, atol=1e-6)


def test_non_contiguous(mode):
    result, launches = gradient(Sliced(), X, SENS[:, ::2].copy())
    assert launches == 1
    expected = np.zeros_like(X)
    expected[:, ::2] = own_gradient()[:, ::2]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)


def test_empty(mode):
    empty = np.zeros((0, 3), np.float32)
    result, _ = gradient(tbw.tanh, empty, empty)
    assert result.shape == (0, 3)


def test_float16_gradient_into_a_float32_tanh(mode):
    result, launches = gradient(Narrow(), X, SENS.astype(np.float16))
    assert launches == 1 and result.dtype == np.float32
    np.testing.assert_allclose(result, own_gradient(), rtol=0, atol=1e-6)


def test_complex_keeps_the_gradient_of_mindspore():
    x = Tensor(np.array([0.5 + 0.25j], np.complex64))
    sens = Tensor(np.array([1 + 0j], np.complex64))
    grad = ops.GradOperation(sens_param=True)
    own = grad(ops.tanh)(x, sens).asnumpy()
    with tbw.bound():
        np.testing.assert_array_equal(grad(ops.tanh)(x, sens).asnumpy(), own)


@pytest.mark.parametrize("order, expected", [(2, -2), (3, None)])
def test_higher_orders(mode, order, expected):
    def derivative(function):
        for _ in range(order):
            function = ms.grad(function)
        return function

    result, launches = launched(lambda: derivative(tbw.tanh)(Tensor(X)))
    assert launches >= 1
    y = np.tanh(X.astype(np.float64))
    reference = -2 * y * (1 - y**2) if order == 2 else (1 - y**2) * (6 * y**2 - 2)
    np.testing.assert_allclose(result, reference, rtol=0, atol=5e-5)


def test_unbind_restores_the_entry_byte_for_byte():
    shipped = registry.entry_bytes("Tanh")
    tbw.unbind()
    marked = registry.entry_bytes("Tanh")
    tbw.bind()
    tbw.bind()
    assert tbw.is_bound()
    bound = registry.entry_bytes("Tanh")
    tbw.unbind()
    assert not tbw.is_bound()
    assert registry.entry_bytes("Tanh") == marked
    assert shipped in (marked, bound)


def test_entry_without_marked_tanh(run_python):
    out = run_python(
        "import mindspore_tanhbw as tbw\n"
        "from mindspore_tanhbw.bprop.registry import registry\n"
        "shipped = registry.entry_bytes('Tanh')\n"
        "tbw.bind(); bound = registry.entry_bytes('Tanh'); tbw.unbind()\n"
        "print(shipped != bound, shipped == registry.entry_bytes('Tanh'))\n"
    )
    assert out.split() == ["True", "True"]


def test_bound_nests_and_survives_exceptions():
    with pytest.raises(KeyError), tbw.bound():
        with tbw.bound():
            pass
        assert tbw.is_bound()
        raise KeyError
    assert not tbw.is_bound()


def test_binding_from_many_threads():
    rounds = []

    def work():
        for _ in range(200):
            with tbw.bound():
                rounds.append(tbw.is_bound())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rounds == [True] * 800 and not tbw.is_bound()
    assert gradient(Function())[1] == 0


def test_another_kernel_changes_the_gradients(mode, tmp_path, run_python):
    """A library with another formula in the operator's place: the gradients follow it, so they come from there."""
    program = f"""
import subprocess, numpy as np, mindspore as ms
from mindspore import Tensor, ops, nn
source = '''#include <cstdint>
#include <vector>
extern "C" int TanhBackward(int, void **p, int *ndims, int64_t **shapes, const char **, void *, void *) {{
  for (int64_t i = 0; i < shapes[0][0]; ++i) ((float *)p[2])[i] = 100 * ((float *)p[0])[i] + ((float *)p[1])[i];
  return 0;
}}
extern "C" std::vector<int64_t> TanhBackwardInferShape(int *n, int64_t **s, void *) {{ return {{s[0], s[0] + n[0]}}; }}
extern "C" int64_t tanhbw_launch_count() {{ return 0; }}
extern "C" int tanhbw_num_threads() {{ return 1; }}
extern "C" void tanhbw_set_num_threads(int) {{}}
'''
open("other.cc", "w").write(source)
subprocess.run("g++ -shared -fPIC other.cc -o other.so".split(), check=True)
import mindspore_tanhbw._library as library, pathlib
library.library_path = lambda: pathlib.Path("other.so").resolve()
import mindspore_tanhbw._operator as operator
operator.library_path = library.library_path
import mindspore_tanhbw as tbw
ms.set_context(mode=ms.PYNATIVE_MODE if {mode!r} == "pynative" else ms.GRAPH_MODE)
class Net(nn.Cell):
    def construct(self, x): return ops.tanh(x)
x = Tensor(np.zeros(2, np.float32))
with tbw.bound():
    print(*ops.GradOperation(sens_param=True)(Net())(x, Tensor([1.0, -3.0], ms.float32)).asnumpy())
"""
    assert run_python(program).split() == ["100.0", "-300.0"]
