"""What is compiled, under sanitizers: the simulator by a program of threads, everything by the Python tests."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[1]
SIMULATOR = ROOT / "tests" / "cann_sim"
PROGRAM = ROOT / "tests" / "sim_program" / "threads_test.cc"
ADDRESS = "-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -g"
THREAD = "-fsanitize=thread -g"
FLAGS = f"-std=c++17 -O1 -ffp-contract=off -fno-strict-aliasing -Wall -Wextra -I{SIMULATOR}/include -I{SIMULATOR}/src"

# The simulator, as a program of several threads without MindSpore.

FAILURES = [
    "aclnnTanhBackwardGetWorkspaceSize=561103@3",
    "aclnnTanhBackward=361001@40",
    "aclrtMemcpyAsync=507899@33",
    "aclSetTensorAddr=161002@21",
    "aclrtSynchronizeStream=507015@2",
    "aclrtMalloc=207001@9",
]


def compile_all(sources, folder, sanitizer):
    """The objects of these sources, two at a time."""
    command = f'g++ {FLAGS} {sanitizer} -c "$0" -o "{folder}/$(basename "$0" .cc).o"'
    names = "\0".join(map(str, sources))
    done = subprocess.run(
        ["xargs", "-0", "-n1", "-P2", "sh", "-c", command], input=names, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return sorted(folder.glob("*.o"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The objects of the simulator and the program, by the sanitizer's flags."""

    @functools.cache
    def objects(sanitizer):
        folder = tmp_path_factory.mktemp("objects")
        return compile_all([PROGRAM, *(SIMULATOR / "src").rglob("*.cc")], folder, sanitizer)

    return objects


def run_threads(sanitizer, objects, folder):
    """The program of threads, as it ended; it may have been stopped before the first line of its trace."""
    program, trace = folder / "program", folder / "trace"
    subprocess.run(["g++", *sanitizer.split(), *objects, "-pthread", "-ldl", "-o", program], check=True, timeout=100)
    variables = {"CANN_SIM_TRACE": str(trace), "CANN_SIM_FAIL": ";".join(FAILURES), "TSAN_OPTIONS": "halt_on_error=1"}
    return subprocess.run(
        [program, str(len(FAILURES))], capture_output=True, text=True, timeout=60, env={**os.environ, **variables}
    )


@pytest.mark.parametrize("sanitizer", [ADDRESS, THREAD], ids=["address", "thread"])
def test_threads_of_the_simulator(compiled, sanitizer, tmp_path):
    done = run_threads(sanitizer, compiled(sanitizer), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"240 launches, {len(FAILURES)} failures\n", "")
    trace = [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]
    launches = [line["status"] for line in trace if line["call"] == "aclnnTanhBackward" and line["phase"] == 2]
    assert sorted(launches) == [0] * 240 + [361001]


# One fault each; none that could hang before it is reported.
SPOILT = {
    "address": (ADDRESS, "memory.cc", "(dst, staged->data(), count)", "(dst, src, count)", "heap-use-after-free"),
    "undefined": (ADDRESS, "tensor.cc", "int64_t count = 1;", "int64_t count = INT64_MAX;", "signed integer overflow"),
    "leak": (
        ADDRESS,
        "tensor.cc",
        "sim::tensors().add(std::move(tensor))",
        "sim::tensors().add(*new std::shared_ptr<sim::Tensor>(tensor))",
        "LeakSanitizer",
    ),
    "thread": (
        THREAD,
        "memory.cc",
        "  std::lock_guard<std::mutex> lock(m.mutex);\n  return {m.current",
        "  return {m.current",
        "data race",
    ),
}


@pytest.mark.parametrize("sanitizer, file, text, spoilt, report", SPOILT.values(), ids=SPOILT)
def test_it_catches_in_the_simulator(compiled, sanitizer, file, text, spoilt, report, tmp_path):
    source = (SIMULATOR / "src" / file).read_text()
    assert source.count(text) == 1
    (tmp_path / file).write_text(source.replace(text, spoilt))
    others = [one for one in compiled(sanitizer) if one.stem != Path(file).stem]
    done = run_threads(sanitizer, others + compile_all([tmp_path / file], tmp_path, sanitizer), tmp_path)
    assert done.returncode != 0 and report in done.stderr, done.stderr


# Kernel, registry, runner, Ascend callback and simulator, under the Python tests: whatever these compile goes through a
# g++ of ours. Device memory of the simulator, and MindSpore's pool on CPU, are outside AddressSanitizer's sight; the
# kernel's own program has guard pages for that, and the simulator checks every tensor against its memory.

# What these tests take for granted is not so here: a failed allocation ends the process; compiling takes longer.
LEFT_OUT = ["more_than_there_is_memory", "start_at_once"]


