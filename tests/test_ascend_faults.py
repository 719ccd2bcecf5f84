"""Every CANN call that a backward step makes fails once: an exception names it, and the next step is right."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json

import pytest

FAULTS = """
import json
from cann_sim import control
from mindspore import Parameter

W = np.array([[0.5, -1.0, 0.25]], np.float32)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(W))

    def construct(self, x):
        return tanh(x * self.weight)

net = Net()
differentiate = ms.value_and_grad(net, None, net.trainable_params())
rows = 0

def step():
    x = np.resize(G, (rows, 3)) / 4
    value, gradient = differentiate(Tensor(x))
    gradient = gradient[0] if isinstance(gradient, (tuple, list)) else gradient
    y = np.tanh(x * W)
    np.testing.assert_allclose(value.asnumpy(), y, rtol=1e-5)
    np.testing.assert_allclose(gradient.asnumpy(), ((1 - y * y) * x).sum(0, keepdims=True), rtol=1e-5)

def unseen():
    global rows
    rows += 1  # a shape for which nothing is compiled and no executor made

def calls_of_a_step():
    # Each with its first, second and last occurrence.
    before = control.counts()
    step()
    times = {name: count - before.get(name, 0) for name, count in control.counts().items()}
    # MindSpore polls this one in a thread of its own.
    times.pop("aclrtProcessReport", None)
    return sorted((name, nth) for name, count in times.items() for nth in {1, 2, count} if 0 < nth <= count)

def attempt():
    try:
        step()
        return "right"
    except Exception as error:
        message = str(error)
    try:
        ms.runtime.synchronize()  # asynchronous PyNative mode: what else the failed step left in the queues
    except Exception:
        pass
    return message

def recover():
    # Graph mode keeps a graph whose run failed, and never runs it again.
    if ms.get_context("mode") == ms.GRAPH_MODE:
        ms.ms_memory_recycle()

def held():
    ms.runtime.synchronize()
    return [ms.runtime.memory_allocated(), control.memory()]

def planned(call):
    return call.startswith("aclCreate") or call.endswith("GetWorkspaceSize")

def fault(call, nth, seen):
    unseen()
    if seen:
        step()
    control.fail(call, 507899, nth)
    before = control.counts().get(call, 0)
    what = attempt()
    happened = control.counts().get(call, 0) - before >= nth
    control.clear_failures()
    then = attempt()
    recover()
    last = attempt()
    after = held()
    recover()
    step()  # the same without a fault
    return dict(call=call, nth=nth, happened=happened, seen=seen, planned=planned(call),
                what=what, then=then, last=last, lost=after != held())

unseen()
step()  # what only the first step of a process does
unseen()
unseen_calls, seen_calls = calls_of_a_step(), calls_of_a_step()
some = GRAPH_SOME
results = [
    fault(call, nth, seen)
    for seen, calls in ((False, unseen_calls), (True, seen_calls))
    for call, nth in calls
    if not some or planned(call) or (seen and call in some)
]
print(json.dumps(results))
"""

ROUTES = {"alone": "tanh = tbw.tanh\n", "bound": "tbw.bind()\ntanh = ops.tanh\n"}
# Nobody looks at the status: of a callback that only frees, of a destructor. An executor that cannot be made repeatable
# is made anew.
HARMLESS = {"aclrtLaunchCallback", "aclDestroyTensor", "aclSetAclOpExecutorRepeatable"}
REFUSED = "Invalid output number for flatten stub output nodes"
COPY_FAILED = "Copy data failed."
CONSEQUENCE = "The device memory is null"


def names(one):
    # What aclCreateTensor and its like return is a pointer, without a status.
    return one["call"] in one["what"] and ("507899" in one["what"] or one["call"].startswith("aclCreate"))


# MindSpore sleeps for 3 seconds whenever the run of a graph fails.
CASES = [
    ("alone", "PYNATIVE", ""),
    ("bound", "PYNATIVE", ""),
    ("alone", "PYNATIVE", "blocking"),
    ("bound", "PYNATIVE", "blocking"),
    ("bound", "GRAPH", "some"),
    pytest.param("alone", "GRAPH", "", marks=pytest.mark.long),
    pytest.param("bound", "GRAPH", "", marks=pytest.mark.long),
]


@pytest.mark.parametrize("route,mode,how", CASES)
def test_every_call_of_a_step_fails_once(traced, route, mode, how):
    some = ["aclnnTanhBackward", "aclrtSynchronizeStreamWithTimeout"] if how == "some" else []
    start = "ms.runtime.launch_blocking()\n" if how == "blocking" else ""
    printed, _ = traced(start + ROUTES[route] + FAULTS.replace("GRAPH_SOME", repr(some)), mode)
    faults = json.loads(printed)
    assert {"aclCreateTensor", "aclnnTanhBackwardGetWorkspaceSize", "aclnnTanhBackward"} <= {
        one["call"] for one in faults
    }
    for one in faults:
        # Asynchronously a step waits now once more and now once less.
        assert one["happened"] or (one["nth"] > 1 and "Synchronize" in one["call"]), one
        if one["call"] in HARMLESS or not one["happened"]:
            assert one["what"] == "right", one
        elif mode == "PYNATIVE" and how != "blocking":
            # Here a failed plan may be overtaken by its consequence, with MindSpore's own gradient as well.
            assert names(one) or one["what"].startswith(CONSEQUENCE), one
        else:
            # A copy between the graph's nodes says that it failed, and not why.
            copying = mode == "GRAPH" and one["nth"] > 1 and one["call"] == "aclrtSynchronizeDeviceWithTimeout"
            assert names(one) or (copying and one["what"].startswith(COPY_FAILED)), json.dumps(one)
        if mode == "GRAPH" and not one["planned"] and one["call"] not in HARMLESS and one["happened"]:
            # The last may come after the run, when the result is fetched.
            assert one["then"].startswith(REFUSED) or (one["nth"] > 1 and one["then"] == "right"), one
        else:
            assert one["then"] == "right", one
        assert one["last"] == "right" and not one["lost"], one
