"""PyNative mode's short way to the kernel, through the library that runner.cc compiles to; needs Python's headers."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import sysconfig
import threading
from pathlib import Path
from typing import Any, Callable, Optional

from mindspore import Tensor

from .._compiler import build_library
from .._library import library
from .._mindspore import HAS_RUNNER_HEADERS, VERSION, compile_flags
from .._names import ACLNN_KERNEL, CPU_KERNEL
from .._operator import tanh_backward_operator

MARK = "tanh_backward"
"""The attribute that registry.cc looks for."""

_lock = threading.Lock()


class Runner:
    """The library, opened; `missing` says why there is none, and then everything goes the long way."""

    def __init__(self) -> None:
        self.address: Optional[int] = None
        """Of the function that registry.cc calls."""
        self.tanh_backward: Callable[[Any, Any], Optional[Tensor]] = lambda grad_output, output: None
        """The operator at once; None where it must go the long way."""
        self.mark: Optional[Callable[[Tensor], None]] = None
        """Binds the gradient that was recorded for a result of Tanh, and no other."""
        self.record: Optional[Callable[[int], None]] = None
        """1: from here on every Tanh that is recorded is bound; -1: until here."""
        self.missing = ""
        self._prepared: set[str] = set()
        try:
            self._library = ctypes.PyDLL(str(_build()))
        except (RuntimeError, OSError) as error:
            self.missing = str(error)
            return
        self.address = ctypes.cast(self._library.tanhbw_runner_run, ctypes.c_void_p).value
        self._library.tanhbw_runner_functions.restype = ctypes.py_object
        self._library.tanhbw_runner_set_ascend.restype = ctypes.c_char_p
        self._library.tanhbw_runner_launches_on_ascend.restype = ctypes.c_int64
        functions = self._library.tanhbw_runner_functions(MARK.encode())
        if functions is not None:
            self.tanh_backward, self.mark, self.record = functions

    def launches_on_ascend(self) -> int:
        """How often the kernel was launched there, by this way."""
        return 0 if self.address is None else int(self._library.tanhbw_runner_launches_on_ascend())

    def set_recording(self, function: Any) -> None:
        """Of registry.cc, for `record`."""
        if self.address is not None:
            self._library.tanhbw_runner_set_recording(ctypes.cast(function, ctypes.c_void_p))

    def prepare(self, target: str) -> bool:
        """
        Find the kernel for a device target, if the Custom operator can be had there.

        Returns:
            Whether it was not known before.

        Raises:
            RuntimeError: As `tanh_backward_operator`.
        """
        if self.address is None or target in self._prepared:
            return False
        tanh_backward_operator(target)
        if target == "CPU":
            kernel = getattr(library(), CPU_KERNEL)
            self._library.tanhbw_runner_set_cpu(ctypes.cast(kernel, ctypes.c_void_p))
        else:
            from .._ascend import cann_root

            folder = cann_root() / "lib64"
            lacking = self._library.tanhbw_runner_set_ascend(str(folder).encode(), ACLNN_KERNEL.encode())
            if lacking is not None:
                self.missing = f"{lacking.decode()} in {folder}"
        self._prepared.add(target)
        return True


def _build() -> Path:
    if not HAS_RUNNER_HEADERS:
        raise RuntimeError(f"MindSpore {VERSION} lacks headers that runner.cc needs")
    headers = Path(sysconfig.get_paths()["include"])
    if not (headers / "Python.h").exists():
        raise RuntimeError(f"{headers / 'Python.h'} is missing")
    source = Path(__file__).with_name("runner.cc").read_text()
    path: Path = build_library("runner.so", source, [f"-I{headers}", *compile_flags()], depends=[VERSION])
    return path


_made: Optional[Runner] = None


def runner() -> Runner:
    """The one Runner of this process, made when it is first asked for."""
    global _made
    if _made is None:
        with _lock:
            if _made is None:
                _made = Runner()
    return _made
