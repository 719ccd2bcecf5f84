"""The build cache and the current folder: nothing is left behind, nothing races, bad folders are refused."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import sys

import pytest

from mindspore_tanhbw import _cache

GRADIENT = """
import os, sys, mindspore as ms, mindspore_tanhbw as tbw
print(ms.grad(tbw.tanh)(ms.Tensor([0.0, 0.0])), tbw.launch_count())
"""
PRINTED = "[1. 1.] 1"


def test_cold_cache_with_a_space_in_its_path(run_python, tmp_path):
    cache = tmp_path / "a cache"
    assert PRINTED in run_python(GRADIENT, MINDSPORE_TANHBW_CACHE=str(cache))
    assert cache.stat().st_mode & 0o777 == 0o700
    assert sorted(os.listdir(tmp_path)) == ["a cache", "program.py"]


def test_changed_folder_between_building_and_first_use(run_python, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    text = GRADIENT.replace("print", "tbw.bind(); os.chdir('elsewhere'); print")
    assert PRINTED in run_python(text)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_unwritable_current_folder(run_python):
    # /proc takes no files, not even root's.
    assert PRINTED in run_python(GRADIENT.replace("print", "os.chdir('/proc'); print"))


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.long)])
def test_eight_processes_from_an_empty_cache(tmp_path, rounds):
    for number in range(rounds):
        start_eight(tmp_path, tmp_path / f"cache{number}")


def start_eight(tmp_path, cache):
    program = tmp_path / "program.py"
    program.write_text(GRADIENT)
    environment = {**os.environ, "MINDSPORE_TANHBW_CACHE": str(cache)}
    started = [
        subprocess.Popen([sys.executable, program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(8)
    ]
    for process in started:
        out = process.communicate(timeout=300)[0].decode()
        assert process.returncode == 0 and PRINTED in out, out


def test_built_once_and_again_when_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDSPORE_TANHBW_CACHE", str(tmp_path / "cache"))
    built = []

    def build(path):
        built.append(path)
        path.write_text("content")

    first = _cache.fetch("file", ["key"], build)
    assert _cache.fetch("file", ["key"], build) == first and len(built) == 1
    first.write_text("damaged")
    assert _cache.fetch("file", ["key"], build).read_text() == "content" and len(built) == 2
    assert _cache.fetch("file", ["other"], build) != first and len(built) == 3


def test_failed_build_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDSPORE_TANHBW_CACHE", str(tmp_path / "cache"))

    def build(path):
        path.write_text("half")
        raise KeyError

    with pytest.raises(KeyError):
        _cache.fetch("file", ["key"], build)
    assert [name for name in os.listdir(tmp_path / "cache") if not name.endswith(".lock")] == []


def test_folder_that_others_may_write_is_refused(tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("MINDSPORE_TANHBW_CACHE", str(tmp_path / "open"))
    with pytest.raises(RuntimeError, match=r"written by others.*MINDSPORE_TANHBW_CACHE"):
        _cache.folder()


def test_without_a_compiler_tanh_falls_back_and_bind_says_so(run_python):
    out = run_python(
        GRADIENT + "try:\n    tbw.bind()\nexcept RuntimeError as error:\n    print(error)\n",
        CXX="/nonexistent/g++",
    )
    assert PRINTED in out and "apt-get install g++" in out and "CXX" in out


@pytest.mark.parametrize("mask", [0o002, 0o000])
def test_a_umask_that_lets_others_write(tmp_path, mask):
    before = os.umask(mask)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(_cache.VARIABLE, str(tmp_path / "cache"))
            for _ in range(2):
                path = _cache.fetch("file", ["key"], lambda path: path.write_text("text") and None)
    finally:
        os.umask(before)
    assert path.read_text() == "text"


@pytest.mark.parametrize("named", [False, True])
def test_a_user_without_a_home(tmp_path, monkeypatch, named):
    for variable in ("HOME", "XDG_CACHE_HOME", _cache.VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as Python does when it finds none
    if named:
        monkeypatch.setenv(_cache.VARIABLE, str(tmp_path / "cache"))
        assert _cache.folder() == tmp_path / "cache"
    else:
        with pytest.raises(RuntimeError, match=f"^mindspore_tanhbw: .*no home folder.*{_cache.VARIABLE}"):
            _cache.folder()
