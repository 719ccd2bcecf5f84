"""doctor: each environment here is broken for real, and the doctor names what is broken, and only that."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from cann_sim.build import cann_root
from cann_sim.environment import environment

ROOT = Path(__file__).parents[1]
PYTHON_H = Path(sysconfig.get_paths()["include"]) / "Python.h"
SOUND = "sound"

# Every environment in one process on simulated Ascend, for both devices.
RUN_ALL = """
import contextlib, io, json, os, sys
from mindspore_tanhbw.__main__ import main

results = {}
for name, changes in json.load(open("cases.json")).items():
    before = dict(os.environ)
    os.environ.update({key: value for key, value in changes.items() if value is not None})
    for key in (key for key, value in changes.items() if value is None):
        os.environ.pop(key, None)
    for device in ("CPU", "Ascend"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = main(["doctor", "--device", device, "--json", "report.json"])
        report = json.load(open("report.json"))
        results.setdefault(name, {})[device] = {"code": code, "printed": printed.getvalue(), **report}
    os.environ.clear()
    os.environ.update(before)
json.dump(results, open("results.json", "w"))
"""


def copied_cann(folder):
    """A CANN that parts can be taken out of; returns its root."""
    root = folder / "latest"
    shutil.copytree(cann_root(), root, symlinks=True)
    return root


def unset(folder):
    return {"ASCEND_OPP_PATH": None}


def no_folder(folder):
    return {"ASCEND_OPP_PATH": str(folder / "opp")}


def second_opp(folder):
    (folder / "my_opp").mkdir()
    (folder / "my_opp" / "latest").symlink_to(cann_root())
    return {"ASCEND_OPP_PATH": str(folder / "my_opp" / "latest" / "opp")}


def header_missing(folder):
    root = copied_cann(folder)
    (root / "include/aclnnop/aclnn_tanh_backward.h").unlink()
    return {"ASCEND_OPP_PATH": str(root / "opp")}


def library_missing(folder):
    root = copied_cann(folder)
    (root / "lib64/libopapi.so").unlink()
    return {"ASCEND_OPP_PATH": str(root / "opp")}


def library_empty(folder):
    root = copied_cann(folder)
    (root / "lib64/libopapi.so").unlink()
    (root / "lib64/libopapi.so").touch()
    return {"ASCEND_OPP_PATH": str(root / "opp")}


def library_without_the_functions(folder):
    root = copied_cann(folder)
    (root / "lib64/libopapi.so").unlink()
    (folder / "other.cc").write_text('extern "C" int aclnnTanh() { return 0; }')
    command = ["g++", "-shared", "-fPIC", str(folder / "other.cc"), "-o", str(root / "lib64/libopapi.so")]
    subprocess.run(command, check=True)
    return {"ASCEND_OPP_PATH": str(root / "opp")}


def cann_too_old(folder):
    root = copied_cann(folder)
    (root / "compiler/version.info").write_text("Version=7.6.0.1.220\n")
    return {"ASCEND_OPP_PATH": str(root / "opp")}


def cann_without_a_version(folder):
    root = copied_cann(folder)
    (root / "compiler/version.info").write_bytes(b"\xff\xfe")
    return {"ASCEND_OPP_PATH": str(root / "opp")}


def compiler_missing(folder):
    return {"CXX": "/nonexistent/g++"}


def compiler_that_answers(folder, version, machine):
    file = folder / "g++"
    file.write_text(f'#!/bin/sh\ncase "$1" in -dumpmachine) echo {machine};; *) echo {version};; esac\n')
    file.chmod(0o755)
    return {"CXX": str(file)}


def compiler_too_old(folder):
    return compiler_that_answers(folder, "4.8.5", f"{os.uname().machine}-linux-gnu")


def compiler_for_another_machine(folder):
    return compiler_that_answers(folder, "12.2.0", "riscv64-linux-gnu")


def compiler_that_fails(folder):
    return {"CXX": "false"}


def compiler_that_is_no_program(folder):
    (folder / "g++").write_bytes(b"\0")
    (folder / "g++").chmod(0o755)
    return {"CXX": str(folder / "g++")}


def compiler_with_half_a_quote(folder):
    return {"CXX": "'g++"}


def cache_that_cannot_be_made(folder):
    return {"MINDSPORE_TANHBW_CACHE": "/proc/none"}


def cache_without_rights(folder):
    if os.geteuid() == 0:  # to whom no file mode says no, but /proc does
        return {"MINDSPORE_TANHBW_CACHE": "/proc"}
    (folder / "cache").mkdir(mode=0o500)
    return {"MINDSPORE_TANHBW_CACHE": str(folder / "cache")}


def cache_open_to_others(folder):
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)
    return {"MINDSPORE_TANHBW_CACHE": str(folder / "cache")}


def cache_of_another_user(folder):
    if os.geteuid() != 0:
        return {"MINDSPORE_TANHBW_CACHE": "/usr"}  # root's
    (folder / "cache").mkdir()
    os.chown(folder / "cache", 12345, 12345)
    return {"MINDSPORE_TANHBW_CACHE": str(folder / "cache")}


def white_list(folder):
    return {"MS_CUSTOM_AOT_WHITE_LIST": str(folder)}


CPU, ASCEND = {"CPU"}, {"Ascend"}
BOTH = CPU | ASCEND
# How it is broken; the finding; its state where it matters; the devices that it makes unusable; what the line says.
BROKEN = [
    (unset, "CANN root", "missing", ASCEND, ["ASCEND_OPP_PATH is not set", "source", "set_env.sh"]),
    (no_folder, "CANN root", "missing", ASCEND, ["no folder", "set_env.sh"]),
    (second_opp, "CANN root", "warning", set(), ["my_opp", "first 'opp'", "link to it"]),
    (header_missing, "CANN operator", "missing", ASCEND, ["aclnn_tanh_backward.h is missing", "set_env.sh"]),
    (library_missing, "CANN operator", "missing", ASCEND, ["libopapi.so is missing"]),
    (library_empty, "CANN operator", "missing", ASCEND, ["has no function aclnnTanhBackward"]),
    (library_without_the_functions, "CANN operator", "missing", ASCEND, ["has no function aclnnTanhBackward"]),
    (cann_too_old, "CANN version", "warning", set(), ["CANN 7.6", "is made for CANN"]),
    (cann_without_a_version, "CANN version", "warning", set(), ["not found"]),
    (compiler_missing, "compiler", "missing", ASCEND, ["no /nonexistent/g++", "apt-get install g++", "CXX"]),
    (compiler_too_old, "compiler", "missing", BOTH, ["4.8", "older than 7.3"]),
    (compiler_for_another_machine, "compiler", "missing", BOTH, ["compiles for riscv64-linux-gnu"]),
    (compiler_that_fails, "compiler", "missing", BOTH, ["does not tell its version"]),
    (compiler_that_is_no_program, "compiler", "missing", BOTH, ["does not tell its version"]),
    (compiler_with_half_a_quote, "compiler", "missing", BOTH, ["CXX is 'g++", "quotation"]),
    (cache_that_cannot_be_made, "cache", "missing", BOTH, ["/proc/none cannot be made", "MINDSPORE_TANHBW_CACHE="]),
    (cache_without_rights, "cache", "missing", BOTH, ["cannot be written", "MINDSPORE_TANHBW_CACHE="]),
    (cache_open_to_others, "cache", "missing", BOTH, ["can be written by others", "chmod 700"]),
    (cache_of_another_user, "cache", "missing", BOTH, ["belongs to user"]),
    (white_list, "white list", "missing", BOTH, ["MS_CUSTOM_AOT_WHITE_LIST", "refuses", "unset"]),
]
FOLLOW = {"mechanism": BOTH, "CANN operator": {unset, no_folder}, "CANN version": {unset, no_folder}}
"""Findings that other findings make worse."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Of each environment and each device the exit code, the text and the findings."""
    folder = tmp_path_factory.mktemp("doctor")
    own_cache = folder / "own_cache"
    cases = {SOUND: {"MINDSPORE_TANHBW_CACHE": str(own_cache)}}
    for breaks, *_ in BROKEN:
        place = folder / breaks.__name__
        place.mkdir()
        cases[breaks.__name__] = breaks(place)
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "program.py").write_text(RUN_ALL)
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.listdir(own_cache) == [], "the doctor compiles nothing"
    return json.loads((folder / "results.json").read_text())


