# The simulator keeps CANN's protocol: wrong use gives the documented status and a message, never a crash.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import ctypes
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from ctypes import byref, c_int32, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest

from cann_sim import build
from cann_sim.build import cann_root
from cann_sim.client import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, Cann
from cann_sim.environment import environment
from mindspore_tanhbw import _cache

NULLPTR, INVALID, RUNTIME, INNER_NULLPTR = 161001, 161002, 361001, 561103
RT_PARAM, RT_CONTEXT, RT_MEMORY, RT_AICORE, RT_TIMEOUT = 107000, 107003, 207001, 507015, 507046
HERE = Path(__file__).resolve().parent
CALLBACK = ctypes.CFUNCTYPE(None, c_void_p)


@pytest.fixture(scope="module")
def cann():
    library = Cann(cann_root() / "lib64" / "libopapi.so")
    library.aclInit(None)
    assert library.aclrtSetDevice(0) == 0
    return library


@pytest.fixture
def pair(cann):
    return cann.tensor(np.ones((2, 3), np.float32)), cann.tensor(np.full((2, 3), 0.5, np.float32))


def zeros(cann, *shape, dtype=np.float32, code=None):
    return cann.tensor(np.zeros(shape, dtype), code)


def blocked(cann, stream):
    """Queues a task that holds the stream until the returned event is set."""
    gate = threading.Event()
    callback = CALLBACK(lambda _: gate.wait(20))
    assert cann.aclrtLaunchCallback(callback, None, c_int32(0), stream) == 0
    gate.callback = callback
    return gate


# Phase 1: the status codes of the operator's page.


@pytest.mark.parametrize("position,name", list(enumerate(["gradOutput", "output", "gradInput"])))
def test_a_null_tensor_gives_161001(cann, pair, position, name):
    arguments = [*pair, zeros(cann, 2, 3)]
    arguments[position] = None
    assert cann.plan("aclnnTanhBackward", *arguments)[0] == NULLPTR
    assert name in cann.message()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.bool_, np.uint8])
def test_a_dtype_outside_the_list_gives_161002(cann, dtype):
    assert cann.plan("aclnnTanhBackward", *(zeros(cann, 2, dtype=dtype) for _ in range(3)))[0] == INVALID
    assert dtype.__name__.rstrip("_") in cann.message()


@pytest.mark.parametrize("position", range(3))
def test_differing_dtypes_give_161002(cann, position):
    dtypes = [np.float32] * 3
    dtypes[position] = np.float16
    assert cann.plan("aclnnTanhBackward", *(zeros(cann, 2, dtype=dtype) for dtype in dtypes))[0] == INVALID
    assert "float16" in cann.message()


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize("shape", [(3, 2), (6,), (1, 3), (2, 1), ()])
def test_differing_shapes_give_161002_also_where_they_would_broadcast(cann, position, shape):
    shapes = [(2, 3)] * 3
    shapes[position] = shape
    assert cann.plan("aclnnTanhBackward", *(zeros(cann, *shape) for shape in shapes))[0] == INVALID
    assert "differ" in cann.message()


@pytest.mark.parametrize("rank", range(11))
def test_up_to_8_dimensions_are_taken(cann, rank):
    tensors = [zeros(cann, *[1] * rank) for _ in range(3)]
    assert cann.plan("aclnnTanhBackward", *tensors)[0] == (0 if rank <= 8 else INVALID)
    if rank > 8:
        assert f"{rank} dimensions" in cann.message()


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)])
def test_empty_tensors_are_taken(cann, shape):
    cann.run("aclnnTanhBackward", *(zeros(cann, *shape) for _ in range(3)))


def test_null_results_of_phase_1_give_161001(cann, pair):
    handles = [c_void_p(t.handle) for t in (*pair, zeros(cann, 2, 3))]
    size, executor = c_uint64(), c_void_p()
    assert cann.aclnnTanhBackwardGetWorkspaceSize(*handles, None, byref(executor)) == NULLPTR
    assert cann.aclnnTanhBackwardGetWorkspaceSize(*handles, byref(size), None) == NULLPTR


def test_a_destroyed_or_foreign_tensor_gives_161002(cann, pair):
    out = zeros(cann, 2, 3)
    assert cann.aclDestroyTensor(c_void_p(out.handle)) == 0
    assert cann.plan("aclnnTanhBackward", *pair, out)[0] == INVALID
    assert cann.aclDestroyTensor(c_void_p(out.handle)) == INVALID
    assert cann.plan("aclnnTanhBackward", *pair, cann.stream())[0] == INVALID


