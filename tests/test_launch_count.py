"""launch_count is exact at any moment, and reading it decides nothing about the device."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import mindspore as ms
import numpy as np

import mindspore_tanhbw as tbw


def test_counts_what_is_still_running():
    x = ms.Tensor(np.ones((1000, 1000), np.float32))
    for _ in range(50):
        before = tbw.launch_count()
        for _ in range(3):
            ms.grad(tbw.tanh)(x)
        assert tbw.launch_count() == before + 3


def test_import_and_count_before_set_device(run_python):
    out = run_python(
        "import mindspore_tanhbw as tbw, mindspore as ms\n"
        "before = tbw.launch_count()\n"
        "ms.set_device('CPU')\n"
        "print(before, ms.grad(tbw.tanh)(ms.Tensor([0.0])), tbw.launch_count())\n"
    )
    assert out.split() == ["0", "[1.]", "1"]


def test_import_after_set_device(run_python):
    out = run_python(
        "import mindspore as ms\n"
        "ms.set_device('CPU')\n"
        "import mindspore_tanhbw as tbw\n"
        "print(ms.grad(tbw.tanh)(ms.Tensor([0.0])), tbw.launch_count())\n"
    )
    assert out.split() == ["[1.]", "1"]
