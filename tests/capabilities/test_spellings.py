"""Every way to write a Tanh, those of `check` and some more: bound, or there is nothing to bind."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import mindspore as ms
import pytest
from mindspore import Tensor, nn, ops
from side_by_side import BINDINGS

from mindspore_tanhbw.commands.spellings import BOUND, NOT_POSSIBLE, Sequence, gradients


class InPlace(nn.Cell):
    def construct(self, x):
        y = x * 1.0
        y.tanh_()
        return y


class Csr(nn.Cell):
    def construct(self, x):
        rows, columns = Tensor([0, 2, 3], ms.int32), Tensor([0, 1, 2], ms.int32)
        return ops.csr_tanh(ms.CSRTensor(rows, columns, x[0], (2, 3))).values


class Coo(nn.Cell):
    def construct(self, x):
        return ops.coo_tanh(ms.COOTensor(Tensor([[0, 1], [1, 2], [1, 0]], ms.int32), x[0], (2, 3))).values


ALSO_BOUND = {
    "ops.csr_tanh": (Csr, 1),
    "ops.coo_tanh": (Coo, 1),
    "nn.DenseBnAct": (lambda: nn.DenseBnAct(3, 4, activation="tanh"), 1),
    "nn.RNN, both directions": (lambda: Sequence(nn.RNN(3, 4, 2, bidirectional=True)), 12),
}


@pytest.mark.parametrize("spelling", [*BOUND, *ALSO_BOUND])
def test_bound(same_as_unbound, spelling):
    build, launches = {**BOUND, **ALSO_BOUND}[spelling]
    same_as_unbound(build, gradients, launches)


@pytest.mark.parametrize("spelling", NOT_POSSIBLE)
def test_nothing_to_bind(same_as_unbound, spelling):
    build, _ = NOT_POSSIBLE[spelling]
    same_as_unbound(build, gradients, 0)


IN_PLACE = """
import sys
sys.path.insert(0, {folder!r})
import mindspore as ms
from mindspore import nn
from side_by_side import BINDINGS, run
from test_spellings import InPlace, gradients
ms.set_context(mode=ms.{mode}_MODE)
for binding in (None, *BINDINGS.values()):
    try:
        run(InPlace, gradients, binding)
    except RuntimeError as error:
        assert "InplaceTanh" in str(error)
        print(type(error).__name__, run(nn.Tanh, gradients)[1])
"""


def test_in_place_has_no_kernel_on_cpu(mode, run_python):
    """Tensor.tanh_ fails as it does unbound, and nothing stays bound; in a process of its own, as it might."""
    printed = run_python(IN_PLACE.format(folder=str(Path(__file__).parent), mode=mode.upper()))
    assert printed.splitlines() == ["RuntimeError 0"] * (1 + len(BINDINGS))