# Phase 2: executors, workspaces, streams.


def test_a_one_shot_executor_runs_once(cann, pair):
    out = zeros(cann, 2, 3)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.launch("aclnnTanhBackward", executor) == 0
    assert cann.launch("aclnnTanhBackward", executor) == INVALID
    assert "used or destroyed" in cann.message()
    assert cann.aclrtSynchronizeStream(None) == 0
    np.testing.assert_array_equal(out.numpy(), np.full((2, 3), 0.75, np.float32))


def test_a_null_destroyed_or_foreign_executor_is_refused(cann, pair):
    assert cann.launch("aclnnTanhBackward", None) == INNER_NULLPTR
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, zeros(cann, 2, 3))
    assert cann.launch("aclnnMul", executor) == INVALID
    assert "belongs to aclnnTanhBackward" in cann.message()
    assert cann.aclDestroyAclOpExecutor(executor) == 0
    assert cann.launch("aclnnTanhBackward", executor) == INVALID
    assert cann.aclDestroyAclOpExecutor(executor) == INVALID
    assert cann.launch("aclnnTanhBackward", cann.stream()) == INVALID
    assert cann.launch("aclnnTanhBackward", c_void_p(0x1234)) == INVALID


def test_a_repeatable_executor_runs_again_on_new_addresses(cann, pair):
    out, other_y, other_out = zeros(cann, 2, 3), cann.tensor(np.full((2, 3), 2, np.float32)), zeros(cann, 2, 3)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    y = c_void_p(pair[1].handle)
    assert cann.aclSetTensorAddr(executor, c_size_t(1), y, c_void_p(other_y.pointer)) == INVALID  # not repeatable yet
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.aclSetAclOpExecutorRepeatable(executor) == 0
    assert cann.launch("aclnnTanhBackward", executor) == 0
    assert cann.aclSetTensorAddr(executor, c_size_t(1), y, c_void_p(other_y.pointer)) == 0
    assert cann.aclSetTensorAddr(executor, c_size_t(2), c_void_p(out.handle), c_void_p(other_out.pointer)) == 0
    assert cann.launch("aclnnTanhBackward", executor) == 0
    assert cann.aclrtSynchronizeStream(None) == 0
    np.testing.assert_array_equal(out.numpy(), np.full((2, 3), 0.75, np.float32))
    np.testing.assert_array_equal(other_out.numpy(), np.full((2, 3), -3, np.float32))
    assert cann.aclDestroyAclOpExecutor(executor) == 0


def test_an_executor_whose_address_update_failed_does_not_run(cann, pair):
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, zeros(cann, 2, 3))
    cann.aclSetAclOpExecutorRepeatable(executor)
    stranger = zeros(cann, 2, 3)
    assert cann.aclSetTensorAddr(executor, c_size_t(0), c_void_p(stranger.handle), c_void_p(stranger.pointer)) == INVALID
    assert cann.launch("aclnnTanhBackward", executor) == INVALID
    assert "aclSetTensorAddr failed for this executor" in cann.message()
    assert cann.aclSetTensorAddr(executor, c_size_t(0), c_void_p(pair[0].handle), c_void_p(pair[0].pointer)) == 0
    assert cann.launch("aclnnTanhBackward", executor) == INVALID, "another tensor's update makes nothing good"
    assert cann.aclSetTensorAddr(None, c_size_t(0), c_void_p(pair[0].handle), None) == INNER_NULLPTR
    assert cann.aclSetTensorAddr(executor, c_size_t(0), None, None) == INNER_NULLPTR
    assert cann.aclSetTensorAddr(executor, c_size_t(3), c_void_p(pair[0].handle), None) == INVALID


def test_an_executor_runs_again_once_the_failed_address_update_was_repeated(cann, pair):
    out = zeros(cann, 2, 3)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    cann.aclSetAclOpExecutorRepeatable(executor)
    update = (executor, c_size_t(0), c_void_p(pair[0].handle), c_void_p(pair[0].pointer))
    assert cann.cann_sim_fail(b"aclSetTensorAddr=507899@1") == 0
    assert cann.aclSetTensorAddr(*update) == cann.launch("aclnnTanhBackward", executor) == 507899
    assert cann.aclSetTensorAddr(*update) == cann.launch("aclnnTanhBackward", executor) == 0
    assert cann.aclrtSynchronizeStream(None) == 0
    np.testing.assert_array_equal(out.numpy(), np.full((2, 3), 0.75, np.float32))
    assert cann.aclDestroyAclOpExecutor(executor) == 0


