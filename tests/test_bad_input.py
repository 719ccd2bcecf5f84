"""Bad input: every argument of every public function and every option refuses it, runs no kernel, and goes on."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import itertools

import mindspore as ms
import numpy as np
import pytest
from mindspore import COOTensor, CSRTensor, Parameter, Tensor, nn, ops

import mindspore_tanhbw as tbw
from mindspore_tanhbw.__main__ import main

ONES = np.ones((2, 3), np.float32)
GOOD = Tensor(ONES)
INDEX = Tensor([[0, 1]], ms.int32)
POINTERS = Tensor([0, 1, 1], ms.int32)

NO_TENSORS = {
    "none": None,
    "int": 3,
    "float": 1.5,
    "bool": True,
    "str": "tensor",
    "list": [1.0, 2.0],
    "list of tensors": [GOOD, GOOD],
    "tuple": (1.0, 2.0),
    "tuple of tensors": (GOOD, GOOD),
    "dict": {"a": GOOD},
    "set": {1},
    "array": ONES,
    "scalar of NumPy": np.float32(1),
    "sparse COO": COOTensor(INDEX, Tensor([1.0], ms.float32), (2, 3)),
    "sparse CSR": CSRTensor(POINTERS, Tensor([0], ms.int32), Tensor([1.0], ms.float32), (2, 3)),
    "dtype": ms.float32,
    "function": ops.tanh,
    "cell": nn.Tanh(),
    "class": Tensor,
    "module": np,
    "object": object(),
    "slice": slice(0, 2),
    "ellipsis": ...,
}
DTYPES = {
    str(dtype): GOOD.astype(dtype)
    for dtype in (ms.bool_, ms.int8, ms.uint8, ms.int16, ms.int32, ms.int64, ms.complex64, ms.complex128)
}
DTYPES["String"] = Tensor(np.array(["a", "b"]))
SHAPES = {"()": (), "(3,)": (3,), "(3, 2)": (3, 2), "(2, 1)": (2, 1), "(0, 3)": (0, 3)}


class Backward(nn.Cell):
    def construct(self, grad_output, output):
        return tbw.tanh_backward(grad_output, output)


class Forward(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, input):
        return self.function(input)


def refused(call, error):
    """The exception's text; no kernel ran, and the next call works."""
    before = tbw.launch_count()
    with pytest.raises(error) as caught:
        call().asnumpy()
    assert tbw.launch_count() == before
    np.testing.assert_array_equal(Backward()(Tensor(3 * ONES), Tensor(2 * ONES)).asnumpy(), -9 * ONES)
    assert tbw.launch_count() == before + 1
    return str(caught.value)


@pytest.mark.parametrize("name", NO_TENSORS)
def test_no_tensor(mode, name):
    bad = NO_TENSORS[name]
    for place, pair in (("grad_output", (bad, GOOD)), ("output", (GOOD, bad)), ("grad_output", (bad, bad))):
        text = refused(lambda pair=pair: Backward()(*pair), TypeError)
        assert f"'{place}'" in text and "ACLNN_ERR_PARAM_NULLPTR (161001)" in text


@pytest.mark.parametrize("name", DTYPES)
def test_dtype(mode, name):
    bad = DTYPES[name]
    for pair in ((bad, GOOD), (GOOD, bad), (bad, bad)):
        text = refused(lambda pair=pair: Backward()(*pair), TypeError)
        assert all(str(one.dtype) in text for one in pair) and "ACLNN_ERR_PARAM_INVALID (161002)" in text


@pytest.mark.parametrize(
    "first, second", [*itertools.permutations([ms.float16, ms.float32, ms.float64, ms.bfloat16], 2)], ids=str
)
def test_mixed_dtypes(mode, first, second):
    text = refused(lambda: Backward()(GOOD.astype(first), GOOD.astype(second)), TypeError)
    assert f"{first} and {second}" in text and "161002" in text


@pytest.mark.parametrize("name", SHAPES)
def test_mixed_shapes(mode, name):
    bad = Tensor(np.zeros(SHAPES[name], np.float32))
    for pair in ((bad, GOOD), (GOOD, bad)):
        text = refused(lambda pair=pair: Backward()(*pair), ValueError)
        assert name in text and "(2, 3)" in text and "161002" in text


@pytest.mark.parametrize("shape", [(1,) * 9, (2,) + (1,) * 11, (0,) + (1,) * 8])
def test_more_than_eight_dimensions(mode, shape):
    bad = Tensor(np.zeros(shape, np.float32))
    for place, pair in (("grad_output", (bad, GOOD)), ("output", (GOOD, bad)), ("grad_output", (bad, bad))):
        text = refused(lambda pair=pair: Backward()(*pair), ValueError)
        assert f"'{place}'" in text and f"has {len(shape)}" in text and "161002" in text


def test_a_pattern_of_shapes_is_no_shape():
    for shape in ([None, 3], None):
        bad = Tensor(shape=shape, dtype=ms.float32)
        for pair in ((bad, GOOD), (GOOD, bad), (bad, bad)):
            assert "161002" in refused(lambda pair=pair: Backward()(*pair), ValueError)


def test_a_parameter_is_a_tensor(mode):
    g, y = Parameter(Tensor(3 * ONES), name="g"), Parameter(Tensor(2 * ONES), name="y")
    np.testing.assert_array_equal(Backward()(g, y).asnumpy(), -9 * ONES)


