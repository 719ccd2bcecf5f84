"""What differs between MindSpore releases, and how to compile against the one that is installed."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import inspect
from pathlib import Path

import mindspore
from mindspore import context, ops

try:
    from mindspore.graph import api
except ImportError:  # before 2.10
    from mindspore.common import api

pynative_executor = api._pynative_executor

VERSION: str = mindspore.__version__

HAS_RUNNER_HEADERS = VERSION != "2.7.0"
"""2.7.0 lacks some that its own headers include, so runner.cc does not compile against it."""

# Those that a release has, with what registry.cc and runner.cc call.
_LIBRARIES = (
    *("core", "common", "frontend", "pyboost", "pynative", "pynative_utils", "backend_common", "ms_backend"),
    *("runtime_pipeline", "runtime_utils", "hardware_abstract", "profiler", "memory_pool", "res_manager"),
)


def compile_again() -> None:
    """
    Make Graph mode compile again what it has compiled: it keeps the gradients of that time.

    Graphs that run in another thread meanwhile are left alone; ``mindspore.ms_memory_recycle()`` frees their memory.
    In PyNative mode the gradients of jit functions are kept beside them, with what is being recorded.
    """
    if api.ms_compile_cache and not _records() and context.get_context("mode") == context.PYNATIVE_MODE:
        pynative_executor.clear_res()
    api.ms_compile_cache.clear()
    for phases in [*api.cells_compile_cache.values()]:  # to which other threads add their Cells
        phases.clear()


def compile_and_parse_again() -> None:
    """Make it read the sources again, too; no graph may run in another thread meanwhile."""
    if _records():
        compile_again()
    elif api.ms_compile_cache or any([*api.cells_compile_cache.values()]):
        mindspore.ms_memory_recycle()


def _records() -> bool:
    """Whether PyNative mode records a gradient, which would be lost with what is compiled."""
    if context.get_context("mode") != context.PYNATIVE_MODE or not pynative_executor.grad_flag():
        return False
    frame = inspect.currentframe()  # after an exception in a gradient the flag alone stays up
    while frame is not None and frame.f_globals.get("__name__") != ops.composite.base.__name__:
        frame = frame.f_back
    return frame is not None


def compile_flags() -> list[str]:
    """The compiler's arguments for C++ that uses MindSpore's headers and libraries, ABI and defines as MindSpore's."""
    root = Path(mindspore.__file__).resolve().parent
    include = root / "include"
    own = include / "mindspore"
    folders = [
        root,
        include,
        *(include / "third_party" / part for part in ("", "robin_hood_hashing", "securec/include")),
        *(own / part for part in ("", "include", "core/include", "core/mindrt/include", "core/mindrt")),
        *(own / part for part in ("ops", "ops/include", "ops/kernel/include", "ccsrc", "ccsrc/include")),
    ]
    libraries = root / "lib"
    linked = [name for name in _LIBRARIES if (libraries / f"libmindspore_{name}.so").exists()]
    return [
        *"-std=c++17 -O1 -fPIC -shared -w -Wl,-z,now".split(),
        "-D_GLIBCXX_USE_CXX11_ABI=0",
        "-DENABLE_FAST_HASH_TABLE=1",
        *(f"-I{folder}" for folder in folders),
        f"-L{libraries}",
        *(f"-lmindspore_{name}" for name in linked),
    ]
