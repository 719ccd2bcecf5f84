"""What leaves a bound network: copies, pickles, checkpoints, exported graphs, and processes that are started."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import copy
import multiprocessing
import pickle

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn
from side_by_side import TwoLayers, X, assert_close, run
from workers import gradients, gradients_in_a_worker

import mindspore_tanhbw as tbw


def trained(net):
    """A step, so that what a first use leaves in a network is there."""
    update = nn.SGD(net.trainable_params(), learning_rate=0.1)
    update(ms.grad(net, None, net.trainable_params())(Tensor(X)))
    return net


def test_deepcopy(same_as_unbound):
    def use(net):
        copied = copy.deepcopy(trained(net))
        return gradients(copied), gradients(net)

    same_as_unbound(TwoLayers, use, 3)


PICKLES = {
    "mint.nn.Tanh": lambda: nn.SequentialCell(mint.nn.Tanh(), mint.nn.Tanh()),
    "nn.Tanh": nn.Tanh,
    "nn.Dense": TwoLayers,
}


def copied_by_pickle(net):
    ms.grad(net)(Tensor(X))
    try:
        return pickle.loads(pickle.dumps(net))
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("case", PICKLES)
def test_pickle(mode, binding, case):
    """A network that MindSpore can pickle can be pickled while bound; the others have the same error."""
    found = []
    for bound in (None, binding):

        def use(net):
            found.append(copied_by_pickle(net))
            return 0 if isinstance(found[-1], str) else ms.grad(found[-1])(Tensor(X))

        found.append(run(PICKLES[case], use, bound))
    own, (own_result, _), ours, (our_result, launches) = found
    assert type(own) is type(ours)
    assert_close(our_result, own_result)
    if isinstance(own, str):
        assert own == ours
    else:
        assert launches == 4, "two Tanh, in the network and in its copy"


def test_spawned_workers(mode):
    """A new process starts unbound, and binds for itself."""
    with tbw.bound(), multiprocessing.get_context("spawn").Pool(2) as pool:
        answers = pool.map(gradients_in_a_worker, [(mode, 1), (mode, 2)], chunksize=1)
    for factor, (was_bound, unbound, ours, launches) in enumerate(answers, 1):
        assert not was_bound and launches == 1
        assert_close(ours, unbound)
        assert_close(ours, run(TwoLayers, lambda net, factor=factor: gradients(net, factor * X))[0])


@pytest.mark.parametrize("saved_bound", [True, False])
def test_checkpoints_go_both_ways(mode, binding, saved_bound):
    """Saved bound and loaded unbound, or the other way: same names, same values, same gradients."""

    def save(net):
        ms.save_checkpoint(trained(net), "net.ckpt")
        return gradients(net)

    def load(net):
        loaded = ms.load_checkpoint("net.ckpt")
        assert list(loaded) == [parameter.name for parameter in net.get_parameters()]
        assert ms.load_param_into_net(net, loaded) == ([], [])
        return gradients(net)

    saved, launches = run(TwoLayers, save, binding if saved_bound else None)
    assert launches == (2 if saved_bound else 0)
    # From another seed: the weights are those of the file or the gradients differ.
    loaded, launches = run(TwoLayers, load, None if saved_bound else binding, seed=12)
    assert launches == (0 if saved_bound else 1)
    assert_close(loaded, saved)


LOAD = """
import sys
sys.modules["mindspore_tanhbw"] = None  # an import of the package fails
import numpy as np, mindspore as ms
from mindspore import nn
ms.set_context(mode=ms.GRAPH_MODE)
net = nn.GraphCell(ms.load({file!r}))
np.save("result.npy", net(ms.Tensor(np.load("input.npy"))).asnumpy())
"""


def test_exported_graph_needs_nothing_of_this_package(mode, binding, run_python, tmp_path):
    folder = tmp_path / "exported"

    def export(net):
        ms.export(trained(net), Tensor(X), file_name=str(folder / "net"), file_format="MINDIR")
        return net(Tensor(X))

    expected, _ = run(TwoLayers, lambda net: trained(net)(Tensor(X)))
    folder.mkdir()
    run(TwoLayers, export, binding)
    content = (folder / "net.mindir").read_bytes()
    assert b"Tanh" in content and b"tanhbw" not in content and b"Custom" not in content
    moved = tmp_path / "elsewhere.mindir"
    (folder / "net.mindir").rename(moved)
    np.save(tmp_path / "input.npy", X)
    run_python(LOAD.format(file=str(moved)))
    assert_close([np.load(tmp_path / "result.npy")], expected)
