"""What an install holds, and what a machine without a compiler is told."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import platform
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import mindspore_tanhbw as tbw

ROOT = Path(__file__).parents[1]


def pip_wheel(source, target, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(target), str(source)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    target = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", str(target), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = target.glob("*.tar.gz")
    return archive


def test_wheel_from_the_sdist(sdist, tmp_path):
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"bprop/registry.cc", "mindspore_tanhbw/kernel/formula.h", "tests/test_packaging.py", "LICENSE"} <= names
    done = pip_wheel(sdist, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"mindspore_tanhbw-{tbw.__version__}-py3-none-linux_{platform.machine()}.whl"
    files = set(zipfile.ZipFile(wheel).namelist())
    inside = ("_tanh_backward_cpu.so", "bprop/__init__.py", "bprop/registry.cc", "commands/train.py", "py.typed")
    assert {f"mindspore_tanhbw/{name}" for name in inside} <= files
    assert {name.split("/")[0] for name in files} == {
        "mindspore_tanhbw",
        f"mindspore_tanhbw-{tbw.__version__}.dist-info",
    }


def test_without_a_compiler(sdist, tmp_path):
    done = pip_wheel(sdist, tmp_path, CXX="/nonexistent/g++")
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "apt-get install g++" in said and "CXX" in said
