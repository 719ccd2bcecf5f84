# The call sample compiles against the simulated CANN, prints the right numbers, and gives everything back.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
from pathlib import Path

import pytest

from cann_sim.environment import environment

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    build = tmp_path_factory.mktemp("sample")
    subprocess.run(["make", "-s", "-f", EXAMPLES / "aclnn_tanh_backward.mk", f"BUILD={build}", "CXXFLAGS=-O1 -Wall -Werror"],
                   check=True, env=environment())
    return build / "aclnn_tanh_backward"


def run(program, trace, **options):
    done = subprocess.run([program], capture_output=True, text=True, env=environment(trace=trace, **options), timeout=60)
    lines = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
    return done, lines


@pytest.mark.parametrize("workspace", [None, 1, 4096])
def test_the_sample_prints_the_gradients(program, tmp_path, workspace):
    done, lines = run(program, tmp_path / "trace.jsonl", workspace=workspace)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0 0 -9 -12 -15 -48 -56\n", "")
    assert [line["phase"] for line in lines if line["call"] == "aclnnTanhBackward"] == [1, 2]
    assert [line["bytes"] for line in lines if line["call"] == "aclrtMalloc"] == [32] * 3 + [workspace] * bool(workspace)
    assert lines[-1]["current"] == 0


CALLS = ["aclInit", "aclrtSetDevice", "aclrtCreateContext", "aclrtMalloc", "aclrtMalloc=207001@3", "aclrtMemcpy",
         "aclrtMemcpy=507899@4", "aclCreateTensor", "aclCreateTensor=1@2", "aclnnTanhBackwardGetWorkspaceSize",
         "aclrtMalloc=207001@4", "aclrtCreateStream", "aclnnTanhBackward", "aclrtSynchronizeStream"]


@pytest.mark.parametrize("call", CALLS)
def test_the_sample_names_the_call_that_failed_and_frees_all_memory(program, tmp_path, call):
    done, lines = run(program, tmp_path / "trace.jsonl", workspace=64, fail=call if "=" in call else call + "=507899")
    assert done.returncode == 1 and done.stdout == ""
    assert call.split("=")[0] in done.stderr
    memory = [line["current"] for line in lines if line["call"] in ("aclrtMalloc", "aclrtFree")]
    assert not memory or memory[-1] == 0


def test_the_makefile_says_what_is_missing(tmp_path):
    env = {name: value for name, value in environment().items() if name != "ASCEND_TOOLKIT_HOME"}
    done = subprocess.run(["make", "-f", EXAMPLES / "aclnn_tanh_backward.mk"], capture_output=True, text=True, env=env,
                          cwd=tmp_path)
    assert done.returncode != 0 and "ASCEND_TOOLKIT_HOME is not set" in done.stderr
