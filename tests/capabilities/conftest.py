"""Fixtures: each way to bind, and the comparison of the bound with the unbound network."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from side_by_side import BINDINGS, assert_close, run

import mindspore_tanhbw as tbw


@pytest.fixture(params=BINDINGS)
def binding(request):
    """Each test once for each way to bind."""
    return BINDINGS[request.param]


@pytest.fixture(autouse=True)
def unbound_afterwards():
    yield
    assert not tbw.is_bound()


@pytest.fixture
def same_as_unbound(mode):
    """
    Compare use(build()) unbound and bound in each way.

    `launches` of the operator are a number, a range where MindSpore decides, or one of these for each way to bind.
    """

    def compare(build, use, launches, dtype=np.float32):
        own, none = run(build, use)
        assert none == 0, "the operator ran while nothing was bound"
        for name, binding in BINDINGS.items():
            ours, count = run(build, use, binding)
            expected = launches[name] if isinstance(launches, dict) else launches
            assert count in (expected if isinstance(expected, range) else (expected,)), f"launches with {name}"
            assert_close(ours, own, dtype)

    return compare