@pytest.mark.parametrize("name", [*NO_TENSORS, *DTYPES, "BFloat16"])
def test_tanh_refuses_what_the_tanh_of_mindspore_refuses(mode, name):
    bad = GOOD.astype(ms.bfloat16) if name == "BFloat16" else {**NO_TENSORS, **DTYPES}[name]

    def outcome(function):
        try:
            return function(bad).asnumpy().dtype
        except Exception as error:
            return type(error)

    expected = outcome(Forward(ops.tanh))
    before = tbw.launch_count()
    assert outcome(Forward(tbw.tanh)) == outcome(tbw.Tanh()) == expected
    assert tbw.launch_count() == before
    np.testing.assert_array_equal(ms.grad(tbw.tanh)(Tensor([0.0])).asnumpy(), [1.0])


def test_wrong_number_and_names_of_arguments():
    for call in (
        lambda: tbw.tanh_backward(GOOD),
        lambda: tbw.tanh_backward(GOOD, GOOD, GOOD),
        lambda: tbw.tanh_backward(output=GOOD),
        lambda: tbw.tanh_backward(GOOD, y=GOOD),
        lambda: tbw.tanh(),
        lambda: tbw.tanh(x=GOOD),
        lambda: tbw.Tanh(3),
        lambda: tbw.Tanh()(GOOD, GOOD),
    ):
        refused(call, TypeError)
    for call in (tbw.launch_count, tbw.bind, tbw.unbind, tbw.is_bound, tbw.bound):
        with pytest.raises(TypeError):
            call(nn.Tanh(), 3)


@pytest.mark.parametrize("name", [name for name in NO_TENSORS if name not in ("none", "cell")])
@pytest.mark.parametrize("function", ["bind", "unbind", "is_bound", "bound"])
def test_what_is_no_network(function, name):
    for wrong in (NO_TENSORS[name], nn.Tanh):
        message = f"For '{function}', 'net' must be a Cell"
        with pytest.raises(TypeError, match=message), getattr(tbw, function)(wrong):
            pass  # bound() says it on entry, the others when called
    assert not tbw.is_bound()


def test_more_than_there_is_memory(mode, run_python):
    """Two inputs that take no memory yet, and a result that cannot have any."""
    printed = run_python(
        f"""
import mindspore as ms, numpy as np, resource
from mindspore import Tensor, nn
import mindspore_tanhbw as tbw
ms.set_context(mode=ms.{mode.upper()}_MODE)
class Backward(nn.Cell):
    def construct(self, g, y): return tbw.tanh_backward(g, y)
small = Tensor(np.full(3, 2, np.float32))
Backward()(small, small).asnumpy()
before = tbw.launch_count()
for size in (1 << 44, 1 << 61):
    try:
        huge = Tensor(shape=(size,), dtype=ms.float32)
        Backward()(huge, huge).asnumpy()
    except (RuntimeError, MemoryError, ValueError) as error:
        print(type(error).__name__)
print(tbw.launch_count() - before, *Backward()(small, small).asnumpy())
"""
    )
    assert len(printed.splitlines()) == 3 and printed.splitlines()[-1] == "0 -6.0 -6.0 -6.0"


OPTIONS = {
    "no command": [],
    "unknown command": ["tan"],
    "unknown option": ["check", "--loud"],
    "device": ["check", "--device", "GPU"],
    "no Ascend": ["check", "--device", "Ascend"],
    "mode": ["check", "--mode", "eager"],
    "no value": ["check", "--json"],
    "json in no folder": ["check", "--json", "nowhere/figures.json"],
    "json is a folder": ["check", "--json", "."],
    "plot in no folder": ["check", "--plot", "nowhere/errors.svg"],
    "plot is a folder": ["train", "--plot", "."],
    "plot of no known kind": ["train", "--plot", "curves.tanh"],
    "plot without a kind": ["bench", "--plot", "ratios"],
    "epochs 0": ["train", "--epochs", "0"],
    "epochs negative": ["train", "--epochs", "-3"],
    "epochs no number": ["train", "--epochs", "ten"],
    "epochs not whole": ["train", "--epochs", "1.5"],
    "seed negative": ["train", "--seed", "-1"],
    "seed too large": ["train", "--seed", str(1 << 70)],
    "seed no number": ["train", "--seed", "x"],
    "repeats": ["bench", "--repeats", "6"],
    "repeats no number": ["bench", "--repeats", "many"],
    "processes": ["bench", "--processes", "0"],
    "largest": ["bench", "--largest", "10"],
    "largest no number": ["bench", "--largest", "nan"],
    "largest endless": ["bench", "--largest", "inf"],
}


@pytest.mark.parametrize("name", OPTIONS)
def test_command_line(name, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("ASCEND_OPP_PATH", raising=False)
    try:
        code = main(OPTIONS[name])
    except SystemExit as end:
        code = end.code
    out, error = capsys.readouterr()
    assert code == 2 and out == ""
    assert error.startswith("mindspore-tanhbw") and error.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_command_line_without_a_usable_cache(run_python):
    """A refused cache folder is the user's to mend, too."""
    printed = run_python(
        "import os, subprocess, sys\n"
        "os.mkdir('open'); os.chmod('open', 0o777)\n"
        "done = subprocess.run([sys.executable, '-m', 'mindspore_tanhbw', 'check', '--device', 'CPU', '--mode', 'graph'],\n"
        "    env={**os.environ, 'MINDSPORE_TANHBW_CACHE': 'open'}, capture_output=True, text=True)\n"
        "ours = [line for line in done.stderr.splitlines() if 'mindspore-tanhbw' in line]\n"
        "print(done.returncode, 'Traceback' in done.stderr, len(ours), 'chmod' in ours[0])\n"
    )
    assert printed.split() == ["2", "False", "1", "True"]
