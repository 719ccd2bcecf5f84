"""The README's snippet prints what the README says."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import re
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_snippet_prints_what_stands_there(run_python, name):
    text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8")
    snippet = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    output = re.search(r"```\n(\[.*?)```", text, re.S).group(1)
    assert run_python(snippet) == output
