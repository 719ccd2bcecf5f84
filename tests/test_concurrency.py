"""Threads that call and bind at once; processes that start by fork or spawn, and that fill an empty cache together."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import sys

import pytest

import mindspore_tanhbw

# In processes of their own: a test that hangs ends by its time limit.
THREADS = """
import threading, time
import mindspore as ms, numpy as np
from mindspore import Tensor, nn, ops
import mindspore_tanhbw as tbw
ms.set_context(mode=ms.{mode}_MODE)

class Net(nn.Cell):
    def construct(self, x): return ops.tanh(x)

def calls(number):
    "The operator in many threads at once."
    rng = np.random.default_rng(number)
    for _ in range({calls}):
        g, y = (rng.normal(size=(number + 1, 97)).astype(np.float32) for _ in "gy")
        result = tbw.tanh_backward(Tensor(g), Tensor(y)).asnumpy()
        np.testing.assert_allclose(result, g * (1 - y * y), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(tbw.tanh(Tensor(y)).asnumpy(), np.tanh(y), rtol=0, atol=1e-4)

def gradients():
    "MindSpore differentiates in one thread at a time."
    x = np.linspace(-2, 2, 31, dtype=np.float32)
    gradient, expected = ms.grad(Net()), 1 - np.tanh(x) ** 2
    while not done.is_set():
        np.testing.assert_allclose(gradient(Tensor(x)).asnumpy(), expected, rtol=0, atol=1e-3)

def binds():
    while not done.is_set():
        with tbw.bound():
            pass
        with tbw.bound(Net()) as report:
            assert int(report) == 1

def guarded(work, *arguments):
    try:
        work(*arguments)
    except BaseException as error:
        failures.append(repr(error)[:500])

failures, done = [], threading.Event()
x = Tensor([0.0, 1.0])
tbw.tanh_backward(x, x), ms.grad(tbw.tanh)(x)
before = tbw.launch_count()
callers = [threading.Thread(target=guarded, args=(calls, number)) for number in range(6)]
others = [threading.Thread(target=guarded, args=(work,)) for work in {others}]
for thread in callers + others: thread.start()
for thread in callers: thread.join()
done.set()
for thread in others: thread.join()
launched = tbw.launch_count() - before
alone = tbw.launch_count()
result = ms.grad(Net())(x).asnumpy()
print(failures, launched >= 6 * {calls}, tbw.is_bound(), tbw.launch_count() - alone, result.round(3))
"""
FINE = "[] True False 0 [1.   0.42]\n"


def test_threads_in_pynative_mode(run_python):
    others = "(gradients, binds, binds)"
    assert run_python(THREADS.format(mode="PYNATIVE", calls=150, others=others)) == FINE


FIRST_CALLS = """
import threading
import mindspore as ms
from mindspore import Tensor, nn
import mindspore_tanhbw as tbw
start, counts = threading.Barrier(8), []

def first(number):
    start.wait()
    if number % 2:
        with tbw.bound(nn.SequentialCell(nn.Tanh())) as report:
            counts.append(int(report))
    else:
        y = tbw.tanh_backward(Tensor([float(number)]), Tensor([0.5]))
        counts.append(float(y.asnumpy()[0]))

threads = [threading.Thread(target=first, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(counts), tbw.launch_count())
"""


def test_first_calls_of_a_process_in_eight_threads(run_python):
    assert run_python(FIRST_CALLS) == "[0.0, 1, 1, 1, 1, 1.5, 3.0, 4.5] 4\n"


PROCESSES = """
import multiprocessing, sys
import mindspore as ms
from mindspore import Tensor, nn, ops
import mindspore_tanhbw as tbw
method, mode, used, function = sys.argv[1:]
ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)

class Ours(nn.Cell):
    def construct(self, x): return tbw.tanh(x)

class Own(nn.Cell):
    def construct(self, x): return ops.tanh(x)

def gradient():
    return ms.grad(Ours() if function == "tbw" else Own())(Tensor([0.0, 1.0])).asnumpy().round(3)

def child():
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    print(gradient(), tbw.launch_count(), flush=True)

if __name__ == "__main__":
    if used == "used":
        gradient()
    process = multiprocessing.get_context(method).Process(target=child)
    process.start()
    process.join(8 if used == "used" and method == "fork" else 100)
    if process.is_alive():
        print("hangs", flush=True)
        process.kill()
    process.join()
    print(gradient(), tbw.launch_count())
"""


def processes(tmp_path, *arguments):
    program = tmp_path / "program.py"
    program.write_text(PROCESSES)
    done = subprocess.run(
        [sys.executable, str(program), *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["pynative", "graph"])
def test_spawn(tmp_path, name):
    assert processes(tmp_path, "spawn", name, "used", "tbw") == ["[1.   0.42] 1", "[1.   0.42] 2"]


@pytest.mark.parametrize("name", ["pynative", "graph"])
def test_fork_before_use(tmp_path, name):
    assert processes(tmp_path, "fork", name, "unused", "tbw") == ["[1.   0.42] 1", "[1.   0.42] 1"]


@pytest.mark.parametrize("name", ["pynative", pytest.param("graph", marks=pytest.mark.long)])
def test_fork_after_use_is_as_without_the_operator(tmp_path, name):
    """MindSpore's own threads are not in the child; 2.10 waits for them for ever."""
    ours, own = (processes(tmp_path, "fork", name, "used", function) for function in ("tbw", "own"))
    assert (ours[0] == "hangs") == (own[0] == "hangs")
    assert ours[-1] == "[1.   0.42] 2"


# The cache's own code without MindSpore, whose import takes longer than such a build.
COLD = """
import sys, types
package = types.ModuleType("mindspore_tanhbw")
package.__path__ = [sys.argv[1]]
sys.modules["mindspore_tanhbw"] = package
import ctypes
from mindspore_tanhbw._compiler import build_library
path = build_library("answer.so", 'extern "C" int answer() { return 42; }', ["-shared", "-fPIC"])
print(ctypes.CDLL(str(path)).answer(), path)
"""


@pytest.mark.parametrize("rounds", [2, pytest.param(50, marks=pytest.mark.long)])
def test_sixteen_processes_from_an_empty_cache(tmp_path, rounds):
    compiler, log = tmp_path / "compiler", tmp_path / "log"
    compiler.write_text(f'#!/bin/sh\necho >> {log}\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    folder = os.path.dirname(mindspore_tanhbw.__file__)
    for number in range(rounds):
        cache = tmp_path / f"cache{number}"
        environment = {**os.environ, "MINDSPORE_TANHBW_CACHE": str(cache), "CXX": str(compiler)}
        started = [
            subprocess.Popen(
                [sys.executable, "-c", COLD, folder],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for _ in range(16)
        ]
        printed = {process.communicate(timeout=120)[0] for process in started}
        assert len(printed) == 1 and printed.pop().startswith("42 "), printed
        assert len(log.read_text()) == number + 1, "compiled once a round"


@pytest.mark.long
def test_sixteen_processes_compile_the_operator_once(tmp_path):
    """The same with the libraries that MindSpore needs, one round: each takes 15 s to compile."""
    program = tmp_path / "program.py"
    program.write_text(
        "import mindspore as ms, mindspore_tanhbw as tbw\n"
        "print(ms.grad(tbw.tanh)(ms.Tensor([0.0, 0.0])), tbw.launch_count())\n"
    )
    environment = {**os.environ, "MINDSPORE_TANHBW_CACHE": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, str(program)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(16)
    ]
    for process in started:
        out, error = process.communicate(timeout=300)
        assert out == "[1. 1.] 1\n", error
    assert not [name for name in os.listdir(tmp_path / "cache") if name.startswith("building-")]


BINDS_WHILE_COMPILING = """
import threading
import mindspore as ms
from mindspore import Tensor, nn, ops
import mindspore_tanhbw as tbw
ms.set_context(mode=ms.GRAPH_MODE)

class Net(nn.Cell):
    def construct(self, x): return ops.tanh(x)

one_at_a_time, launches = threading.Lock(), []
x = Tensor([0.0, 1.0])

def work():
    for _ in range(15):
        with one_at_a_time:
            before = tbw.launch_count()
            with tbw.bound():
                ms.grad(Net())(x).asnumpy()
            launches.append(tbw.launch_count() - before)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(launches), set(launches), tbw.is_bound())
"""


def test_threads_in_graph_mode_one_at_a_time(run_python):
    """Binding makes MindSpore forget its graphs, which another thread must not compile meanwhile."""
    assert run_python(BINDS_WHILE_COMPILING) == "45 {1} False\n"
