"""MindSpore's C++ bprop registry, through the library that registry.cc compiles to."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

from .._compiler import build_library
from .._mindspore import VERSION, compile_again, compile_flags, pynative_executor
from .._operator import tanh_backward_operator
from .runner import MARK, runner

_RESOLVE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)


class Registry:
    """The entries of Tanh in the registry of this process, and who wants them bound."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._library: Optional[ctypes.PyDLL] = None
        self._resolve = _RESOLVE(_operator_address)
        self._every_tanh = False
        self._marked = False
        self.bound_operators: tuple[str, ...] = ()

    @property
    def every_tanh(self) -> bool:
        """Whether every Tanh of the process is bound."""
        return self._every_tanh

    def bind_every_tanh(self, wanted: bool) -> None:
        """Bind every Tanh of the process, or only those that carry the mark."""
        with self._lock:
            if wanted != self._every_tanh:
                self._set(every_tanh=wanted, marked=self._marked)
                compile_again()

    def serve_marked(self) -> None:
        """From now on a Tanh that carries the mark is bound."""
        if not self._marked:
            with self._lock:
                self._set(every_tanh=self._every_tanh, marked=True)

    def enter(self) -> None:
        """A call of a bound network begins: of what is recorded until it ends every Tanh is bound."""
        library = self._open()
        self._wait()
        self._count(library, +1)

    def leave(self) -> None:
        """A call of a bound network ends."""
        library = self._open()
        try:
            self._wait()
        finally:
            self._count(library, -1)

    def _wait(self) -> None:
        # Without the runner nothing can be put between the operators. One that failed raises its exception here.
        if runner().record is None:
            pynative_executor.sync()

    def _count(self, library: ctypes.PyDLL, change: int) -> None:
        library.tanhbw_registry_calling(change)
        (runner().record or library.tanhbw_registry_recording)(change)

    def entry_bytes(self, name: str) -> bytes:
        """The builder in the registry's entry, as it lies in memory."""
        buffer = ctypes.create_string_buffer(32)
        if self._open().tanhbw_registry_bytes(name.encode(), buffer):
            raise KeyError(name)
        return buffer.raw

    def _set(self, every_tanh: bool, marked: bool) -> None:
        library = self._open()
        # Also here: what it lacks, compiler, CANN or cache, is said now and not in the middle of a backward pass.
        tanh_backward_operator()
        library.tanhbw_registry_set(every_tanh or marked, every_tanh)
        self._every_tanh, self._marked = every_tanh, marked

    def _open(self) -> ctypes.PyDLL:
        with self._lock:
            if self._library is None:
                with ThreadPoolExecutor(1) as beside:  # both libraries at once, where they must be compiled
                    short_way = beside.submit(runner)
                    source = Path(__file__).with_name("registry.cc").read_text()
                    path = build_library("registry.so", source, compile_flags(), depends=[VERSION])
                library = ctypes.PyDLL(str(path))
                found = library.tanhbw_registry_open(MARK.encode(), self._resolve)
                if not found:
                    raise RuntimeError(f"MindSpore {VERSION} has no C++ bprop of Tanh that could be replaced.")
                self.bound_operators = ("Tanh", "InplaceTanh")[:found]
                library.tanhbw_registry_set_runner(ctypes.c_void_p(short_way.result().address))
                short_way.result().set_recording(library.tanhbw_registry_recording)
                self._library = library
            return self._library


def _operator_address(target: bytes) -> Any:
    # Errors cannot cross C++; whoever binds has had them in _set, so only a later change of the target gets here.
    try:
        operator = tanh_backward_operator(target.decode())
        runner().prepare(target.decode())
        return id(operator)
    except Exception:
        return None


registry = Registry()
