"""A generator of handwritten digits that ends in Tanh, trained against a discriminator on scikit-learn's digits."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import sys

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops
from sklearn.datasets import load_digits

BATCH, NOISE = 64, 16


class Generator(nn.Cell):
    """Images of 8 x 8 pixels from noise, each pixel between -1 and 1."""

    def __init__(self):
        super().__init__()
        self.paint = nn.SequentialCell(
            nn.Dense(NOISE, 128), nn.ELU(), nn.Dense(128, 128), nn.ELU(), nn.Dense(128, 64), nn.Tanh()
        )

    def construct(self, noise):
        return self.paint(noise)


class Discriminator(nn.Cell):
    """A score for each image: above 0, it is taken for a real one."""

    def __init__(self):
        super().__init__()
        self.judge = nn.SequentialCell(nn.Dense(64, 128), nn.ELU(), nn.Dense(128, 64), nn.ELU(), nn.Dense(64, 1))

    def construct(self, image):
        return self.judge(image)


def train(steps, show):
    digits = (load_digits().data / 8 - 1).astype(np.float32)
    generator, discriminator = Generator(), Discriminator()
    loss = nn.BCEWithLogitsLoss()
    real, fake = ops.ones((BATCH, 1)), ops.zeros((BATCH, 1))

    def judge(images, noise):
        made = ops.stop_gradient(generator(noise))
        return loss(discriminator(images), real) + loss(discriminator(made), fake)

    def deceive(noise):
        return loss(discriminator(generator(noise)), real)

    update_generator = nn.Adam(generator.trainable_params(), learning_rate=1e-3, beta1=0.5)
    update_discriminator = nn.Adam(discriminator.trainable_params(), learning_rate=1e-3, beta1=0.5)
    gradients_of_judging = mindspore.value_and_grad(judge, None, update_discriminator.parameters)
    gradients_of_deceiving = mindspore.value_and_grad(deceive, None, update_generator.parameters)
    rng = np.random.default_rng(0)
    losses = {"discriminator": [], "generator": []}
    for step in range(1, steps + 1):
        images = Tensor(digits[rng.integers(0, len(digits), BATCH)])
        noise = Tensor(rng.normal(size=(BATCH, NOISE)).astype(np.float32))
        judged, found = gradients_of_judging(images, noise)
        update_discriminator(found)
        deceived, found = gradients_of_deceiving(noise)
        update_generator(found)
        losses["discriminator"].append(float(judged.asnumpy()))
        losses["generator"].append(float(deceived.asnumpy()))
        show(step)
    samples = generator(Tensor(np.random.default_rng(1).normal(size=(10, NOISE)).astype(np.float32)))
    return losses, samples.asnumpy().reshape(10, 8, 8)


def draw(axes, unbound, bound):
    framed = np.pad(np.stack([unbound, bound]), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-1)
    # For each training two rows of five images.
    grid = framed.reshape(2, 2, 5, 10, 10).transpose(0, 1, 3, 2, 4).reshape(40, 50)
    picture = axes.imshow(grid, cmap="gray_r", vmin=-1, vmax=1)
    axes.axhline(19.5, color="black", linewidth=1)
    axes.set(title="Images from the same noise", xlabel="x in pixels", ylabel="trained")
    axes.set_yticks([9.5, 29.5], ["unbound", "bound"], rotation=90, va="center")
    axes.figure.colorbar(picture, ax=axes, label="pixel, as Tanh gives it")


if __name__ == "__main__":
    import comparison

    # One Tanh, and the generator's step is the only one whose gradient goes through it.
    sys.exit(
        comparison.run(__doc__, train, steps=400, launches=lambda steps: steps, draw=draw, unit="nats", tolerance=1e-3)
    )