def test_tensors_may_be_destroyed_once_phase_2_returned(cann, pair):
    out, stream = zeros(cann, 2, 3), cann.stream()
    gate = blocked(cann, stream)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.launch("aclnnTanhBackward", executor, stream) == 0
    for tensor in (*pair, out):
        assert cann.aclDestroyTensor(c_void_p(tensor.handle)) == 0
    gate.set()
    assert cann.aclrtSynchronizeStream(stream) == 0
    np.testing.assert_array_equal(out.numpy(), np.full((2, 3), 0.75, np.float32))


def test_a_stale_or_foreign_stream_is_refused(cann, pair):
    stream = cann.stream()
    assert cann.aclrtDestroyStream(stream) == 0
    for bad in (stream, c_void_p(0x1000)):
        _, executor, _ = cann.plan("aclnnTanhBackward", *pair, zeros(cann, 2, 3))
        assert cann.launch("aclnnTanhBackward", executor, bad) == RUNTIME
        assert "not a live stream" in cann.message()
        assert cann.aclrtSynchronizeStream(bad) == RT_CONTEXT
        assert cann.aclrtMemcpyAsync(c_void_p(pair[0].pointer), c_size_t(4), c_void_p(pair[1].pointer), c_size_t(4),
                                     c_int32(DEVICE_TO_DEVICE), bad) == RT_CONTEXT
    assert cann.aclrtDestroyStream(stream) == RT_CONTEXT


WORKSPACE = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
from cann_sim.client import Cann
import os
cann = Cann(os.environ["CANN_SIM_LIBRARY"])
cann.aclInit(None), cann.aclrtSetDevice(0)
out = cann.tensor(np.zeros(3, np.float32))
def plan():
    x = [cann.tensor(np.full(3, v, np.float32)) for v in (2, 3)]
    status, executor, size = cann.plan("aclnnTanhBackward", *x, out)
    assert (status, size) == (0, {size}), (status, size)
    return executor
