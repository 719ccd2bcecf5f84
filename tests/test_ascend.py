"""The operator on Ascend; who called the kernel tells the Custom operator from MindSpore's own gradient."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import os

import pytest

MODES = ["PYNATIVE", "GRAPH"]


@pytest.mark.parametrize("mode", MODES)
def test_one_launch_with_the_inputs_in_order(traced, mode):
    dtypes = ["float16", "float32", "float64", "bfloat16"]
    printed, calls = traced(
        f"""
net = Backward()
for dtype in {dtypes}:
    g, y = (Tensor(one).astype(getattr(ms, dtype)) for one in (G, Y))
    print(net(g, y).astype(ms.float64).asnumpy().tolist())
""",
        mode,
    )
    assert [json.loads(line) for line in printed.splitlines()] == [[[0.75, 1.875, 3.0], [3.0, 0.0, -18.0]]] * 4
    assert [[tensor["dtype"] for tensor in one["inputs"]] for one in calls] == [[dtype] * 2 for dtype in dtypes]
    assert all(tensor["shape"] == [2, 3] for one in calls for tensor in one["inputs"])


@pytest.mark.parametrize("mode", MODES)
def test_gradients_go_through_the_operator(traced, mode):
    _printed, calls = traced(
        """
own = gradient(nn.Tanh())
np.testing.assert_array_equal(gradient(tbw.Tanh()), own)
with tbw.bound():
    np.testing.assert_array_equal(gradient(nn.Tanh()), own)
    np.testing.assert_array_equal(gradient(mint.nn.Tanh()), own)
np.testing.assert_array_equal(gradient(nn.Tanh()), own)
""",
        mode,
    )
    first, alone, bound, bound_mint, last = (one["caller"] for one in calls)
    assert first == last, "after unbind MindSpore's own gradient is back"
    assert first not in (alone, bound, bound_mint)


@pytest.mark.parametrize("mode", MODES)
def test_higher_orders(on_ascend, mode):
    on_ascend(
        """
def second(x): return ms.grad(ms.grad(tbw.tanh))(x)
x = Tensor(Y)
y = np.tanh(Y)
np.testing.assert_allclose(second(x).asnumpy(), -2 * y * (1 - y * y), atol=1e-6)
""",
        mode,
    )


@pytest.mark.parametrize("mode", MODES)
def test_dynamic_shape(on_ascend, mode):
    on_ascend(
        """
net = Backward()
net.set_inputs(*(Tensor(shape=[None, 3], dtype=ms.float32) for _ in "gy"))
for rows in (1, 2):
    g, y = G[:rows], Y[:rows]
    np.testing.assert_array_equal(net(Tensor(g), Tensor(y)).asnumpy(), g * (1 - y * y))
""",
        mode,
    )


@pytest.mark.parametrize("mode", MODES)
def test_bad_input_never_reaches_the_kernel(on_ascend, mode):
    printed = on_ascend(
        """
f = Tensor(G)
nine = Tensor(np.ones((1,) * 9, np.float32))
for bad in ((None, f), (f, 3), (f, f.astype(ms.float16)), (f, f.reshape((3, 2))), (nine, nine)):
    try:
        Backward()(*bad)
    except Exception as error:
        print(type(error).__name__, "161001" in str(error), "161002" in str(error))
if SIMULATED:
    from cann_sim import control
    assert not [call for call in control.counts() if "TanhBackward" in call]
""",
        mode,
    )
    assert printed.splitlines() == (
        ["TypeError True False"] * 2 + ["TypeError False True"] + ["ValueError False True"] * 2
    )


@pytest.mark.parametrize("mode", MODES)
def test_chip_without_bfloat16(traced, mode):
    printed, _ = traced(
        """
g = Tensor(G).astype(ms.bfloat16)
try:
    print(Backward()(g, g).asnumpy())
except RuntimeError as error:
    print("RuntimeError", "TanhBackward" in str(error))
""",
        mode,
        soc="Ascend910A",
    )
    assert printed.splitlines()[-1] == "RuntimeError True"


def test_nothing_is_left_in_the_current_folder(on_ascend, tmp_path):
    on_ascend("Backward()(Tensor(G), Tensor(Y)).asnumpy()\n")
    # offload is MindSpore's: it makes it whenever it runs on Ascend.
    assert set(os.listdir(tmp_path)) <= {"program.py", "trace", "offload"}


def test_changed_target_in_one_process(traced):
    printed, calls = traced(
        """
from mindspore_tanhbw._operator import tanh_backward_operator
ms.set_context(device_target="CPU")
changes = ms.get_context("device_target") == "CPU"  # before 2.8 the first target stays
on_cpu = tanh_backward_operator()
tbw.bind()
ms.set_context(device_target="Ascend")
print((on_cpu is tanh_backward_operator()) == changes)
np.testing.assert_allclose(gradient(nn.Tanh()), G * (1 - np.tanh(Y) ** 2), rtol=1e-6)
tbw.unbind()
gradient(nn.Tanh())
"""
    )
    assert printed.strip() == "False"
    ours, own = (one["caller"] for one in calls)
    assert ours != own


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_other_jit_levels_are_refused_clearly(traced, level):
    # O1 makes kernels for the chip, O2 hands the graph of a Cell to CANN's graph engine: neither is simulated.
    printed, calls = traced(
        f"""
ms.set_context(jit_config={{"jit_level": "{level}"}})

class Gradient(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tanh, self.grad = tbw.Tanh(), ops.GradOperation()

    def construct(self, x):
        return self.grad(self.tanh)(x)

try:
    print(Gradient()(Tensor(Y)))
except RuntimeError as error:
    print(error)
""",
        "GRAPH",
    )
    assert f"jit_level {level}" in printed and "jit_level O0 is what the simulator runs" in printed
    assert calls == []


def test_a_gradient_function_at_jit_level_o2_runs_the_operator(traced):
    # MindSpore does not hand it to the graph engine.
    _, calls = traced(
        """
ms.set_context(jit_config={"jit_level": "O2"})
np.testing.assert_array_equal(gradient(nn.Tanh()), gradient(tbw.Tanh()))
""",
        "GRAPH",
    )
    own, ours = (one["caller"] for one in calls)
    assert own != ours
