"""The operator on simulated Ascend; who called the kernel tells the Custom operator from MindSpore's own gradient."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import os

import pytest

from cann_sim.environment import environment

START = """
import numpy as np, mindspore as ms
from mindspore import Tensor, mint, nn, ops
import mindspore_tanhbw as tbw
ms.set_device("Ascend")
ms.set_context(mode=ms.{mode}_MODE, jit_config={{"jit_level": "O0"}})
G = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
Y = np.array([[0.5, 0.25, 0.0], [-0.5, 1.0, 2.0]], np.float32)

class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)

def gradient(net):
    return ops.GradOperation(sens_param=True)(net)(Tensor(Y), Tensor(G)).asnumpy()
"""
MODES = ["PYNATIVE", "GRAPH"]


@pytest.fixture
def on_ascend(run_python, tmp_path):
    """Run a body on simulated Ascend; returns what it printed and the launches of the kernel."""

    def run(body, mode="PYNATIVE", **options):
        trace = tmp_path / "trace"
        trace.unlink(missing_ok=True)
        printed = run_python(START.format(mode=mode) + body, **environment(trace=trace, **options))
        calls = map(json.loads, trace.read_text().splitlines()) if trace.exists() else []
        return printed, [one for one in calls if one["call"] == "aclnnTanhBackward" and one["phase"] == 2]

    return run


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_one_launch_with_the_inputs_in_order(on_ascend, mode, dtype):
    printed, calls = on_ascend(
        f"g, y = Tensor(G).astype(ms.{dtype}), Tensor(Y).astype(ms.{dtype})\n"
        "print(Backward()(g, y).astype(ms.float64).asnumpy().tolist())\n",
        mode,
    )
    assert json.loads(printed) == [[0.75, 1.875, 3.0], [3.0, 0.0, -18.0]]
    assert len(calls) == 1
    assert [one["dtype"] for one in calls[0]["inputs"]] == [dtype, dtype]
    assert [one["shape"] for one in calls[0]["inputs"]] == [[2, 3], [2, 3]]


@pytest.mark.parametrize("mode", MODES)
def test_gradients_go_through_the_operator(on_ascend, mode):
    printed, calls = on_ascend(
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
    if mode == "GRAPH":
        assert all(one.startswith("aclnn_callback.so") for one in (alone, bound, bound_mint))


@pytest.mark.parametrize("mode", MODES)
def test_higher_orders(on_ascend, mode):
    _, calls = on_ascend(
        """
def second(x): return ms.grad(ms.grad(tbw.tanh))(x)
x = Tensor(Y)
y = np.tanh(Y)
np.testing.assert_allclose(second(x).asnumpy(), -2 * y * (1 - y * y), atol=1e-6)
""",
        mode,
    )
    assert calls


@pytest.mark.parametrize("mode", MODES)
def test_dynamic_shape(on_ascend, mode):
    _, calls = on_ascend(
        """
net = Backward()
net.set_inputs(*(Tensor(shape=[None, 3], dtype=ms.float32) for _ in "gy"))
for rows in (1, 2):
    g, y = G[:rows], Y[:rows]
    np.testing.assert_array_equal(net(Tensor(g), Tensor(y)).asnumpy(), g * (1 - y * y))
""",
        mode,
    )
    assert [one["inputs"][0]["shape"] for one in calls] == [[1, 3], [2, 3]]


@pytest.mark.parametrize("mode", MODES)
def test_bad_input_never_reaches_the_kernel(on_ascend, mode):
    printed, calls = on_ascend(
        """
f = Tensor(G)
nine = Tensor(np.ones((1,) * 9, np.float32))
for bad in ((None, f), (f, 3), (f, f.astype(ms.float16)), (f, f.reshape((3, 2))), (nine, nine)):
    try:
        Backward()(*bad)
    except Exception as error:
        print(type(error).__name__, "161001" in str(error), "161002" in str(error))
""",
        mode,
    )
    assert printed.splitlines() == ["TypeError True False"] * 2 + ["TypeError False True"] + ["ValueError False True"] * 2
    assert calls == []


@pytest.mark.parametrize("mode", MODES)
def test_chip_without_bfloat16(on_ascend, mode):
    printed, _ = on_ascend(
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


BROKEN = {
    "unset": ("del os.environ['ASCEND_OPP_PATH']", ["ASCEND_OPP_PATH", "set_env.sh"]),
    "no header": ("os.environ['ASCEND_OPP_PATH'] = os.path.join(os.getcwd(), 'opp')", ["aclnn_tanh_backward.h"]),
    "no compiler": ("os.environ['CXX'] = '/nonexistent/g++'", ["CXX", "apt-get install g++"]),
    "cache": ("os.environ['MINDSPORE_TANHBW_CACHE'] = '/proc/none'", ["/proc/none", "MINDSPORE_TANHBW_CACHE"]),
    "no symbol": (
        "os.makedirs('cann/include/aclnnop'); os.makedirs('cann/lib64')\n"
        "open('cann/include/aclnnop/aclnn_tanh_backward.h', 'w')\n"
        "open('cann/lib64/libopapi.so', 'w').write('nothing')\n"
        "os.environ['ASCEND_OPP_PATH'] = os.path.abspath('cann/opp')",
        ["libopapi.so", "aclnnTanhBackward"],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_environment_is_named(on_ascend, case):
    broken, texts = BROKEN[case]
    printed, calls = on_ascend(
        f"import os\n{broken}\ntry:\n    Backward()(Tensor(G), Tensor(Y))\nexcept RuntimeError as error:\n    print(error)\n"
    )
    for text in texts:
        assert text in printed
    assert calls == []


@pytest.mark.parametrize("mode", MODES)
def test_peak_memory_of_a_chain(on_ascend, mode):
    def peak(bind):
        # In processes of their own: what Graph mode keeps of the first would count in the second.
        printed, calls = on_ascend(
            f"""
class Chain(nn.Cell):
    def construct(self, x):
        for _ in range(20):
            x = ops.tanh(x)
        return x

{bind}
net, x = Chain(), Tensor(np.ones((512, 512), np.float32))
for _ in range(2):
    ms.runtime.reset_peak_memory_stats()
    ms.grad(net)(x).asnumpy()
    ms.runtime.synchronize()
print(ms.runtime.max_memory_allocated())
""",
            mode,
        )
        return int(printed), len(calls)

    own, launches = peak("")
    ours, our_launches = peak("tbw.bind()")
    assert our_launches == launches
    assert ours <= own


def test_changed_target_in_one_process(on_ascend):
    printed, calls = on_ascend(
        """
from mindspore_tanhbw._operator import tanh_backward_operator
ms.set_context(device_target="CPU")
on_cpu = tanh_backward_operator()
tbw.bind()
ms.set_context(device_target="Ascend")
print(on_cpu is tanh_backward_operator())
np.testing.assert_allclose(gradient(nn.Tanh()), G * (1 - np.tanh(Y) ** 2), rtol=1e-6)
"""
    )
    assert printed.strip() == "False"
    assert len(calls) == 1 and calls[0]["caller"].startswith("runner.so")
