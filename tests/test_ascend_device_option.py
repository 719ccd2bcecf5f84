"""pytest --device Ascend takes the CANN that it finds, and leaves out what only the simulator can show."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import re
import subprocess
import sys
from pathlib import Path

from cann_sim.environment import environment
from traces import launches

TESTS = Path(__file__).resolve().parent


def test_the_ascend_tests_run_on_the_cann_of_the_machine(tmp_path):
    trace = tmp_path / "trace"
    # The simulator stands in for the machine's CANN, set from outside, as set_env.sh would. A test that set it once
    # more would write no trace there.
    command = [sys.executable, "-m", "pytest", "-q", "--device", "Ascend", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, TESTS / "test_ascend.py", "-k", "dynamic or one_launch"],
        capture_output=True,
        text=True,
        env=environment(trace=trace),
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"--device Ascend: \d+ tests deselected, which need the simulator", done.stdout)
    assert re.search(r"2 passed, \d+ deselected", done.stdout)
    assert [one["inputs"][0]["shape"] for one in launches(trace)] == [[1, 3], [2, 3]] * 2
