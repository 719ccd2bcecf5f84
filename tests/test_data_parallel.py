"""Many processes: data-parallel training of a bound network equals one process with the whole batch."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import mindspore
import numpy as np
import psutil
import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "data-parallel.md").read_text(encoding="utf-8")
COMMAND = re.search(r"^(GLOG_v=3) (msrun --worker_num=2 --local_worker_num=2 .*)$", PAGE, re.MULTILINE)
BATCH, STEPS, TANH_LAYERS = 64, 10, 2


@pytest.fixture
def run(tmp_path):
    """Run one of the page's commands as in a clone; it must succeed. Returns what it printed."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def command(words, **environ):
        environ = {**os.environ, "PATH": path, **environ}
        process = subprocess.Popen(
            words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path
        )
        try:
            printed, _ = process.communicate(timeout=280)
        except subprocess.TimeoutExpired:
            # msrun's workers outlive it.
            for one in [*psutil.Process(process.pid).children(recursive=True), process]:
                one.kill()
            raise
        assert process.returncode == 0, printed
        return printed

    return command


def together(run, folder, workers, *arguments, **environ):
    """The page's command with so many workers, at a port of its own. Returns what they printed."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    msrun, *rest = shlex.split(COMMAND[2].replace("worker_num=2", f"worker_num={workers}"))
    variable, value = COMMAND[1].split("=")
    run([msrun, f"--master_port={port}", *rest, *arguments], **{variable: value}, **environ)
    # msrun stops showing the logs when the processes end, be it in the middle of a line.
    return "".join((folder / "logs" / f"worker_{rank}.log").read_text(encoding="utf-8") for rank in range(workers))


def alone(run, *arguments):
    return run([sys.executable, "docs/examples/data_parallel.py", *arguments])


def losses(text):
    return [float(one) for one in re.findall(r"^step .* loss (\S+)$", text, re.MULTILINE)]


def shares(text):
    """Rank, processes, digits a step and operator launches, of each process."""
    line = r"^rank (\d+) of (\d+): (\d+) digits a step, (\d+) operator launches$"
    return sorted(tuple(map(int, one)) for one in re.findall(line, text, re.MULTILINE))


def weights(file):
    return {name: value.asnumpy() for name, value in mindspore.load_checkpoint(str(file)).items()}


def assert_same_training(folder, workers, printed, printed_alone):
    """All processes ran the operator on their share, and have what one process with the whole batch has."""
    assert shares(printed_alone) == [(0, 1, BATCH, STEPS * TANH_LAYERS)]
    assert shares(printed) == [(n, workers, BATCH // workers, STEPS * TANH_LAYERS) for n in range(workers)]
    assert len(losses(printed)) == STEPS
    # Sums in another order; and the program prints six decimals.
    np.testing.assert_allclose(losses(printed), losses(printed_alone), rtol=1e-6)
    expected = weights(folder / "alone" / "rank_0.ckpt")
    assert len(expected) == 6
    for rank in range(workers):
        found = weights(folder / "together" / f"rank_{rank}.ckpt")
        assert found.keys() == expected.keys()
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-6, err_msg=f"{name} of {rank}")


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_two_processes_equal_one_with_the_double_batch(tmp_path, run, mode):
    printed = together(run, tmp_path, 2, "--mode", mode, "--save", "together")
    assert_same_training(tmp_path, 2, printed, alone(run, "--mode", mode, "--save", "alone"))
    assert sorted(os.listdir(tmp_path)) == ["alone", "docs", "logs", "together"]
    assert sorted(os.listdir(tmp_path / "logs")) == ["scheduler.log", "worker_0.log", "worker_1.log"]
    shown = re.search(r"^```\n(step .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert shares(shown) == shares(printed)
    np.testing.assert_allclose(losses(shown), losses(printed), rtol=1e-5)


@pytest.mark.long
def test_eight_processes_start_at_once_with_an_empty_cache(tmp_path, run):
    """They do not fail, and one of them compiles for all."""
    compiler, compiled, cache = tmp_path / "compiler", tmp_path / "compiled", tmp_path / "cache"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {compiled}\nexec {os.environ.get("CXX") or "g++"} "$@"\n')
    compiler.chmod(0o700)
    environ = {"CXX": str(compiler), "MINDSPORE_TANHBW_CACHE": str(cache)}
    printed = together(run, tmp_path, 8, "--save", "together", **environ)
    assert_same_training(tmp_path, 8, printed, alone(run, "--save", "alone"))
    libraries = sorted(one.name.rpartition("-")[0] for one in cache.iterdir() if one.suffix != ".lock")
    assert libraries in (["registry.so", "runner.so"], ["registry.so"]), "each once, and nothing half-built"
    assert sorted(re.findall(r" -o \S+/(\S+)", compiled.read_text())) == libraries, "each compiled once"
