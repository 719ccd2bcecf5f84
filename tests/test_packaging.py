"""The sdist and the wheel: what is in them, that an installed wheel works, and what a build without a compiler says."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import os
import platform
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import mindspore_tanhbw as tbw

ROOT = Path(__file__).resolve().parents[1]
SUBPACKAGES = {"": "mindspore_tanhbw", "commands/": "mindspore_tanhbw/commands", "bprop/": "bprop"}


def execute(*command, **environment):
    return subprocess.run(
        [str(one) for one in command], capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )


def pip_wheel(source, target, **environment):
    return execute(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", target, source, **environment)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    target = tmp_path_factory.mktemp("sdist")
    done = execute(sys.executable, "-m", "build", "--sdist", "--outdir", target, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = target.glob("*")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Built from the sdist."""
    target = tmp_path_factory.mktemp("wheel")
    done = pip_wheel(sdist, target)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = target.glob("*")
    return found


def test_the_sdist_has_all_sources_and_no_binaries(sdist):
    assert sdist.name == f"mindspore_tanhbw-{tbw.__version__}.tar.gz"
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    kernel = {f"mindspore_tanhbw/kernel/{path.name}" for path in (ROOT / "mindspore_tanhbw" / "kernel").iterdir()}
    others = {"LICENSE", "README.md", "setup.py", "pyproject.toml", "bprop/registry.cc", "tests/test_packaging.py"}
    assert kernel | others <= inside
    assert not [name for name in inside if name.endswith((".so", ".o", ".pyc"))]


def test_the_wheel_is_for_any_python_on_this_platform_and_has_the_package_alone(wheel):
    assert wheel.name == f"mindspore_tanhbw-{tbw.__version__}-py3-none-linux_{platform.machine()}.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"mindspore_tanhbw-{tbw.__version__}.dist-info/METADATA").decode()
    assert {name.split("/")[0] for name in names} == {
        "mindspore_tanhbw",
        f"mindspore_tanhbw-{tbw.__version__}.dist-info",
    }
    assert f"\nVersion: {tbw.__version__}\n" in metadata
    inside = {name.partition("/")[2] for name in names if name.startswith("mindspore_tanhbw/")}
    modules = {to + path.name for to, of in SUBPACKAGES.items() for path in (ROOT / of).glob("*.py")}
    assert {name for name in inside if name.endswith(".py")} == modules
    assert [name for name in inside if name.endswith(".so")] == ["_tanh_backward_cpu.so"]
    assert {"bprop/registry.cc", "py.typed"} <= inside


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """The bin folder of a new environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    (packages,) = folder.glob("lib/*/site-packages")
    done = execute(folder / "bin" / "pip", "install", "--no-deps", "--no-index", wheel)
    assert done.returncode == 0, done.stdout + done.stderr
    # MindSpore and what it needs come from this environment, behind the new one's own packages; afterwards, or pip would
    # find the package installed.
    (packages / "mindspore.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


GRADIENT = """
import mindspore, mindspore_tanhbw as tbw
print(tbw.__file__, mindspore.grad(tbw.tanh)(mindspore.Tensor([0.0, 0.5])), tbw.launch_count())
"""


def test_an_installed_wheel_works_without_a_compiler(fresh, tmp_path):
    program = tmp_path / "gradient.py"
    program.write_text(GRADIENT)
    alone = {"PATH": str(fresh), "CXX": "", "PYTHONPATH": "", "MINDSPORE_TANHBW_CACHE": str(tmp_path / "cache")}
    done = execute(fresh / "python", program, **alone)
    assert done.returncode == 0, done.stderr
    file, *gradient, launches = done.stdout.split()
    assert Path(file).is_relative_to(fresh.parent)
    assert (gradient, launches) == (["[1.", "0.7864477]"], "1")


@pytest.mark.long
def test_the_console_script_of_an_installed_wheel(fresh, tmp_path):
    path = f"{fresh}{os.pathsep}{os.environ['PATH']}"
    command = (fresh / "mindspore-tanhbw", "check", "--mode", "pynative", "--json", tmp_path / "check.json")
    done = execute(*command, PATH=path, PYTHONPATH="")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [row for row in json.loads((tmp_path / "check.json").read_text()) if "route" in row]
    # Four dtypes by two routes, but MindSpore has no bfloat16 Tanh on CPU.
    assert [(row["launches"], row["result"]) for row in rows] == [(1, "ok")] * 7


def test_a_build_without_a_compiler_says_what_to_install(sdist, tmp_path):
    done = pip_wheel(sdist, tmp_path / "wheels", CXX="/nonexistent/g++")
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "'/nonexistent/g++' could not be run" in said
    assert "apt-get install g++" in said and "environment variable CXX" in said
    assert not list(tmp_path.glob("wheels/*.whl"))


def test_the_gradient_definitions_are_no_package_of_their_own():
    done = subprocess.run([sys.executable, "-c", "import bprop"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "ImportError: This folder is the package mindspore_tanhbw.bprop" in done.stderr