def states(report):
    return {one["name"]: one["state"] for one in report["findings"]}


@pytest.mark.parametrize("device", ["CPU", "Ascend"])
def test_sound_environment_is_usable(results, device):
    report = results[SOUND][device]
    assert report["code"] == 0 and report["usable"] and report["device"] == device
    expected = {"ok"} if PYTHON_H.is_file() else {"ok", "warning"}
    assert set(states(report).values()) == expected
    assert report["printed"].endswith(f"usable on {device}\n")


@pytest.mark.parametrize("breaks, name, state, unusable, texts", BROKEN, ids=[case[0].__name__ for case in BROKEN])
def test_broken_environment_is_named(results, breaks, name, state, unusable, texts):
    for device in ("CPU", "Ascend"):
        report = results[breaks.__name__][device]
        assert report["code"] == (1 if device in unusable else 0)
        expected = state
        if device == "CPU" and device not in unusable:
            expected = "info" if name.startswith("CANN") else "warning"
        found = states(report)
        assert found[name] == expected
        (line,) = [line for line in report["printed"].splitlines() if line[9:].startswith(name + " ")]
        assert line.startswith(expected)
        for text in texts:
            assert text in line
        follows = {other for other, causes in FOLLOW.items() if causes is BOTH or breaks in causes}
        sound = states(results[SOUND][device])
        for other in found.keys() - follows - {name}:
            assert found[other] == sound[other], other
        assert (found["mechanism"] == "missing") == (device in unusable)


