"""The library with the CPU kernel: where it lies, and its counters."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import threading
from pathlib import Path
from typing import Optional

from ._mindspore import pynative_executor
from ._names import CPU_LIBRARY
from ._version import __version__

_loaded: Optional[ctypes.CDLL] = None
_lock = threading.Lock()


def library_path() -> Path:
    """The kernel's library, in a path that ops.Custom takes."""
    path = _built_library()
    if ":" in str(path):
        raise RuntimeError(
            f"mindspore_tanhbw: {path.parent} has a colon in its path, after which ops.Custom looks for the name of a "
            "function. Put the package into another folder."
        )
    return path


def _built_library() -> Path:
    # Beside this file, or, in a clone that shadows the install, in the installed package.
    here = Path(__file__).resolve().with_name(CPU_LIBRARY)
    if here.exists():
        return here
    from importlib import metadata  # takes longer to import than this package does

    for distribution in metadata.distributions(name="mindspore_tanhbw"):
        installed = Path(str(distribution.locate_file("mindspore_tanhbw"))) / CPU_LIBRARY
        if installed.exists() and distribution.version == __version__:
            return installed.resolve()
    raise RuntimeError(
        f"mindspore_tanhbw: the CPU kernel {CPU_LIBRARY} of {__version__} is not built. "
        "Run 'pip install .' in the folder with setup.py."
    )


def library() -> ctypes.CDLL:
    """The library, opened once and kept open: MindSpore finds it open already whenever it asks for it."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                opened = ctypes.CDLL(str(library_path()))
                opened.tanhbw_launch_count.restype = ctypes.c_int64
                _loaded = opened
    return _loaded


def launch_count() -> int:
    """
    How often the operator's CPU kernel has run in this process.

    The proof that a gradient went through the operator and not through MindSpore's built-in one. It waits for what
    PyNative mode has still to run. MindSpore launches no kernel for an empty tensor.

    Returns:
        int, the number of launches since the process started, exact and counted over all threads. On Ascend 0: there
        MindSpore's profiler or the simulator's trace tells.

    Raises:
        RuntimeError: If the CPU kernel was not built.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import mindspore
        >>> import mindspore_tanhbw as tbw
        >>> before = tbw.launch_count()
        >>> y = mindspore.Tensor([0.5, -0.5])
        >>> print(tbw.tanh_backward(mindspore.Tensor([1.0, 2.0]), y))
        [0.75 1.5 ]
        >>> tbw.launch_count() - before
        1
    """
    pynative_executor.sync()
    return int(library().tanhbw_launch_count())