executor, block = plan(), cann.malloc({size})
assert cann.launch("aclnnTanhBackward", executor, None, None, {size}) == 161001
assert cann.launch("aclnnTanhBackward", executor, None, block, {size} - 1) == 161002
assert cann.launch("aclnnTanhBackward", executor, None, 4096, {size}) == 161002
assert cann.launch("aclnnTanhBackward", executor, None, block, {size}) == 0
assert cann.aclrtSynchronizeStream(None) == 0
assert (out.numpy() == -16).all()
assert (cann.download(block, {size}) == 0xdd).all()
"""


@pytest.mark.parametrize("size", [1, 512, 1 << 20])
def test_a_null_small_or_unallocated_workspace_is_refused_and_a_right_one_is_used(size):
    body = WORKSPACE.format(tests=str(HERE), size=size)
    subprocess.run([sys.executable, "-c", body], check=True, env=environment(workspace=size))


# Streams.


def test_streams_are_asynchronous_and_in_order(cann, pair):
    stream, out = cann.stream(), zeros(cann, 2, 3)
    gate = blocked(cann, stream)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.launch("aclnnTanhBackward", executor, stream) == 0
    assert not out.numpy().any()  # queued behind the callback
    assert cann.aclrtSynchronizeStreamWithTimeout(stream, c_int32(20)) == RT_TIMEOUT
    gate.set()
    assert cann.aclrtSynchronizeStream(stream) == 0
    assert out.numpy().all()


def test_a_stream_waits_for_another_ones_event(cann, pair):
    first, second, out = cann.stream(), cann.stream(), zeros(cann, 2, 3)
    event = c_void_p()
    assert cann.aclrtCreateEvent(byref(event)) == 0
    gate = blocked(cann, first)
    assert cann.aclrtRecordEvent(event, first) == 0
    assert cann.aclrtStreamWaitEvent(second, event) == 0
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.launch("aclnnTanhBackward", executor, second) == 0
    time.sleep(0.05)
    assert not out.numpy().any()
    gate.set()
    assert cann.aclrtSynchronizeEvent(event) == 0
    assert cann.aclrtSynchronizeStream(second) == 0
    assert out.numpy().all()
    assert cann.aclrtDestroyEvent(event) == 0
    assert cann.aclrtRecordEvent(event, first) != 0


# Memory.


def test_memory_is_counted_to_the_byte(cann):
    def memory():
        current, peak = c_size_t(), c_size_t()
        cann.cann_sim_memory(byref(current), byref(peak))
        return current.value, peak.value

    before, _ = memory()
    blocks = [cann.malloc(size) for size in (1, 1000, 12345)]
    assert memory()[0] - before == 13346
    assert memory()[1] >= before + 13346
    for block in blocks:
        assert cann.aclrtFree(c_void_p(block)) == 0
    assert memory()[0] == before
    assert cann.aclrtFree(c_void_p(blocks[0])) == RT_PARAM


def test_more_memory_than_there_is_gives_207001(cann):
    pointer = c_void_p()
    assert cann.aclrtMalloc(byref(pointer), c_size_t(1 << 50), c_int32(0)) == RT_MEMORY
    assert cann.aclrtMalloc(byref(pointer), c_size_t(0), c_int32(0)) == RT_PARAM
    assert cann.aclrtMalloc(None, c_size_t(8), c_int32(0)) == RT_PARAM


def test_memory_that_a_queued_task_uses_is_not_freed(cann, pair):
    stream, out = cann.stream(), zeros(cann, 2, 3)
    gate = blocked(cann, stream)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.launch("aclnnTanhBackward", executor, stream) == 0
    for tensor in (*pair, out):
        assert cann.aclrtFree(c_void_p(tensor.pointer)) == RT_PARAM
        assert "still used by aclnnTanhBackward" in cann.message()
    gate.set()
    assert cann.aclrtSynchronizeStream(stream) == 0
    assert out.numpy().all()
    assert cann.aclrtFree(c_void_p(out.pointer)) == 0


def test_a_task_on_freed_memory_is_reported_by_the_stream_once(cann, pair):
    out = zeros(cann, 2, 3)
    _, executor, _ = cann.plan("aclnnTanhBackward", *pair, out)
    assert cann.aclrtFree(c_void_p(out.pointer)) == 0
    assert cann.launch("aclnnTanhBackward", executor) == 0
    assert cann.aclrtSynchronizeStream(None) == RT_AICORE
    assert "outside device memory" in cann.message()
    assert cann.aclrtSynchronizeStream(None) == 0


def test_a_view_that_leaves_its_memory_is_reported(cann, pair):
    out = zeros(cann, 2, 3)
    beyond = np.lib.stride_tricks.as_strided(np.zeros(6, np.float32), (2, 3), (4 * 512, 4))
    view = Cann.tensor(cann, np.zeros((2, 3), np.float32))
    view.handle = cann.aclCreateTensor((ctypes.c_int64 * 2)(*beyond.shape), c_uint64(2), c_int32(0),
                                       (ctypes.c_int64 * 2)(512, 1), ctypes.c_int64(0), c_int32(2),
                                       (ctypes.c_int64 * 1)(6), c_uint64(1), c_void_p(view.pointer))
    _, executor, _ = cann.plan("aclnnTanhBackward", view, pair[1], out)
    assert cann.launch("aclnnTanhBackward", executor) == 0
    assert cann.aclrtSynchronizeStream(None) == RT_AICORE


@pytest.mark.parametrize("asynchronous", [False, True])
def test_copies_are_checked_against_their_buffers(cann, asynchronous):
    device, host = cann.malloc(16), np.zeros(64, np.uint8)
    address = host.ctypes.data

    def copy(target, target_size, source, count, kind):
        arguments = c_void_p(target), c_size_t(target_size), c_void_p(source), c_size_t(count), c_int32(kind)
        return cann.aclrtMemcpyAsync(*arguments, None) if asynchronous else cann.aclrtMemcpy(*arguments)

    assert copy(device, 16, address, 16, HOST_TO_DEVICE) == 0
    assert copy(device, 16, address, 17, HOST_TO_DEVICE) == RT_PARAM  # more than the caller says there is
    assert copy(device, 32, address, 17, HOST_TO_DEVICE) == RT_PARAM  # more than there is
    assert copy(device + 8, 16, address, 9, HOST_TO_DEVICE) == RT_PARAM
    assert copy(address, 64, device, 17, DEVICE_TO_HOST) == RT_PARAM
    assert copy(address, 64, device + 8, 9, DEVICE_TO_HOST) == RT_PARAM
    assert copy(address, 64, address, 8, HOST_TO_DEVICE) == RT_PARAM  # the target is not device memory
    assert copy(device, 16, address, 8, DEVICE_TO_DEVICE) == RT_PARAM
    assert copy(None, 16, address, 8, HOST_TO_DEVICE) == RT_PARAM
    assert copy(device, 16, None, 8, HOST_TO_DEVICE) == RT_PARAM
    assert cann.aclrtMemset(c_void_p(device), c_size_t(32), c_int32(0), c_size_t(17)) == RT_PARAM
    assert cann.aclrtSynchronizeStream(None) == 0


def test_pageable_host_memory_may_change_once_an_asynchronous_copy_returned(cann):
    stream, device = cann.stream(), cann.malloc(8)
    gate = blocked(cann, stream)
    host = np.arange(8, dtype=np.uint8)
    assert cann.aclrtMemcpyAsync(c_void_p(device), c_size_t(8), c_void_p(host.ctypes.data), c_size_t(8),
                                 c_int32(HOST_TO_DEVICE), stream) == 0
    host[:] = 99
    gate.set()
    assert cann.aclrtSynchronizeStream(stream) == 0
    np.testing.assert_array_equal(cann.download(device, 8), np.arange(8))


# The options of the command.


def run(*options, body):
    command = [sys.executable, HERE / "cann_sim/run.py", *options, "--", sys.executable, "-c",
               f"import sys; sys.path.insert(0, {str(HERE)!r})\n" + START + body]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


START = """
import os, numpy as np
from cann_sim import control
from cann_sim.client import Cann, BF16
cann = Cann(os.environ["CANN_SIM_LIBRARY"])
cann.aclInit(None), cann.aclrtSetDevice(0)
def backward(dtype=np.float32, code=None):
    tensors = [cann.tensor(np.ones((2, 3), dtype), code) for _ in range(3)]
    status, executor, size = cann.plan("aclnnTanhBackward", *tensors)
    return status or cann.launch("aclnnTanhBackward", executor)
