"""In the clone's root the source folder shadows the install, and everything works there too."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_command_in_the_root():
    done = run("-m", "mindspore_tanhbw", "check", "--device", "CPU", "--mode", "pynative")
    assert done.returncode == 0, done.stdout + done.stderr


def test_bprop_is_no_package_of_its_own():
    done = run("-c", "import bprop")
    assert done.returncode == 1 and "mindspore_tanhbw.bprop" in done.stderr
