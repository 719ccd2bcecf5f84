"""Long runs: memory, caches and the simulator's counts stay flat."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
from pathlib import Path

import pytest

from cann_sim.environment import environment

MIB = 1 << 20
PROGRAM = """
import gc, os
import mindspore as ms, numpy as np
from mindspore import Tensor, nn, ops
import mindspore_tanhbw as tbw
from resident import memory
ms.set_context(mode=ms.{mode}_MODE)

class Net(nn.Cell):
    def construct(self, x): return tbw.tanh(x)

x, y = Tensor(np.full(64, 0.5, np.float32)), Tensor(np.full(64, 0.25, np.float32))
gradient = ms.grad(Net())

def calls(count):
    for number in range(count):
        result = gradient(x)
        if number % 100 == 99: result.asnumpy()
    result.asnumpy()

calls({warm})
before, memory_before = tbw.launch_count(), memory()
calls({count})
print(tbw.launch_count() - before, memory() - memory_before)
"""
RESIDENT = """
import gc, os
def memory():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""


def files(folder):
    return sorted(str(path) for path in Path(folder).rglob("*"))


@pytest.mark.long
@pytest.mark.parametrize("mode", ["PYNATIVE", "GRAPH"])
def test_memory_over_100000_gradients(run_python, tmp_path, mode):
    run(run_python, tmp_path, mode, 20_000, 100_000)


@pytest.mark.parametrize("mode", ["PYNATIVE", "GRAPH"])
def test_memory_over_5000_gradients(run_python, tmp_path, mode):
    run(run_python, tmp_path, mode, 5_000, 5_000)


def run(run_python, tmp_path, mode, warm, count):
    (tmp_path / "resident.py").write_text(RESIDENT)
    text = PROGRAM.format(mode=mode, warm=warm, count=count)
    cache = os.environ.get("MINDSPORE_TANHBW_CACHE") or Path("~/.cache/mindspore_tanhbw").expanduser()
    run_python(PROGRAM.format(mode=mode, warm=1, count=1))
    before = files(cache)
    launches, growth = map(int, run_python(text).split())
    assert launches == count
    # A lost tensor a call would be 25 MiB in 100,000 calls, and a lost Python object 5 MiB.
    assert growth < 4 * MIB, f"{growth / MIB:.1f} MiB more after {count} gradients"
    assert files(cache) == before


ASCEND = """
import mindspore as ms, numpy as np
from mindspore import Tensor, nn
import mindspore_tanhbw as tbw
from cann_sim import control
ms.set_device("Ascend")
ms.set_context(mode=ms.{mode}_MODE, jit_config={{"jit_level": "O0"}})

class Net(nn.Cell):
    def construct(self, x): return tbw.tanh(x)

x = Tensor(np.full(64, 0.5, np.float32))
gradient = ms.grad(Net())

def calls(count):
    for _ in range(count): result = gradient(x)
    return result.asnumpy()

calls(100)
before = control.counts()["aclnnTanhBackward"], control.memory()[0], control.live_executors()
calls({count})
after = control.counts()["aclnnTanhBackward"], control.memory()[0], control.live_executors()
print(*(b - a for a, b in zip(before, after)))
"""


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", ["PYNATIVE", "GRAPH"])
def test_simulated_ascend(run_python, mode, count):
    variables = environment()
    variables["PYTHONPATH"] = f"{Path(__file__).parent}:{variables['PYTHONPATH']}"
    assert run_python(ASCEND.format(mode=mode, count=count), **variables).split() == [str(count), "0", "0"]
