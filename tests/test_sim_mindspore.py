# MindSpore's own Ascend plugin on the simulated Ascend, in PyNative mode and in Graph mode O0.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cann_sim.environment import environment

HERE = Path(__file__).resolve().parent
MODES = ["pynative", "graph"]
START = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
import mindspore as ms
from mindspore import nn, ops
from mindspore.ops import CustomRegOp, DataType
ms.set_device({device!r})
MODE = ms.PYNATIVE_MODE if {mode!r} == "pynative" else ms.GRAPH_MODE
ms.set_context(mode=MODE, jit_config={{"jit_level": {level!r}}})
rng = np.random.default_rng(5)

class Tanh(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)

class Backward(nn.Cell):
    def __init__(self):
        super().__init__()
        formats = [DataType.F16_Default, DataType.F32_Default, DataType.F64_Default, DataType.BF16_Default]
        info = CustomRegOp("aclnnTanhBackward").input(0, "dy").input(1, "y").output(0, "dx")
        for one in formats:
            info = info.dtype_format(one, one, one)
        info = info.target("Ascend").get_op_info()
        self.custom = ops.Custom("aclnnTanhBackward", lambda dy, y: dy, lambda dy, y: dy, func_type="aot", reg_info=info)
    def construct(self, dy, y):
        return self.custom(dy, y)
"""


def child(body, tmp_path, mode="pynative", level="O0", device="Ascend", **options):
    """Runs the body in a process of its own, in an empty folder; returns the finished process."""
    env = environment(**options)
    program = tmp_path / "child.py"  # Graph mode reads the source of what it compiles
    program.write_text(START.format(tests=str(HERE), mode=mode, level=level, device=device) + body, encoding="utf-8")
    return subprocess.run([sys.executable, program], capture_output=True, text=True, env=env, cwd=tmp_path, timeout=300)


def succeed(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def calls(trace, name):
    return [line for line in map(json.loads, trace.read_text().splitlines()) if line["call"] == name]


VALUES = """
net, tanh = Backward(), Tanh()
gradient = ms.grad(tanh)
for dtype in (np.float16, np.float32, np.float64):
    for shape in ((), (1,), (7,), (2, 3), (2, 0, 3), (2, 1, 3, 1, 2, 1, 1, 2)):
        dy, y = (rng.uniform(-2, 2, shape).astype(dtype) for _ in range(2))
        wide = np.float32 if dtype == np.float16 else dtype
        expected = (dy.astype(wide) * (1 - y.astype(wide) * y.astype(wide))).astype(dtype)
        result = net(ms.Tensor(dy), ms.Tensor(y))
        assert result.dtype == ms.Tensor(dy).dtype and result.shape == shape
        np.testing.assert_array_equal(result.asnumpy(), expected)
        if y.size:
            np.testing.assert_allclose(tanh(ms.Tensor(y)).asnumpy(), np.tanh(y.astype(np.float64)), rtol=2e-3 if dtype == np.float16 else 3e-7)
            out = tanh(ms.Tensor(y)).asnumpy().astype(wide)
            np.testing.assert_array_equal(gradient(ms.Tensor(y)).asnumpy(), (1 - out * out).astype(dtype))
dy, y = (ms.Tensor(rng.uniform(-2, 2, 50).astype(np.float32)).astype(ms.bfloat16) for _ in range(2))
result = net(dy, y)
a, b = dy.astype(ms.float32), y.astype(ms.float32)
expected = (a * (1 - b * b)).astype(ms.bfloat16)
assert result.dtype == ms.bfloat16
np.testing.assert_array_equal(result.astype(ms.float32).asnumpy(), expected.astype(ms.float32).asnumpy())
dy, y = (ms.Tensor(rng.uniform(-2, 2, (4, 6)).astype(np.float32)) for _ in range(2))
strided = net(dy.T[1:4], y.T[::2])
np.testing.assert_array_equal(strided.asnumpy(), dy.asnumpy().T[1:4] * (1 - y.asnumpy().T[::2] ** 2))
"""


@pytest.mark.parametrize("mode", MODES)
def test_the_custom_operator_and_the_built_in_gradient_compute_what_numpy_computes(mode, tmp_path):
    done = succeed(child(VALUES, tmp_path, mode))
    assert done.stdout == ""


ROUTES = """
dy, y = (ms.Tensor(np.array(v, np.float32)) for v in ([1, 2, 3], [0.5, -2, 4]))
custom = Backward()(dy, y).asnumpy()
grad = ms.grad(Tanh())(y).asnumpy()
"""


@pytest.mark.parametrize("mode", MODES)
def test_the_trace_tells_the_custom_operator_from_the_built_in_gradient(mode, tmp_path):
    trace = tmp_path / "trace.jsonl"
    succeed(child(ROUTES, tmp_path, mode, trace=trace))
    first = [line for line in calls(trace, "aclnnTanhBackward") if line["phase"] == 1]
    second = [line for line in calls(trace, "aclnnTanhBackward") if line["phase"] == 2]
    assert len(second) == 2 and [line["caller"] for line in first] == [line["caller"] for line in second]
    custom, built_in = (line["caller"] for line in second)
    assert custom != built_in and built_in.startswith("libmindspore_ops_ascend.so+")
    assert ("callback" in custom) == (mode == "graph")


TRAINING = """
rng = np.random.default_rng(0)
def weights(*shape):
    return ms.Tensor((rng.standard_normal(shape) * 0.3).astype(np.float32))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Dense(6, 8, weights(8, 6), weights(8)), nn.Dense(8, 3, weights(3, 8), weights(3))
    def construct(self, x):
        return self.last(ops.tanh(self.first(x)))