"""


def test_the_exit_code_is_the_commands():
    assert run(body="sys.exit(23)").returncode == 23
    assert subprocess.run([sys.executable, HERE / "cann_sim/run.py", "--", "no-such-command"],
                          capture_output=True, timeout=300).returncode == 127


def test_it_is_quiet_unless_asked():
    done = run(body="assert backward() == 0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("soc,status", [("Ascend910B1", 0), ("Ascend910B4", 0), ("Ascend910_9392", 0),
                                        ("Ascend910A", INVALID), ("Ascend310P3", INVALID)])
def test_bfloat16_depends_on_the_chip(soc, status):
    done = run("--soc", soc, body=f"assert backward(np.int16, BF16) == {status}, cann.message()\nassert backward() == 0")
    assert done.returncode == 0, done.stderr


def test_planned_failures_happen_at_their_call_and_once():
    done = run("--fail", "aclnnTanhBackward=507015@2", "--fail", "aclnnTanhBackwardGetWorkspaceSize=561000@3", "--fail",
               "aclrtMalloc=207001", body="""
try:
    backward()
except RuntimeError as error:
    assert "207001" in str(error)
assert [backward() for _ in range(4)] == [0, 507015, 561000, 0]
control.fail("aclnnTanhBackward", 99, nth=2)
control.fail("aclrtSynchronizeStream", 98)
control.clear_failures()
assert [backward(), backward()] == [0, 0]
control.fail("aclnnTanhBackward", 99, nth=2)
assert [backward(), backward(), backward()] == [0, 99, 0]
counts = control.counts()
assert counts["aclnnTanhBackward"] == 8 and counts["aclnnTanhBackwardGetWorkspaceSize"] == 9
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("bad", ["aclrtMalloc", "aclrtMalloc=0", "aclrtMalloc=x", "=5", "a=1@0", "a b=1"])
def test_a_failure_that_cannot_be_planned_is_refused(bad):
    done = run("--fail", bad, body="")
    assert done.returncode != 0 and bad in done.stderr


def test_a_chip_that_is_none_is_refused():
    done = run("--soc", "Ascend", body="")
    assert done.returncode != 0 and "'Ascend' is no chip" in done.stderr