def test_every_line_that_is_not_ok_says_what_to_do(results):
    for reports in results.values():
        for report in reports.values():
            for one in report["findings"]:
                assert one["state"] == "ok" or one["mend"] or one["name"] == "mechanism", one


def test_without_a_compiler_the_mechanism_is_the_cell(results):
    report = results["compiler_missing"]["CPU"]
    (found,) = [one["found"] for one in report["findings"] if one["name"] == "mechanism"]
    assert found == "Cell.bprop"


def test_the_white_list_that_is_named_really_stops_the_operator(run_python, tmp_path):
    out = run_python(
        "import mindspore as ms, mindspore_tanhbw as tbw\n"
        "try:\n    tbw.tanh_backward(ms.Tensor([1.0]), ms.Tensor([0.5]))\n"
        "except TypeError as error:\n    print('legal path' in str(error))\n",
        MS_CUSTOM_AOT_WHITE_LIST=str(tmp_path),
    )
    assert out == "True\n"


def doctor(*arguments, **changes):
    # Without a CANN that this machine may have.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ASCEND_", "LD_LIBRARY_PATH"))}
    env.update(changes)
    command = [sys.executable, "-m", "mindspore_tanhbw", "doctor", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


def line(done, name):
    (found,) = [line for line in done.stdout.splitlines() if line[9:].startswith(name + " ")]
    return found


def test_chip_without_bfloat16():
    done = doctor(**environment(soc="Ascend910A"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert line(done, "bfloat16").startswith("warning") and "float16, float32 and float64" in line(done, "bfloat16")
    assert done.stdout.endswith("usable on Ascend\n"), "auto takes Ascend when it is usable"


def test_target_set_after_use(run_python):
    out = run_python(
        """
import mindspore as ms
from mindspore_tanhbw.__main__ import main
ms.set_device("CPU")
main(["doctor", "--device", "Ascend"])
print(ms.ops.tanh(ms.Tensor([0.5])))
main(["doctor", "--device", "Ascend"])
""",
        **environment(),
    )
    before, after = (line for line in out.splitlines() if "device target" in line)
    assert before.startswith("ok") and "until mindspore.set_device('Ascend')" in before
    assert after.startswith("warning") and "CPU, in use already" in after and "right after import mindspore" in after


def test_without_cann_only_the_cpu_is_usable(tmp_path):
    done = doctor()
    assert done.returncode == 0 and done.stdout.endswith("usable on CPU\n")
    assert line(done, "CANN root").startswith("info")
    assert line(done, "Ascend plugin").startswith("info") and "libge_runner.so" in line(done, "Ascend plugin")
    assert os.listdir(tmp_path) == []


def copied_package(folder):
    shutil.copytree(ROOT / "mindspore_tanhbw", folder / "mindspore_tanhbw", ignore=shutil.ignore_patterns("*.so"))
    shutil.copytree(ROOT / "bprop", folder / "mindspore_tanhbw" / "bprop")


def test_package_in_a_folder_with_a_colon(tmp_path, monkeypatch):
    copied_package(tmp_path / "a:b")
    (tmp_path / "a:b" / "mindspore_tanhbw" / "_tanh_backward_cpu.so").touch()
    monkeypatch.chdir(tmp_path / "a:b")
    done = doctor("--device", "CPU", PYTHONPATH="")
    assert done.returncode == 1, done.stdout + done.stderr
    found = line(done, "CPU kernel")
    assert found.startswith("missing") and "has a colon in its path" in found and "into another folder" in found
    code = "from mindspore_tanhbw import launch_count as f\ntry: f()\nexcept RuntimeError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert f"{tmp_path}/a:b/mindspore_tanhbw has a colon in its path" in done.stdout, done.stderr


def test_kernel_library_that_cannot_be_loaded(tmp_path):
    copied_package(tmp_path)
    (tmp_path / "mindspore_tanhbw" / "_tanh_backward_cpu.so").touch()
    done = doctor("--device", "CPU", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    assert line(done, "CPU kernel").startswith("missing") and "cannot be loaded" in line(done, "CPU kernel")


def test_python_without_headers(tmp_path):
    # The same interpreter and library, in a place without an include folder.
    (tmp_path / "lib").symlink_to(Path(sys.base_prefix) / "lib")
    paths = [str(ROOT), sysconfig.get_paths()["purelib"]]
    done = doctor("--device", "CPU", PYTHONHOME=str(tmp_path), PYTHONPATH=os.pathsep.join(paths))
    assert done.returncode == 0, done.stdout + done.stderr
    assert line(done, "Python.h").startswith("warning") and "-dev" in line(done, "Python.h")
    assert "without the C++ runner" in line(done, "mechanism")


@pytest.mark.long
def test_numpy_2(run_python, tmp_path):
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(tmp_path / "numpy2"), "numpy>=2,<2.1"]
    subprocess.run(command, check=True, timeout=300)
    done = doctor("--device", "CPU", PYTHONPATH=str(tmp_path / "numpy2"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert line(done, "NumPy").startswith("warning") and "pip install 'numpy<2'" in line(done, "NumPy")
    out = run_python(
        "import mindspore as ms\n"
        "try:\n    ms.Tensor([1.0], ms.bfloat16).asnumpy()\n"
        "except TypeError as error:\n    print('bfloat16' in str(error))\n",
        PYTHONPATH=str(tmp_path / "numpy2"),
    )
    assert out == "True\n", "what the line says"


MISTAKES = {
    "no command": [],
    "unknown command": ["operate"],
    "unknown option": ["check", "--fast"],
    "unknown device": ["doctor", "--device", "GPU"],
    "no number": ["train", "--epochs", "ten"],
    "no such folder": ["doctor", "--json", "none/report.json"],
    "a folder": ["doctor", "--json", "."],
    "no folder for a plot": ["check", "--plot", "none/errors.svg"],
    "no plot": ["check", "--plot", "errors.txt"],
}


def test_mistakes_are_one_line_and_exit_code_2(run_python):
    out = run_python(
        f"""
import contextlib, io, json
from mindspore_tanhbw.__main__ import main
for arguments in {list(MISTAKES.values())!r}:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            code = main(arguments)
    except SystemExit as exit:
        code = exit.code
    print(json.dumps([code, said.getvalue()]))
"""
    )
    for name, told in zip(MISTAKES, out.splitlines()):
        code, said = json.loads(told)
        assert code == 2 and said.count("\n") == 1 and said.startswith("mindspore-tanhbw"), (name, said)


@pytest.mark.parametrize("command", ["check", "train"])
def test_a_broken_cache_is_one_line_and_exit_code_2(command):
    arguments = [sys.executable, "-m", "mindspore_tanhbw", command, "--device", "CPU"]
    changes = {**os.environ, "MINDSPORE_TANHBW_CACHE": "/proc/none"}
    done = subprocess.run(arguments, env=changes, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "/proc/none" in done.stderr, done.stderr
