"""
Makes the table of supported versions by running: each Python with each MindSpore that there is for it.

    python tests/versions.py [--python 3.11 ...] [--mindspore 2.10.0 ...]

For each pair: a fresh environment, the wheel of this clone installed with that MindSpore, the CPU tests and those on
simulated Ascend that a difference between releases would fail. Prints a table in Markdown, a line as soon as it is known.
"""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ["3.9", "3.10", "3.11", "3.12"]
RELEASES = ["2.7.0", "2.7.1", "2.7.1.post1", "2.7.2", "2.8.0", "2.9.0", "2.10.0"]
CPU_TESTS = ["test_operator.py", "test_binding.py", "test_bind_network.py", "test_bind_network_changes.py", "test_vmap.py"]
ASCEND_TESTS = ["test_ascend.py"]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def outcome(done):
    """What pytest says in its last line, without the time."""
    found = re.findall(r"(\d+ (?:passed|failed|errors?|xfailed))", done.stdout.splitlines()[-1] if done.stdout else "")
    return ", ".join(found) or f"exit code {done.returncode}"


def tests(python, folder, files):
    copied = folder / "tests"
    shutil.copytree(ROOT / "tests", copied, dirs_exist_ok=True)
    cache = folder / "cache"
    environment = {**os.environ, "MINDSPORE_TANHBW_CACHE": str(cache), "XDG_CACHE_HOME": str(folder / "xdg")}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(copied / file for file in files)]
    return outcome(run(*command, cwd=folder, env=environment))


def line(version, release, wheel, folder):
    """One line of the table."""
    run(f"python{version}", "-m", "venv", folder / "venv", check=True)
    python = folder / "venv" / "bin" / "python"
    needs = [f"mindspore=={release}", "numpy<2", "pytest", "hypothesis", "scikit-learn"]
    done = run(python, "-m", "pip", "install", "-q", *needs)
    if "No matching distribution" in done.stderr:
        return ["no such wheel", "", ""]
    if done.returncode == 0:
        done = run(python, "-m", "pip", "install", "-q", wheel)
    if done.returncode:
        return ["no", "", done.stderr.strip().splitlines()[-1]]
    return ["yes", tests(python, folder, CPU_TESTS), tests(python, folder, ASCEND_TESTS)]


def main():
    parser = argparse.ArgumentParser(description="The table of supported versions, made by running.")
    parser.add_argument("--python", nargs="+", default=PYTHONS)
    parser.add_argument("--mindspore", nargs="+", default=RELEASES)
    options = parser.parse_args()
    print("| Python | MindSpore | installs | CPU | simulated Ascend |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as work:
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", work, ROOT, check=True)
        (wheel,) = Path(work).glob("*.whl")
        for release in options.mindspore:
            for version in options.python:
                with tempfile.TemporaryDirectory(dir=work) as folder:
                    print("|", " | ".join([version, release, *line(version, release, wheel, Path(folder))]), "|", flush=True)


if __name__ == "__main__":
    main()
