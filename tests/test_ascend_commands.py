"""The commands on Ascend: train follows the CPU, check passes, both run the operator and MindSpore's gradient."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import subprocess
import sys

import pytest

from traces import launches

COMMAND = """
import subprocess
command = [sys.executable, "-m", "mindspore_tanhbw", *{arguments!r}]
sys.exit(subprocess.run(command, stdout=subprocess.DEVNULL).returncode)
"""


def split(calls, size):
    """The callers in turn: of the operator, of MindSpore's own gradient."""
    blocks = [{one["caller"] for one in calls[i : i + size]} for i in range(0, len(calls), size)]
    return set().union(*blocks[::2]), set().union(*blocks[1::2])


def test_train_follows_the_cpu(on_ascend, simulated, tmp_path):
    arguments = ["train", "--epochs", "2", "--json", "figures.json"]
    curves = {}
    subprocess.run([sys.executable, "-m", "mindspore_tanhbw", *arguments, "--device", "CPU"], check=True, timeout=300)
    for one in json.loads((tmp_path / "figures.json").read_text()):
        curves["CPU", one["mode"]] = one["operator"]["loss"]
    (tmp_path / "figures.json").unlink()
    trace = tmp_path / "trace"
    on_ascend(COMMAND.format(arguments=[*arguments, "--device", "Ascend"]), trace=trace)
    for one in json.loads((tmp_path / "figures.json").read_text()):
        # Two epochs of 22 steps; measured 1.8e-7, and float32 rounds to 1.2e-7.
        assert one["operator"]["loss"] == pytest.approx(curves["CPU", one["mode"]], rel=1e-6 if simulated else 1e-3)
        if simulated:
            assert one["operator"]["loss"] == one["own"]["loss"], "the same kernel"
    if simulated:
        calls = launches(trace)
        assert len(calls) == 2 * 2 * 2 * 22 * 2
        ours, own = split(calls, 2 * 22 * 2)
        assert not ours & own


def test_check_passes(on_ascend, simulated, tmp_path):
    """It counts the operator's own runs; that the count is of the right calls, the callers in the trace show."""
    trace = tmp_path / "trace"
    on_ascend(COMMAND.format(arguments=["check", "--device", "Ascend", "--json", "figures.json"]), trace=trace)
    rows = json.loads((tmp_path / "figures.json").read_text())
    assert len(rows) == 2 * (4 * 2 + 17)
    assert all(row.get("launches", row.get("bound")) > 0 and not row["failed"] for row in rows)
    if simulated:
        callers = {one["caller"].split("+")[0] for one in launches(trace)}
        assert {"runner.so", "aclnn_callback.so"} < callers
