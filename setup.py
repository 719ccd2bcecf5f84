"""Builds the CPU kernel into the package; everything else about the package is in pyproject.toml.

Copyright 2026 The mindspore_tanhbw authors
SPDX-License-Identifier: Apache-2.0
"""

import os
import shlex
import subprocess
import sys
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

KERNEL = Path("mindspore_tanhbw", "kernel")
# No contraction: a fused multiply-add would round differently where the processor has one. nodelete: MindSpore closes
# the library after each inference, and the launch count and the threads must outlive that.
FLAGS = (
    "-std=c++17 -O3 -ffp-contract=off -fPIC -shared -fvisibility=hidden -pthread "
    "-Wall -Wextra -Wl,-z,nodelete -Wl,--no-undefined"
).split()


class BuildKernel(build_ext):
    """One compiler call. The library is no Python module: no Python headers, no libpython, no CPython tag."""

    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")) + ".so"

    def build_extension(self, ext):
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        compiler = shlex.split(os.environ.get("CXX", "g++"))
        extra = shlex.split(os.environ.get("CXXFLAGS", ""))
        command = [*compiler, *FLAGS, *extra, *ext.sources, "-o", target]
        print(shlex.join(command), flush=True)
        try:
            subprocess.run(command, check=True)
        except OSError as error:
            sys.exit(
                f"\nmindspore_tanhbw: the C++ compiler {compiler[0]!r} could not be run ({error.strerror}).\n"
                "Building the CPU kernel needs a compiler with C++17. Install one, for instance\n"
                "    apt-get install g++        (Debian, Ubuntu)\n"
                "    dnf install gcc-c++        (Fedora, openEuler)\n"
                "or name one that is installed in the environment variable CXX.\n"
            )
        except subprocess.CalledProcessError as error:
            sys.exit(
                f"\nmindspore_tanhbw: {shlex.join(compiler)} failed with exit code {error.returncode}; its messages "
                "are above. Building the CPU kernel needs g++ 7.3 or later, or clang (set CXX to choose one).\n"
            )


class PlatformWheel(bdist_wheel):
    """The kernel needs the platform, but any Python 3 will do."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            "mindspore_tanhbw._tanh_backward_cpu",
            sources=sorted(glob(str(KERNEL / "*.cc"))),
            depends=sorted(glob(str(KERNEL / "*.h"))),
        )
    ],
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": PlatformWheel},
)
