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
    yield BINDINGS[request.param]
    assert not tbw.is_bound()


@pytest.fixture
def same_as_unbound(mode, binding):
    """Compare use(build()) unbound, bound and unbound again; `launches` is a number, or a range where MindSpore decides."""

    def compare(build, use, launches, dtype=np.float32):
        own, none = run(build, use)
        ours, count = run(build, use, binding)
        again, none_again = run(build, use)
        assert (none, none_again) == (0, 0), "the operator ran while nothing was bound"
        assert count in (launches if isinstance(launches, range) else (launches,))
        assert_close(ours, own, dtype)
        assert_close(again, own, dtype)
        return ours

    return compare
