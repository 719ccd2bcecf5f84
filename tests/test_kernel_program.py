"""The kernel's own C++ test program: plain, under sanitizers, by other compilers, on aarch64, and on spoilt kernels."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "mindspore_tanhbw" / "kernel"
# As setup.py compiles the kernel, but for the warnings, which are errors here.
FLAGS = "-std=c++17 -ffp-contract=off -pthread -Wall -Wextra -Werror".split()
TESTS = 17
AARCH64_COMPILER = shutil.which("aarch64-linux-gnu-g++")
AARCH64 = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


def compilers():
    """Every g++ and clang++ of PATH, each once."""
    name = re.compile(r"(g|clang)\+\+(-[0-9.]+)?")
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    found = [file for folder in folders if folder.is_dir() for file in folder.iterdir() if name.fullmatch(file.name)]
    return sorted({file.resolve(): file.name for file in found}.values())


def build(target, *flags, compiler="g++", kernel=KERNEL):
    sources = [ROOT / "tests" / "kernel" / "kernel_test.cc", *sorted(kernel.glob("*.cc"))]
    command = [compiler, *FLAGS, *flags, *map(str, sources), "-ldl", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return target


def run(*command, **environment):
    """What the program printed of each test, and of the paths that it tried."""
    command = [str(one) for one in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    first, *lines = done.stdout.splitlines()
    assert all(line.startswith("ok ") for line in lines), done.stdout
    return first.split()[1:], lines


def paths():
    """The paths that the kernel must have tried on this machine."""
    flags = set(re.findall(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[:1][0].split())
    wanted = {"portable": set(), "avx2": {"avx2", "fma", "f16c"}, "avx512": {"avx512f"}}
    return [name for name, needed in wanted.items() if needed <= flags]


def test_every_promise_of_its_header(tmp_path):
    tried, lines = run(build(tmp_path / "program", "-O2"))
    assert tried == paths()
    assert len(lines) == TESTS


@pytest.mark.long
def test_float32_with_every_output_there_is(tmp_path):
    _, lines = run(build(tmp_path / "program", "-O2"), "--all", "float32, outputs")
    assert len(lines) == 1


@pytest.mark.long
def test_with_address_and_undefined_behaviour_sanitizers(tmp_path):
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    tried, lines = run(build(tmp_path / "program", *flags))
    assert tried == paths()
    assert len(lines) == TESTS


@pytest.mark.long
def test_with_thread_sanitizer(tmp_path):
    # Only the tests that share a call between threads; it does not follow the fork in two others.
    program = build(tmp_path / "program", "-O1", "-g", "-fsanitize=thread")
    _, lines = run(program, "several", "large", "in place", "flushes", "settings", TSAN_OPTIONS="halt_on_error=1")
    assert len(lines) == 5


@pytest.mark.long
@pytest.mark.skipif(not (AARCH64_COMPILER and AARCH64), reason="needs g++-aarch64-linux-gnu and qemu-user-static")
def test_on_aarch64(tmp_path):
    program = build(tmp_path / "program", "-O2", compiler=AARCH64_COMPILER)
    tried, lines = run(AARCH64, "-L", "/usr/aarch64-linux-gnu", program)
    assert tried == ["portable"]
    assert len(lines) == TESTS


@pytest.mark.long
@pytest.mark.parametrize("compiler", compilers())
def test_built_by(compiler, tmp_path):
    tried, lines = run(build(tmp_path / "program", "-O3", compiler=compiler))
    assert tried == paths()
    assert len(lines) == TESTS


@pytest.mark.long
@pytest.mark.parametrize(
    "file, text, spoilt, caught_by",
    [
        ("formula.h", "grad_output * A::OneMinusSquare(output)", "output * A::OneMinusSquare(grad_output)", "classes"),
        ("path_portable.cc", "static_cast<double>(y) * y", "y * y", "range"),
        ("path_portable.cc", "0x7fff + (bits >> 16 & 1)", "0x8000", "bfloat16"),
        ("loop.h", "n >= L::kCount;", "n > 0;", "guard"),
        ("loop.h", "n -= head;", "", "large"),
        ("threads.cc", "    DefaultFloatMode mode;\n    const", "    const", "flushes"),
        ("threads.cc", "  wanted = busy = 0;\n", "", "fork"),
        ("threads.cc", "n / slices + kLine", "n / slices", "large"),
        ("api.cc", "launches.fetch_add(1, std::memory_order_relaxed)", "launches.store(launches + 1)", "several"),
        ("api.cc", "ndims[i] != ndims[0]", "false", "errors"),
    ],
)
def test_it_catches(file, text, spoilt, caught_by, tmp_path):
    kernel = shutil.copytree(KERNEL, tmp_path / "kernel")
    source = (kernel / file).read_text()
    assert text in source
    (kernel / file).write_text(source.replace(text, spoilt))
    # The program includes the header of the kernel that it lies beside.
    program = build(tmp_path / "program", "-O1", kernel=kernel)
    done = subprocess.run([str(program), caught_by], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0, done.stdout
