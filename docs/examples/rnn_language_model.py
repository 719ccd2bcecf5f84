"""A recurrent language model, character by character, of the reference manual that Python ships."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import sys
from pydoc_data.topics import topics

import mindspore
import numpy as np
from mindspore import Tensor, nn

LENGTH, BATCH, HIDDEN = 24, 32, 96


class LanguageModel(nn.Cell):
    """Scores for the character that follows each character of a text."""

    def __init__(self, characters):
        super().__init__()
        self.embedding = nn.Embedding(characters, 32)
        self.rnn = nn.RNN(32, HIDDEN)
        self.score = nn.Dense(HIDDEN, characters)

    def construct(self, text):
        states, _ = self.rnn(self.embedding(text))
        return self.score(states)


def train(steps, show):
    text = "\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    numbers = np.searchsorted(alphabet, list(text)).astype(np.int32)
    net = LanguageModel(len(alphabet))
    cross_entropy = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)

    def forward(before, after):
        return cross_entropy(net(before).reshape(-1, len(alphabet)), after.reshape(-1))

    gradients = mindspore.value_and_grad(forward, None, optimizer.parameters)
    rng = np.random.default_rng(0)
    losses = []
    for step in range(1, steps + 1):
        starts = rng.integers(0, len(numbers) - LENGTH, BATCH)
        window = numbers[starts + np.arange(LENGTH + 1)[:, None]]
        loss, found = gradients(Tensor(window[:-1]), Tensor(window[1:]))
        optimizer(found)
        losses.append(float(loss.asnumpy()))
        show(step)
    return {"cross entropy": losses}, (alphabet, confidence(net, numbers, alphabet))


def confidence(net, numbers, alphabet):
    """How likely the trained network finds each character of a line that it reads."""
    line = numbers[: LENGTH + 1]
    scores = net(Tensor(line[:-1, None])).asnumpy()[:, 0].astype(np.float64)
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return "".join(alphabet[n] for n in line[1:]), chances[np.arange(LENGTH), line[1:]]


def draw(axes, unbound, bound):
    text, own = unbound[1]
    place = np.arange(len(text))
    axes.bar(place, own, color="0.8", label="trained unbound")
    axes.plot(place, bound[1][1], "k.", markersize=5, label="trained bound")
    axes.axhline(1 / len(bound[0]), color="black", linewidth=0.8, linestyle=":", label="any character alike")
    axes.set(
        title="Reading the manual's first line", xlabel="next character", ylabel="probability given to it", ylim=(0, 1)
    )
    axes.set_xticks(place, [{" ": "␣", "\n": "⏎"}.get(one, one) for one in text])
    axes.legend(fontsize=8)


if __name__ == "__main__":
    import comparison

    sys.exit(comparison.run(__doc__, train, steps=200, launches=lambda steps: steps * LENGTH, draw=draw, unit="nats"))
