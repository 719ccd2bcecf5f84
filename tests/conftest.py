"""Fixtures: MindSpore's two modes, and bodies that run in a process of their own."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import sys

import mindspore
import pytest


@pytest.fixture(params=["pynative", "graph"])
def mode(request):
    """Each test once in PyNative mode and once in Graph mode."""
    value = mindspore.PYNATIVE_MODE if request.param == "pynative" else mindspore.GRAPH_MODE
    mindspore.set_context(mode=value)
    yield request.param
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Each test starts in an empty current folder: what it leaves there can be seen."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run_python(tmp_path):
    """Run a program's text in a process of its own, in tmp_path; it must succeed. Returns what it printed."""

    def run(text, **environment):
        # Graph mode reads the source of what it compiles: a file, not -c.
        program = tmp_path / "program.py"
        program.write_text(text)
        done = subprocess.run(
            [sys.executable, str(program)],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            cwd=tmp_path,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
