"""Graph mode on Ascend compiles the Custom operator where Tanh is bound, and MindSpore's TanhGrad where it is not."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import re


def test_the_ir_shows_which_gradient_was_compiled(on_ascend, tmp_path):
    on_ascend(
        """
gradient(nn.Tanh())
gradient(tbw.Tanh())
with tbw.bound():
    gradient(nn.Tanh())
gradient(nn.Tanh())
""",
        "GRAPH",
        variables={"MS_DEV_SAVE_GRAPHS": "2", "MS_DEV_SAVE_GRAPHS_PATH": str(tmp_path / "ir")},
    )
    # validate is the last stage before a backend sees the graph; the number at the end counts all stages of all graphs.
    stages = sorted((tmp_path / "ir").rglob("*_validate_*.ir"), key=lambda path: int(path.stem.rsplit("_", 1)[1]))
    shown = [re.findall(r" = (?:PrimFunc_)?(Tanh|Custom|TanhGrad)\(", path.read_text()) for path in stages]
    own, ours = ["Tanh", "TanhGrad"], ["Tanh", "Custom"]
    assert shown == [own, ours, ours, own]
