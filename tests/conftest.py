"""Fixtures: MindSpore's two modes, bodies that run in a process of their own, and the Ascend device that is meant."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import sys

import mindspore
import pytest

from cann_sim.environment import environment
from traces import launches


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        choices=["simulated", "Ascend"],
        default="simulated",
        help="what the Ascend tests run on: the CANN simulator (default), or the CANN of this machine",
    )


def pytest_collection_modifyitems(config, items):
    if config.getoption("--device") != "Ascend":
        return
    left_out = [one for one in items if "traced" in one.fixturenames or one.path.name.startswith("test_sim_")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [one for one in items if one not in left_out]
    config.stash[LEFT_OUT] = len(left_out)


LEFT_OUT = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter, config):
    if config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"--device Ascend: {config.stash[LEFT_OUT]} tests deselected, which need the simulator's trace or faults"
        )


@pytest.fixture(params=["pynative", "graph"])
def mode(request):
    """Each test once in PyNative mode and once in Graph mode."""
    value = mindspore.PYNATIVE_MODE if request.param == "pynative" else mindspore.GRAPH_MODE
    mindspore.set_context(mode=value)
    yield request.param
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Each test starts in an empty current folder: what it leaves there can be seen."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run_python(tmp_path):
    """Run a program's text in a process of its own, in tmp_path; it must succeed. Returns what it printed."""

    def run(text, **environment):
        # Graph mode reads the source of what it compiles: a file, not -c.
        program = tmp_path / "program.py"
        program.write_text(text)
        done = subprocess.run(
            [sys.executable, str(program)],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            cwd=tmp_path,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


ASCEND = """
import sys
sys.path.append({tests!r})
import numpy as np, mindspore as ms
from mindspore import Tensor, mint, nn, ops
import mindspore_tanhbw as tbw
ms.set_device("Ascend")
ms.set_context(mode=ms.{mode}_MODE, jit_config={{"jit_level": "O0"}})
G = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
SIMULATED = {simulated}
Y = np.array([[0.5, 0.25, 0.0], [-0.5, 1.0, 2.0]], np.float32)

class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)

def gradient(net):
    return ops.GradOperation(sens_param=True)(net)(Tensor(Y), Tensor(G)).asnumpy()
"""


@pytest.fixture
def simulated(request):
    """Whether the Ascend tests run on the simulator."""
    return request.config.getoption("--device") == "simulated"


@pytest.fixture
def on_ascend(run_python, simulated):
    """Run a body on Ascend, the simulated one or with --device Ascend the real one; returns what it printed."""

    def run(body, mode="PYNATIVE", variables=None, **options):
        variables = {**(environment(**options) if simulated else {}), **(variables or {})}
        start = ASCEND.format(tests=os.path.dirname(__file__), mode=mode, simulated=simulated)
        return run_python(start + body, **variables)

    return run


@pytest.fixture
def traced(on_ascend, tmp_path):
    """Run a body on simulated Ascend; returns what it printed and the launches of the kernel."""

    def run(body, mode="PYNATIVE", **options):
        trace = tmp_path / "trace"
        trace.unlink(missing_ok=True)
        printed = on_ascend(body, mode, trace=trace, **options)
        return printed, launches(trace)

    return run