class Instrumented:
    """A copy of the clone, its kernel built with the sanitizers, and empty caches."""

    def __init__(self, folder):
        self.folder, self.clone, self.caches = folder, folder / "clone", folder / "caches"
        shutil.copytree(
            ROOT, self.clone, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "*.so", "__pycache__")
        )
        compiler = folder / "bin" / "g++"
        compiler.parent.mkdir()
        # -O1 last: half the time. The compiler itself needs no sanitizer.
        compiler.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec {shutil.which("g++")} {ADDRESS} "$@" -O1\n')
        compiler.chmod(0o755)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("CXX", "CXXFLAGS")},
            "PATH": f"{compiler.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.clone),
            "MINDSPORE_TANHBW_CACHE": str(self.caches / "libraries"),
            "XDG_CACHE_HOME": str(self.caches / "xdg"),
        }
        self.caches.mkdir()

    def build_kernel(self):
        # As a wheel, for which pip gets the setuptools that it needs.
        done, _ = self.run("-m", "build", "-q", "--wheel", "--outdir", str(self.folder), preload=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (wheel,) = self.folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract("mindspore_tanhbw/_tanh_backward_cpu.so", self.clone)

    def run(self, *arguments, preload=True):
        """Python in the copy; what it printed, and what the sanitizers reported of it and its children."""
        reports = self.folder / "reports"
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir()
        environment = {
            **self.environment,
            "ASAN_OPTIONS": f"detect_leaks=0:handle_abort=2:log_path={reports}/report",
            # Its reports go to stderr, which pytest keeps; AddressSanitizer writes down where it aborted.
            "UBSAN_OPTIONS": f"abort_on_error=1:log_path={reports}/report",
        }
        if preload:
            environment["LD_PRELOAD"] = ":".join(map(runtime, ("libasan.so", "libubsan.so", "libstdc++.so")))
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=580, env=environment, cwd=self.clone
        )
        return done, "".join(one.read_text() for one in reports.iterdir())

    def pytest(self, *arguments):
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={self.folder}/tmp", *arguments)

    def libraries(self):
        """What was compiled, all of it with both sanitizers."""
        found = [self.clone / "mindspore_tanhbw" / "_tanh_backward_cpu.so", *self.caches.rglob("*.so")]
        found = [one for one in found if not one.is_symlink()]
        for one in found:
            symbols = subprocess.run(["nm", "-D", one], check=True, capture_output=True, text=True).stdout
            assert "__asan_report" in symbols and "__ubsan_handle" in symbols, one
        return {one.name for one in found}


def runtime(name):
    return subprocess.run(
        ["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def instrumented(tmp_path_factory):
    made = Instrumented(tmp_path_factory.mktemp("sanitized"))
    made.build_kernel()
    return made


CPU = {"_tanh_backward_cpu.so", "registry.so", "runner.so"}
ASCEND = {"_tanh_backward_cpu.so", "runner.so", "aclnn_callback.so", "libcann_sim.so"}


@pytest.mark.parametrize(
    "libraries, files, tests",
    [
        (CPU, "operator binding bind_network", 150),
        (CPU, "bad_input", 250),
        ({"libcann_sim.so"}, "sim_protocol sim_operators", 250),
        (ASCEND, "ascend", 17),
        (ASCEND, "ascend_faults", 5),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_python_tests(instrumented, libraries, files, tests):
    names = [f"tests/test_{name}.py" for name in files.split()]
    done, reports = instrumented.pytest("-k", " and ".join(f"not {name}" for name in LEFT_OUT), *names)
    assert done.returncode == 0 and not reports, done.stdout + done.stderr + reports
    passed = re.search(r"^(\d+) passed(, \d+ deselected)? in ", done.stdout, re.MULTILINE)
    assert passed and int(passed[1]) >= tests, done.stdout
    assert libraries <= instrumented.libraries()


@pytest.mark.parametrize(
    "file, text, spoilt, report",
    [
        ("loop.h", "n >= L::kCount;", "n > 0;", "AddressSanitizer: heap-buffer-overflow"),
        ("api.cc", "fetch_add(1,", "fetch_add(n * INT64_MAX,", "__ubsan_handle_mul_overflow"),
    ],
    ids=["address", "undefined"],
)
def test_it_catches_in_the_python_tests(instrumented, file, text, spoilt, report, tmp_path):
    spoilt_one = Instrumented(tmp_path / "sanitized")
    # The same compiler and cache: registry and runner need not be compiled again.
    for variable in ("PATH", "MINDSPORE_TANHBW_CACHE"):
        spoilt_one.environment[variable] = instrumented.environment[variable]
    source = spoilt_one.clone / "mindspore_tanhbw" / "kernel" / file
    assert source.read_text().count(text) == 1
    source.write_text(source.read_text().replace(text, spoilt))
    spoilt_one.build_kernel()
    done, reports = spoilt_one.pytest("tests/test_operator.py")
    assert done.returncode != 0 and report in reports, done.stdout + reports
