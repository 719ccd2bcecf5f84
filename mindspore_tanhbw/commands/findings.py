"""What the doctor looks at on any machine; each looks at one thing and survives whatever is wrong with it."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Optional

import mindspore
import numpy
from mindspore import context
from mindspore._c_expression import DeviceContextManager

from .. import _cache, _compiler
from .._library import library, library_path
from .._mindspore import HAS_RUNNER_HEADERS
from .._version import __version__

OLDEST_MINDSPORE, NEWEST_MINDSPORE = (2, 7), (2, 10)
OLDEST_GCC = (7, 3)

# Of the releases from 2.8 on, and of 2.7.
_BPROP_HEADERS = (
    "mindspore/ccsrc/include/frontend/expander/bprop_interface.h",
    "mindspore/ccsrc/frontend/expander/bprop/bprop_irbuilder.h",
)


class Finding(NamedTuple):
    """One line of the doctor's report."""

    name: str
    state: str
    """ok, warning (usable, but), missing (not usable), or info (of no concern to this device)."""
    found: str
    means: str = ""
    mend: str = ""


def package() -> Finding:
    """Version and place of this package."""
    return Finding("package", "ok", f"mindspore_tanhbw {__version__} in {Path(__file__).resolve().parents[1]}")


def python() -> Finding:
    """The interpreter."""
    found = f"Python {platform.python_version()}, {sys.executable}"
    if (3, 9) <= sys.version_info < (3, 13):
        return Finding("Python", "ok", found)
    return Finding("Python", "warning", found, "this package is tested with 3.9 to 3.12", "use one of those")


def mindspore_version() -> Finding:
    """Whether this package knows the release."""
    found = f"MindSpore {mindspore.__version__}"
    if OLDEST_MINDSPORE <= _numbers(mindspore.__version__) <= NEWEST_MINDSPORE:
        return Finding("MindSpore", "ok", found)
    means = "its bprop registry may differ from that of 2.7 to 2.10, which this package is made for"
    return Finding("MindSpore", "warning", found, means, "pip install 'mindspore>=2.7,<2.11'")


def mindspore_headers() -> Finding:
    """Its C++ headers, which the binding is compiled against."""
    include = Path(mindspore.__file__).resolve().parent / "include"
    if any((include / header).is_file() for header in _BPROP_HEADERS):
        return Finding("MindSpore headers", "ok", str(include))
    mend = "pip install --force-reinstall --no-deps mindspore"
    found = f"no bprop headers in {include}"
    return Finding("MindSpore headers", "missing", found, "the binding cannot be compiled", mend)


def numpy_version() -> Finding:
    """NumPy 1 or 2."""
    found = f"NumPy {numpy.__version__}"
    if _numbers(numpy.__version__) < (2, 0):
        return Finding("NumPy", "ok", found)
    means = "MindSpore is built against NumPy 1: asnumpy() of a bfloat16 Tensor raises"
    return Finding("NumPy", "warning", found, means, "pip install 'numpy<2'")


def device_target(device: str) -> Finding:
    """Whether MindSpore's target is the device, or can still become it."""
    current = context.get_context("device_target")
    if current == device:
        return Finding("device target", "ok", device)
    used = DeviceContextManager.get_instance().get_device_context(current)
    if used is None or not used.initialized():
        return Finding("device target", "ok", f"{current} until mindspore.set_device({device!r}) is called")
    means = f"what was made there, parameters for instance, stays there when the target becomes {device}"
    mend = f"call mindspore.set_device({device!r}) right after import mindspore"
    return Finding("device target", "warning", f"{current}, in use already", means, mend)


def cpu_kernel() -> Finding:
    """The library with the CPU kernel, which Ascend needs, too: shape inference is in it."""
    name = "CPU kernel"
    try:
        path = library_path()
    except RuntimeError as error:
        found, _, mend = _text(error).rstrip(".").rpartition(". ")
        return Finding(name, "missing", found, "", mend)
    try:
        kernel = library()
    except OSError as error:
        return Finding(name, "missing", f"{path} cannot be loaded ({error})", "", "run pip install . in a clone")
    kernel.tanhbw_path.restype = ctypes.c_char_p
    return Finding(name, "ok", f"{path}, {kernel.tanhbw_path().decode()}, up to {kernel.tanhbw_num_threads()} threads")


def white_list() -> Finding:
    """The folder that MindSpore takes aot operators from, if it is told one."""
    name, variable = "white list", "MS_CUSTOM_AOT_WHITE_LIST"
    value = os.environ.get(variable)
    if value is None:
        return Finding(name, "ok", f"{variable} is not set")
    try:
        kernel = str(library_path())
    except RuntimeError:
        return Finding(name, "ok", f"{variable} is {value}")
    # As MindSpore compares.
    legal = os.path.realpath(value)
    if os.path.commonpath([legal, kernel]) == legal:
        return Finding(name, "ok", f"{variable} is {value}")
    means = "MindSpore refuses to load the operator's library"
    mend = f"unset {variable}, or set it to {os.path.dirname(kernel)}"
    return Finding(name, "missing", f"{variable} is {value}, and {kernel} is not in it", means, mend)


