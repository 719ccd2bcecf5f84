"""A physics-informed network for Poisson's equation u'' = -pi^2 sin(pi x), whose solution is known."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import sys

import mindspore
import numpy as np
from mindspore import Tensor, nn

POINTS = 64


def solution(x):
    return np.sin(np.pi * x)


def source(x):
    return np.pi**2 * np.sin(np.pi * x)


class Potential(nn.Cell):
    """u(x), for x from -1 to 1."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(1, 32), nn.Tanh(), nn.Dense(32, 32), nn.Tanh(), nn.Dense(32, 1))

    def construct(self, x):
        return self.layers(x)


class Residual(nn.Cell):
    """How far u is from fulfilling the equation, and from 0 at both ends."""

    def __init__(self, u):
        super().__init__()
        self.u = u
        self.slope = mindspore.grad(u)
        self.curvature = mindspore.grad(self.slope)

    def construct(self, x, source, ends):
        equation = self.curvature(x) + source
        return (equation**2).mean() / 100 + (self.u(ends) ** 2).mean()


def train(steps, show):
    u = Potential()
    rate = nn.cosine_decay_lr(2e-5, 2e-3, steps, 1, steps)
    optimizer = nn.Adam(u.trainable_params(), learning_rate=rate, beta2=0.99)
    gradients = mindspore.value_and_grad(Residual(u), None, optimizer.parameters)
    points = np.linspace(-1, 1, POINTS)[:, None]
    x, ends, right = (Tensor(values.astype(np.float32)) for values in (points, points[[0, -1]], source(points)))
    losses = []
    for step in range(1, steps + 1):
        loss, found = gradients(x, right, ends)
        optimizer(found)
        losses.append(float(loss.asnumpy()))
        show(step)
    return {"residual": losses}, (points[:, 0], u(x).asnumpy()[:, 0])


def draw(axes, unbound, bound):
    x, own = unbound
    axes.plot(x, solution(x), color="0.75", linewidth=7, label="known solution")
    axes.plot(x, own, color="0.35", linewidth=2.5, label="trained unbound")
    axes.plot(x, bound[1], "k--", linewidth=1.2, label="trained bound")
    axes.set(title=f"Solution, off by at most {np.max(np.abs(bound[1] - solution(x))):.1e}", xlabel="x", ylabel="u(x)")
    axes.legend(fontsize=8)


if __name__ == "__main__":
    import comparison

    # Two Tanh, differentiated three times in a row; how often that needs the operator, MindSpore's mode decides.
    sys.exit(comparison.run(__doc__, train, steps=600, launches=lambda steps: range(6 * steps, 30 * steps), draw=draw))