net, x, labels = Net(), weights(16, 6), rng.integers(0, 3, 16)
parameters = net.trainable_params()
if {loss!r} == "mse":
    loss, target = nn.MSELoss(), ms.Tensor(np.eye(3)[labels].astype(np.float32))
elif {loss!r} == "sparse":
    loss, target = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), ms.Tensor(labels.astype(np.int32))
elif {loss!r} == "dense":
    loss, target = nn.SoftmaxCrossEntropyWithLogits(reduction="mean"), ms.Tensor(np.eye(3)[labels].astype(np.float32))
else:
    loss, target = nn.CrossEntropyLoss(), ms.Tensor(labels.astype(np.int32))
optimizer = {{
    "sgd": lambda: nn.SGD(parameters, 0.1),
    "nesterov": lambda: nn.SGD(parameters, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "momentum": lambda: nn.Momentum(parameters, 0.1, 0.9),
    "adam": lambda: nn.Adam(parameters, 0.01),
    "decay": lambda: nn.AdamWeightDecay(parameters, 0.01, weight_decay=0.1),
}}[{optimizer!r}]()
def forward(x, t):
    return loss(net(x), t)
differentiate = ms.value_and_grad(forward, None, parameters)
def step(x, t):
    value, gradients = differentiate(x, t)
    return ops.depend(value, optimizer(gradients))
if MODE == ms.GRAPH_MODE:
    step = ms.jit(step)
print("LOSS", *[float(step(x, target).asnumpy()) for _ in range(10)])
"""


@pytest.mark.parametrize("optimizer,loss", [("sgd", "mse"), ("nesterov", "sparse"), ("momentum", "dense"),
                                            ("adam", "label"), ("decay", "mse")])
def test_training_follows_the_cpu(optimizer, loss, tmp_path):
    curves = {}
    for device, mode in (("CPU", "pynative"), ("Ascend", "pynative"), ("Ascend", "graph")):
        trace = tmp_path / f"{device}-{mode}.jsonl"
        done = succeed(child(TRAINING.format(optimizer=optimizer, loss=loss), tmp_path, mode, device=device, trace=trace))
        last = next(line for line in done.stdout.splitlines() if line.startswith("LOSS"))
        curves[device, mode] = [float(value) for value in last.split()[1:]]
        if device == "Ascend":
            assert len([line for line in calls(trace, "aclnnTanhBackward") if line["phase"] == 2]) == 10
    reference = curves["CPU", "pynative"]
    assert reference[-1] < reference[0]
    for curve in curves.values():
        assert curve == pytest.approx(reference, rel=2e-6, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_an_operator_that_is_not_simulated_fails_with_its_name(mode, tmp_path):
    done = child("""
class Erf(nn.Cell):
    def construct(self, x):
        return ops.erf(x)
Erf()(ms.Tensor([1.0])).asnumpy()
""", tmp_path, mode)
    assert done.returncode == 1 and "aclnnErf" in done.stderr


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_other_jit_levels_are_refused(level, tmp_path):
    done = child("class F(nn.Cell):\n    def construct(self, x):\n        return ops.tanh(x) * x\n"
                 "F()(ms.Tensor(np.ones(4, np.float32))).asnumpy()", tmp_path, "graph", level)
    assert done.returncode == 1
    assert f"jit_level {level}" in done.stderr and "jit_level O0 is what the simulator runs" in done.stderr


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1, 512, 1 << 20])
def test_mindspore_gives_each_operator_its_workspace(mode, size, tmp_path):
    trace = tmp_path / "trace.jsonl"
    succeed(child(ROUTES + "np.testing.assert_array_equal(custom, [0.75, -6, -45])", tmp_path, mode, trace=trace,
                  workspace=size))
    second = [line for line in calls(trace, "aclnnTanhBackward") if line["phase"] == 2]
    assert [line["workspace"] for line in second] == [size, size]


@pytest.mark.parametrize("mode", MODES)
def test_a_chip_without_bfloat16_refuses_it(mode, tmp_path):
    done = child("x = ms.Tensor([0.5, 1.0], ms.bfloat16)\nprint(Backward()(x, x).astype(ms.float32))", tmp_path, mode,
                 soc="Ascend910A")
    assert done.returncode == 1
    assert "161002" in done.stderr and "bfloat16 is not supported on Ascend910A" in done.stderr


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("call", ["aclnnTanhBackwardGetWorkspaceSize", "aclnnTanhBackward", "aclCreateTensor",
                                  "aclSetTensorAddr", "aclrtMemcpy", "aclrtSynchronizeStreamWithTimeout"])
def test_a_failing_call_becomes_an_exception_that_names_call_and_status(mode, call, tmp_path):
    succeed(child(f"""
from cann_sim import control
net = Backward()
def backward(n):
    dy, y = (ms.Tensor(rng.uniform(-2, 2, n).astype(np.float32)) for _ in range(2))
    return net(dy, y).asnumpy()
call = {call!r}
if call not in ("aclnnTanhBackwardGetWorkspaceSize", "aclCreateTensor"):
    backward(3)  # compiled, in Graph mode, before the call fails
    before = control.counts()
    backward(3)
    made = {{name for name, count in control.counts().items() if count != before.get(name, 0)}}
    if call == "aclrtMemcpy" and call not in made:
        call = "aclrtMemcpyAsync"
    if call not in made:
        assert MODE == ms.PYNATIVE_MODE and call == "aclSetTensorAddr", made
        raise SystemExit(0)
control.fail(call, 507899)
try:
    backward(3)
except RuntimeError as error:
    assert call in str(error) and "507899" in str(error), error
else:
    raise SystemExit("nothing was raised")
""", tmp_path, mode))


def test_it_is_quiet(tmp_path):
    done = succeed(child(ROUTES, tmp_path))
    assert (done.stdout, done.stderr) == ("", "")
