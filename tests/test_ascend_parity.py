"""A step with the operator costs on Ascend exactly what it costs with MindSpore's own gradient."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json

import pytest

MODES = ["PYNATIVE", "GRAPH"]

COST = """
import json, os
from collections import Counter
from cann_sim import control

if BLOCKING:
    ms.runtime.launch_blocking()

def cost(step):
    ms.runtime.synchronize()
    with open(os.environ["CANN_SIM_TRACE"]) as trace:
        trace.seek(0, 2)
        step()
        ms.runtime.synchronize()
        calls = [json.loads(line) for line in trace]
    kernels = [one for one in calls if one.get("phase") != 1 and "inputs" in one]
    moved = [one for one in calls if "kind" in one]
    return {
        "launches": sorted(Counter(one.get("op", one["call"]) for one in kernels).items()),
        "copies": sorted(Counter((one["call"], one["kind"], one["bytes"]) for one in moved).items()),
        "allocations": [one["bytes"] for one in calls if "peak" in one],
    }

def memory(step):
    ms.runtime.reset_peak_memory_stats()
    step()
    ms.runtime.synchronize()
    return {
        "peak": ms.runtime.max_memory_allocated(),
        "held": ms.runtime.memory_allocated(),
        "device": control.memory(),
        "executors": control.live_executors(),
    }
"""

# The network of mindspore-tanhbw train.
TRAINING = """
class Tanh(nn.Cell):
    def construct(self, x):
        return tanh(x)

ms.set_seed(1)
rng = np.random.default_rng(1)
net = nn.SequentialCell(nn.Dense(64, 48), Tanh(), nn.Dense(48, 32), Tanh(), nn.Dense(32, 10))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
train = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
images = Tensor(rng.normal(size=(64, 64)).astype(np.float32))
labels = Tensor(rng.integers(0, 10, 64).astype(np.int32))
results = []

def step():
    results.append(float(train(images, labels).asnumpy()))

step()
step()
"""

CHAIN = """
class Chain(nn.Cell):
    def construct(self, x):
        for _ in range(20):
            x = tanh(x)
        return x

differentiate = ms.grad(Chain())
x = Tensor(np.full((512, 512), 0.5, np.float32))
results = []

def step():
    results.append(float(differentiate(x).asnumpy()[0, 0]))

step()
step()
"""


ROUTES = {
    "bound": {"tanh": "ops.tanh", "bind": "tbw.bind()"},
    "alone": {"tanh": "tbw.tanh"},
}
EVERYTHING = "{**cost(step), **memory(step), 'results': results}"
own_costs = {}


@pytest.fixture
def costs(traced):
    # Blocking: else it is chance who comes first, the frees or the next allocation, and one step peaks now so, now so.
    def run(body, mode, tanh, bind="", blocking=True, figures=EVERYTHING):
        start = f"{bind}\ntanh, BLOCKING = {tanh}, {blocking}\n"
        printed, calls = traced(f"{start}{COST}{body}print(json.dumps({figures}))\n", mode)
        return json.loads(printed), {one["caller"] for one in calls}

    return run


def compare(costs, body, mode, route):
    if (body, mode) not in own_costs:
        own_costs[body, mode] = costs(body, mode, tanh="ops.tanh")
    (own, own_callers), (ours, our_callers) = own_costs[body, mode], costs(body, mode, **ROUTES[route])
    assert "aclnnTanhBackward" in dict(own["launches"]) and own["copies"]
    assert not own_callers & our_callers, "the two gradients call the kernel from different places"
    # Fewer when the package plans its launches anew and keeps no executor.
    assert ours.pop("executors") <= own["executors"]
    for figure in ours:
        assert ours[figure] == own[figure], figure


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("route", ROUTES)
def test_a_training_step_costs_the_same(costs, mode, route):
    compare(costs, TRAINING, mode, route)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("route", ROUTES)
def test_a_chain_of_20_costs_the_same(costs, mode, route):
    compare(costs, CHAIN, mode, route)


@pytest.mark.parametrize("route", ROUTES)
def test_no_asynchronous_step_peaks_higher(costs, route):
    highest = "max(memory(step)['peak'] for _ in range(10))"
    own, _ = costs(CHAIN, "PYNATIVE", tanh="ops.tanh", figures="memory(step)['peak']")
    ours, calls = costs(CHAIN, "PYNATIVE", **ROUTES[route], blocking=False, figures=highest)
    assert calls and ours <= own


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("route", ROUTES)
def test_a_thousand_steps_leave_nothing_behind(costs, mode, route):
    body = """
class Net(nn.Cell):
    def construct(self, x):
        return tanh(x)

differentiate = ms.grad(Net())

def held(steps):
    for _ in range(steps):
        result = differentiate(Tensor(Y))
    result.asnumpy()
    ms.runtime.synchronize()
    return [control.live_executors(), ms.runtime.memory_allocated(), control.memory()]

"""
    (few, many), callers = costs(body, mode, **ROUTES[route], blocking=False, figures="[held(10), held(1000)]")
    assert callers and many == few
