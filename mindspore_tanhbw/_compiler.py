"""The C++ compiler for what depends on the installed MindSpore or CANN; results go through the build cache."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import _cache


class CompilerMissing(RuntimeError):
    """There is no C++ compiler on this machine."""


def compiler() -> list[str]:
    """
    The compiler command: ``$CXX``, else g++.

    Raises:
        CompilerMissing: If it is not there.
    """
    command = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    if shutil.which(command[0]) is None:
        raise CompilerMissing(
            f"mindspore_tanhbw: no C++ compiler {command[0]!r}. Install one (apt-get install g++, or "
            "dnf install gcc-c++), or name one in the environment variable CXX."
        )
    return command


def build_library(name: str, source: str, flags: Sequence[str], depends: Sequence[str] = ()) -> Path:
    """
    The shared library that `source` compiles to.

    Args:
        name (str): The library's file name.
        source (str): C++ text.
        flags (Sequence[str]): The compiler's arguments besides source and output.
        depends (Sequence[str]): What else the library depends on, for instance a version.

    Returns:
        Path, the library in the build cache.

    Raises:
        CompilerMissing: If there is no compiler.
        RuntimeError: If it does not compile, with the compiler's first errors, or the cache cannot be used.
    """
    command = compiler()

    def build(target: Path) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"mindspore_tanhbw: compiling {name}, once for this MindSpore", file=sys.stderr)
        file = target.with_suffix(".cc")
        file.write_text(source)
        done = subprocess.run([*command, str(file), "-o", str(target), *flags], capture_output=True, text=True)
        if done.returncode:
            # The linker's own lines do not say "error".
            lines = done.stderr.splitlines()
            errors = [line for line in lines if any(sign in f"/{line}" for sign in ("error", "/ld:"))] or lines
            raise RuntimeError(
                f"mindspore_tanhbw: {command[0]} could not compile {name}, exit code {done.returncode}:\n"
                + "\n".join(errors[:5])
            )

    return _cache.fetch(name, [source, *flags, *depends, *_identity(command)], build)


def _identity(command: Sequence[str]) -> list[str]:
    # The file itself, not its --version: no process to start when the cache is warm.
    path = os.path.realpath(shutil.which(command[0]) or command[0])
    status = os.stat(path)
    return [*command, path, str(status.st_size), str(status.st_mtime_ns)]
