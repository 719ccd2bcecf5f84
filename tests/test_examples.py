"""The programs in docs/examples: they train as well bound as unbound, the operator runs, and they say so if not."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cann_sim.environment import environment

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
STEPS = 4
TIMES = 24
"""The recurrent network's time steps."""
LAUNCHES = {
    ("rnn_language_model", "graph"): STEPS * TIMES,
    ("gan_digits", "pynative"): STEPS,
    ("pinn_poisson", "pynative"): None,
    ("pinn_poisson", "graph"): None,
}
"""What the operator does in so many steps; None: more than once for each step and Tanh, MindSpore decides."""


def example(name, *arguments, **environ):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), "--steps", str(STEPS), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\r" not in done.stderr, "progress is for terminals"
    rows = re.findall(r"^\d+( +[\d.]+)+$", done.stdout, re.M)
    assert len(rows) == STEPS
    return done.stdout


@pytest.mark.parametrize("name, mode", LAUNCHES)
def test_example(tmp_path, name, mode):
    printed = example(name, "--device", "CPU", "--mode", mode, "--plot", "plot.svg")
    bound, unbound = re.search(r"launches: (\d+) bound .*, (\d+) unbound", printed).groups()
    assert int(unbound) == 0
    expected = LAUNCHES[name, mode]
    assert int(bound) == expected if expected else int(bound) > 2 * STEPS
    assert os.listdir(tmp_path) == ["plot.svg"]
    plot = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert plot.startswith("<?xml") and plot.rstrip().endswith("</svg>")
    # matplotlib writes each text beside the outlines that it draws it with.
    for text in ("training step", "loss", "unbound", "bound"):
        assert re.search(rf"<!-- [^>]*{text}[^>]* -->", plot)


@pytest.mark.parametrize(
    "name, mode", [("pinn_poisson", "graph"), ("rnn_language_model", "graph"), ("gan_digits", "pynative")]
)
def test_example_on_ascend(tmp_path, name, mode):
    trace = tmp_path / "trace"
    example(name, "--device", "Ascend", "--mode", mode, **environment(trace=trace))
    calls = map(json.loads, trace.read_text().splitlines())
    callers = [one["caller"] for one in calls if one["call"] == "aclnnTanhBackward" and one["phase"] == 2]
    ours = [one.startswith(("aclnn_callback.so", "runner.so")) for one in callers]
    first = ours.index(True)
    assert first > 0 and not any(ours[:first]) and all(ours[first:]), "unbound first, then bound"


FAILURES = """
import sys
sys.path.insert(0, {folder!r})
import comparison, mindspore, mindspore_tanhbw as tbw
from mindspore import Tensor, ops

def without_tanh(steps, show):
    return {{"loss": [1.0] * steps}}, None

def other_when_bound(steps, show):
    for _ in range(steps):
        mindspore.grad(ops.tanh)(Tensor([1.0])).asnumpy()
    return {{"loss": [1.01 if tbw.is_bound() else 1.0] * steps}}, None

def same(steps, show):
    for _ in range(steps):
        mindspore.grad(ops.tanh)(Tensor([1.0])).asnumpy()
    return {{"loss": [1.0] * steps}}, None

sys.argv[1:] = ["--device", "CPU"]
for train in (without_tanh, other_when_bound, same):
    print("exit code", comparison.run("Three steps", train, 3, lambda steps: steps, None))
"""


def test_a_failure_is_an_exit_code(run_python):
    printed = run_python(FAILURES.format(folder=str(EXAMPLES)))
    assert re.findall(r"exit code (\d)", printed) == ["1", "1", "0"]
