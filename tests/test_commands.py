"""The command line, as a user calls it."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json
import os
import subprocess
import sys

import mindspore_tanhbw


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mindspore_tanhbw", *arguments], capture_output=True, text=True, timeout=300
    )


def test_train_counts_its_launches(tmp_path):
    done = command("train", "--device", "CPU", "--epochs", "2", "--json", "figures.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.listdir(tmp_path) == ["figures.json"]
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [one["mode"] for one in figures] == ["pynative", "graph"]
    for one in figures:
        # 1438 digits in batches of 64, two epochs, two Tanh layers.
        assert one["operator"]["launches"] == 22 * 2 * 2 and one["own"]["launches"] == 0
        assert one["operator"]["loss"][1] < one["operator"]["loss"][0]


def test_check_passes():
    done = command("check", "--device", "CPU")
    assert done.returncode == 0, done.stdout + done.stderr
    # Fourteen of dtypes, and of spellings eighteen in each mode.
    assert done.stdout.count(" ok") == 14 + 2 * 18
    assert "WARNING" not in done.stdout + done.stderr


def test_version():
    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"mindspore_tanhbw {mindspore_tanhbw.__version__}\n")


def test_bench_measures_in_pairs(tmp_path):
    options = ["--repeats", "7", "--processes", "1", "--largest", "1e4", "--json", "figures.json", "--plot", "ratios.svg"]
    done = command("bench", "--device", "CPU", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "figures.json").read_text())
    assert len(done.stdout.splitlines()) == len(rows) + 2
    for line, row in zip(done.stdout.splitlines()[2:], rows):
        measured = round(1e3 * row["difference"]) if row["target"].endswith(" ms") else round(row["ratio"], 2)
        assert line.endswith("above") == (measured > float(row["target"].split()[0]))
        assert row["ours"] > 0 and row["other"] > 0 and row["ratio"] == row["ours"] / row["other"]
    assert "<svg" in (tmp_path / "ratios.svg").read_text()


def test_a_mistake_is_one_line():
    done = command("train", "--device", "CPU", "--epochs", "0")
    assert done.returncode == 2 and done.stderr.strip().count("\n") == 0 and "--epochs" in done.stderr


def test_a_reader_that_leaves_early_is_no_error():
    command = f"set -o pipefail; {sys.executable} -m mindspore_tanhbw doctor --device CPU | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (141, "")


def test_without_standard_output():
    command = f"{sys.executable} -m mindspore_tanhbw doctor --device CPU >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr and done.returncode in (0, 1)