def test_the_trace_has_one_json_line_per_call_that_launches_or_allocates(tmp_path):
    trace = tmp_path / "trace file.jsonl"
    done = run("--trace", trace, body="assert backward() == 0\nassert cann.aclrtSynchronizeStream(None) == 0")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [line["call"] for line in lines] == ["aclrtMalloc", "aclrtMemcpy"] * 3 + ["aclnnTanhBackward"] * 2
    assert lines[0] == {"call": "aclrtMalloc", "bytes": 24, "current": 24, "peak": 24}
    first, second = lines[-2:]
    assert (first["phase"], second["phase"]) == (1, 2)
    assert (first["stream"], second["stream"]) == (None, 0)
    tensor = {"dtype": "float32", "shape": [2, 3], "strides": [3, 1], "offset": 0}
    for line in (first, second):
        assert line["inputs"] == [tensor, tensor] and line["outputs"] == [tensor]
        assert line["status"] == line["workspace"] == 0
    assert first["executor"] == second["executor"] and first["caller"] == second["caller"]
    library, offset = first["caller"].split("+")
    assert "ffi" in library or "ctypes" in library  # the caller here
    assert int(offset, 16) > 0


def test_a_call_that_fails_leaves_a_trace(tmp_path):
    trace = tmp_path / "trace.jsonl"
    run("--trace", trace, "--fail", "aclnnTanhBackward=507015", body="assert backward() == 507015\nbackward(np.int32)")
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [line["status"] for line in lines if line["call"] == "aclnnTanhBackward"] == [0, 507015, INVALID]


# The build.


def test_a_warm_start_builds_nothing(tmp_path):
    cann_root()
    compiler = tmp_path / "g++"  # tells its version, and compiles nothing
    compiler.write_text(f'#!/bin/sh\ncase "$1" in -dump*) exec {shutil.which("g++")} "$@";; *) exit 1;; esac\n')
    compiler.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    start = [sys.executable, HERE / "cann_sim/run.py", "--", "true"]
    assert subprocess.run(start, env=env, timeout=300).returncode == 0
    cold = subprocess.run(start, env={**env, "XDG_CACHE_HOME": str(tmp_path)}, capture_output=True, timeout=300)
    assert cold.returncode != 0


def test_the_cache_can_be_used_by_the_package_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(_cache.VARIABLE, raising=False)
    before = os.umask(0o002)
    try:
        assert build._cache_folder().is_relative_to(tmp_path)
    finally:
        os.umask(before)
    assert _cache.folder() == tmp_path / "mindspore_tanhbw"


def test_several_processes_that_start_at_once_build_once_and_remove_what_is_long_unused(tmp_path):
    cache = tmp_path / "mindspore_tanhbw" / "ascend_sim"
    cache.mkdir(mode=0o700, parents=True)
    for name, days in (("unused", 31), ("used", 29)):
        (cache / name / "latest").mkdir(parents=True)
        os.utime(cache / name, times=(time.time() - days * 24 * 3600,) * 2)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    children = [subprocess.Popen([sys.executable, HERE / "cann_sim/run.py", "--", sys.executable, "-c",
                                  "import ctypes, os; ctypes.CDLL(os.environ['CANN_SIM_LIBRARY'])"], env=env)
                for _ in range(4)]
    assert [child.wait(timeout=300) for child in children] == [0] * 4
    names = {path.name for path in cache.iterdir()} - {"lock", "used"}
    assert (cache / "used").exists() and len(names) == 1 and "unused" not in names
    assert cache.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    cache = tmp_path / "mindspore_tanhbw" / "ascend_sim"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    done = subprocess.run([sys.executable, HERE / "cann_sim/run.py", "--", "true"], capture_output=True, text=True,
                          env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, timeout=300)
    assert done.returncode != 0 and "can be written by others" in done.stderr


def test_device_memory_has_the_size_that_the_environment_says():
    env = environment(base={**os.environ, "CANN_SIM_MEMORY": "4096", "CANN_SIM_FAIL": "aclInit=1"})
    assert "CANN_SIM_FAIL" not in env  # options of an outer run end with it
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r})\n" + START +
                           "cann.malloc(4000)\ntry:\n    cann.malloc(97)\nexcept RuntimeError as e:\n    sys.exit(str(e))"],
                          env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "207001" in done.stderr