def cache() -> Finding:
    """The folder that compiled libraries are kept in."""
    name, mend = "cache", f"export {_cache.VARIABLE}=FOLDER, a folder of your own"
    try:
        folder = _cache.folder()
    except RuntimeError as error:
        return Finding(name, "missing", _text(error).partition(f". Set {_cache.VARIABLE}")[0], "", mend)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        return Finding(name, "missing", f"{folder} cannot be written ({error.strerror})", "", mend)
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        means = "what is compiled there cannot be loaded"
        return Finding(name, "missing", f"{folder} is mounted noexec", means, mend)
    return Finding(name, "ok", f"{folder}, mode {folder.stat().st_mode & 0o777:o}, yours")


def compiler(device: str) -> Finding:
    """The C++ compiler; its version and target are asked for, nothing is compiled."""
    name, mend = "compiler", "apt-get install g++ (or dnf install gcc-c++), or export CXX=COMPILER"
    try:
        command = _compiler.compiler()
    except _compiler.CompilerMissing:
        chosen = os.environ.get("CXX") or "g++"
        if device == "CPU":
            means = "tanh and Tanh work through a slower Cell with a bprop, bind() raises RuntimeError"
            return Finding(name, "warning", f"no {chosen}", means, mend)
        return Finding(name, "missing", f"no {chosen}", "on Ascend the operator's callback must be compiled", mend)
    except ValueError as error:
        return Finding(name, "missing", f"CXX is {os.environ['CXX']}, which is no command ({error})", "", mend)
    label = " ".join(command)
    version, machine = _compiler_version(command), _ask([*command, "-dumpmachine"])
    if version is None or machine is None:
        return Finding(name, "missing", f"{label} does not tell its version", "it is no working g++ or clang++", mend)
    number = ".".join(map(str, version[1]))
    if version[0] == "g++" and version[1] < OLDEST_GCC:
        means = "older than 7.3, it cannot compile MindSpore's headers"
        return Finding(name, "missing", f"{label} {number}", means, mend)
    if not machine.startswith(platform.machine()) or "linux" not in machine or "musl" in machine:
        means = f"MindSpore here needs {platform.machine()} and the GNU C library"
        return Finding(name, "missing", f"{label} {number} compiles for {machine}", means, mend)
    return Finding(name, "ok", f"{label} {number} for {machine}, told to use the old C++ ABI as MindSpore does")


def python_headers() -> Finding:
    """Python.h, for PyNative mode's short way to the kernel."""
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if header.is_file():
        return Finding("Python.h", "ok", str(header))
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-dev"
    means = "PyNative mode calls the kernel through a Custom node, several times slower for small tensors"
    return Finding("Python.h", "warning", f"no {header}", means, f"apt-get install {package}")


def mechanism(others: Iterable[Finding]) -> Finding:
    """How gradients will reach the operator, after the findings that decide it."""
    name = "mechanism"
    states = {one.name: one.state for one in others}
    lacking = [one for one, state in states.items() if state == "missing"]
    if lacking:
        return Finding(name, "missing", "none", f"{', '.join(lacking)} must be mended first")
    if states["compiler"] == "warning":
        return Finding(name, "warning", "Cell.bprop", "a compiler gives the C++ bprop registry")
    without = "C++ bprop registry without the C++ runner"
    if states["Python.h"] == "warning":
        return Finding(name, "warning", without, "Python.h gives the runner")
    if not HAS_RUNNER_HEADERS:
        return Finding(name, "warning", without, f"MindSpore {mindspore.__version__} lacks headers for it")
    if _numbers(mindspore.__version__) < (2, 8):
        return Finding(name, "ok", "C++ bprop registry and, for gradients but not for calls, C++ runner")
    return Finding(name, "ok", "C++ bprop registry and C++ runner")


def _compiler_version(command: list[str]) -> Optional[tuple[str, tuple[int, ...]]]:
    # g++ answers the first that it knows of the two, for -dumpversion alone may be its major version; clang++ refuses.
    first = _ask([*command, "--version"])
    if first is not None and "clang" in first:
        asked, kind = _ask([*command, "-dumpversion"]), "clang++"
    else:
        asked, kind = _ask([*command, "-dumpfullversion", "-dumpversion"]), "g++"
    if asked is None or not re.match(r"\d+\.\d+", asked):
        return None
    return kind, _numbers(asked)


def _ask(command: list[str]) -> Optional[str]:
    """The first line that a command prints, or None."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip().partition("\n")[0] or None


def _numbers(version: str) -> tuple[int, ...]:
    """Major and minor version; (0, 0) for what is no version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _text(error: Exception) -> str:
    """An error of this package's own, without its name."""
    return str(error).replace("mindspore_tanhbw: ", "", 1)
