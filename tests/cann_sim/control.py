# Asking and steering the simulator from inside a process that runs on it.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import ctypes
import functools
import os


@functools.cache
def _library():
    path = os.environ.get("CANN_SIM_LIBRARY")
    if not path:
        raise RuntimeError("this process does not run on the simulated Ascend (CANN_SIM_LIBRARY is not set)")
    library = ctypes.CDLL(path)
    library.cann_sim_counts.restype = ctypes.c_size_t
    library.cann_sim_counts.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.cann_sim_memory.argtypes = [ctypes.POINTER(ctypes.c_size_t)] * 2
    library.cann_sim_memory.restype = None
    library.cann_sim_live_executors.restype = ctypes.c_size_t
    return library


def counts():
    """How often each CANN call was made in this process: {name: count}, calls that launch nothing included."""
    size = _library().cann_sim_counts(None, 0) + 4096
    buffer = ctypes.create_string_buffer(size)
    _library().cann_sim_counts(buffer, size)
    return {name: int(count) for name, count in (line.rsplit(" ", 1) for line in buffer.value.decode().splitlines())}


def fail(call, status, nth=1):
    """Lets the nth call of this name, counted from now, return the status."""
    if _library().cann_sim_fail(f"{call}={status}@{nth}".encode()) != 0:
        raise ValueError(f"{call}={status}@{nth} is not CALL=STATUS[@N] with a status other than 0")


def clear_failures():
    """Takes back every planned failure that has not happened yet."""
    _library().cann_sim_clear_failures()


def memory():
    """Bytes of device memory: (now, at most)."""
    current, peak = ctypes.c_size_t(), ctypes.c_size_t()
    _library().cann_sim_memory(ctypes.byref(current), ctypes.byref(peak))
    return current.value, peak.value


def live_executors():
    """How many executors were made and are neither used up nor destroyed."""
    return _library().cann_sim_live_executors()
