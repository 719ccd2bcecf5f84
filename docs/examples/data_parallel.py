"""Data-parallel training with a bound Tanh: each process takes its part of every batch of scikit-learn's digits."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import os

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from sklearn.datasets import load_digits

import mindspore_tanhbw as tbw

BATCH = 64
"""Over all processes."""


def start(device, mode):
    """Join the other processes, if msrun started this one. Returns its rank and their number."""
    mindspore.set_device(device)
    mindspore.set_context(mode=mindspore.GRAPH_MODE if mode == "graph" else mindspore.PYNATIVE_MODE)
    if device == "Ascend":
        mindspore.set_context(jit_config={"jit_level": "O0"})
    if "MS_ROLE" not in os.environ:
        return 0, 1
    # msrun's scheduler runs this script too, and stays in here until the end.
    init()
    mindspore.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    return get_rank(), get_group_size()


def training():
    """A network whose Tanh is bound, and the cell that trains it by one batch."""
    net = nn.SequentialCell(nn.Dense(64, 48, activation="tanh"), nn.Dense(48, 32, activation="tanh"), nn.Dense(32, 10))
    tbw.bind(net)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    # In data_parallel mode this cell averages the gradients of all processes before the optimizer gets them.
    return net, nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["CPU", "Ascend"], default="CPU")
    parser.add_argument("--mode", choices=["pynative", "graph"], default="graph")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--save", metavar="FOLDER", help="each process saves its weights there, as rank_N.ckpt")
    options = parser.parse_args()
    rank, size = start(options.device, options.mode)

    # The same seed, thus the same first weights and the same batches, in all processes.
    mindspore.set_seed(1)
    rng = np.random.default_rng(1)
    net, train = training()
    images, labels = load_digits(return_X_y=True)
    for step in range(1, options.steps + 1):
        own = rng.integers(0, len(images), BATCH)[rank::size]
        loss = train(Tensor((images[own] / 16).astype(np.float32)), Tensor(labels[own].astype(np.int32)))
        if size > 1:
            loss = ops.AllReduce()(loss) / size
        if rank == 0:
            print(f"step {step:2}  loss {loss.asnumpy():.6f}", flush=True)
    print(f"rank {rank} of {size}: {len(own)} digits a step, {tbw.launch_count()} operator launches", flush=True)
    if options.save:
        os.makedirs(options.save, exist_ok=True)
        mindspore.save_checkpoint(net, os.path.join(options.save, f"rank_{rank}.ckpt"))


if __name__ == "__main__":
    main()
