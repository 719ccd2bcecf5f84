"""bind(net) reads source for Graph mode: what a construct may look like, and what must not be taken for a Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import copy
import functools
import pickle
import types

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, amp, jit_class, mint, nn, ops
from mindspore.ops import tanh as renamed

import mindspore_tanhbw as tbw
from gradients import X, gradient

PRIMITIVE = ops.Tanh()
FACTOR = 3.0
LAUNCHES = {}


def launches(count):
    """How many Tanh one backward pass of the network has."""

    def note(build):
        LAUNCHES[build.__name__] = build, count
        return build

    return note


def tripled(x):
    return x * 3


def helper(x):
    return ops.tanh(x)


def another_helper():
    def helper(x):
        return ops.tanh(x) * 7

    return helper


def called(function, x):
    return function(x)


def doubling(method):
    @functools.wraps(method)
    def around(self, x):
        return method(self, x) * 2

    return around


@ms.jit
def jitted(x):
    return ops.tanh(x)


@jit_class
class Ratio:
    """Has a method tanh and is no Tensor."""

    def tanh(self):
        return 0.25


RATIO = Ratio()
SEVENFOLD = another_helper()


class Plain(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


class Scaled(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return ops.tanh(x) * self.factor


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = Plain(), nn.Tanh()

    def construct(self, x):
        return self.second(self.first(x))


@launches(1)
class Decorated(nn.Cell):
    @doubling
    def construct(self, x):
        return ops.tanh(x)


@launches(1)
class Defaults(nn.Cell):
    def construct(self, x: Tensor, factor: "float" = FACTOR, *, more: float = 2.0) -> Tensor:
        result: Tensor = ops.tanh(x)
        return result * factor * more


@launches(1)
class AnyNumber(nn.Cell):
    def construct(self, *inputs):
        return ops.tanh(inputs[0])


@launches(2)
class Super(Plain):
    def construct(self, x):
        return ops.tanh(super().construct(x))


@launches(1)
class SuperByName(Scaled):
    def __init__(self):
        super().__init__(3.0)

    def construct(self, x):
        return super().construct(x) + x


@launches(2)
class NestedFunctions(nn.Cell):
    def construct(self, x):
        def inner(z, factor=2.0):
            return ops.tanh(z) * factor

        return inner(x) + (lambda z: mint.tanh(z))(x)


@launches(3)
class Comprehension(nn.Cell):
    def construct(self, x):
        parts = [ops.tanh(x * factor) for factor in (1, 2, 3)]
        return parts[0] + parts[1] + parts[2]


@launches(2)
class Recursive(nn.Cell):
    def construct(self, x):
        return self.times(x, 2)

    def times(self, x, count):
        if count == 0:
            return x
        return self.times(renamed(x), count - 1)


@launches(1)
def made_in_a_function():
    function = ops.tanh

    class Local(nn.Cell):
        def construct(self, x):
            return function(x)

    return Local()


@launches(1)
def construct_of_the_instance():
    net = nn.ReLU()
    net.construct = types.MethodType(lambda_free_construct, net)
    return net


def lambda_free_construct(self, x):
    return ops.tanh(x) * 2


@launches(2)
class Methods(nn.Cell):
    def construct(self, x):
        return self.static(self.method(x))

    def method(self, x):
        return x.tanh()

    @staticmethod
    def static(x):
        return ops.tanh(x)


@launches(2)
class Values(nn.Cell):
    """Tanh as values: chosen, passed on, of the module."""

    def construct(self, x):
        function = ops.tanh if x.shape[0] == 2 else ops.sin
        return called(function, PRIMITIVE(x))


@launches(4)
class Lists(nn.Cell):
    def __init__(self):
        super().__init__()
        self.primitives = [ops.Tanh(), ops.tanh]
        self.layers = (nn.Tanh(), {"last": nn.Tanh()})

    def construct(self, x):
        for function in self.primitives:
            x = function(x)
        return self.layers[1]["last"](self.layers[0](x))


@launches(4)
class Containers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.list = nn.CellList([nn.Tanh(), mint.nn.Tanh()])
        self.dict = nn.CellDict({"a": nn.Tanh(), "b": nn.get_activation("tanh")})

    def construct(self, x):
        for layer in self.list:
            x = layer(x)
        return self.dict["b"](self.dict["a"](x))


@launches(2)
class MadeWhereUsed(nn.Cell):
    def construct(self, x):
        return Scaled(2.0)(x) + Scaled(factor=5.0)(x)


@launches(2)
class TwoOfOneName(nn.Cell):
    def construct(self, x):
        return helper(x) + SEVENFOLD(x)


@launches(1)
class NameOfOurs(nn.Cell):
    def construct(self, x):
        bound_tanh = 2.0
        return ops.tanh(x) * bound_tanh


@launches(1)
class CallsJitted(nn.Cell):
    def construct(self, x):
        return jitted(x)


@launches(1)
class Jitted(nn.Cell):
    @ms.jit
    def construct(self, x):
        return ops.tanh(x)


@launches(1)
def contains_itself():
    net = nn.SequentialCell(nn.Tanh())
    net.again = [net]
    return net


ACTIVATIONS = {"tanh": ops.tanh, "relu": ops.relu, "more": [ops.Tanh()]}


@launches(3)
class GlobalContainers(nn.Cell):
    def construct(self, x):
        return ACTIVATIONS["tanh"](x) + ACTIVATIONS["relu"](x) + ACTIVATIONS["more"][0](x * 2) + through(x * 3)


def through(x, times=2.0, *, act=ACTIVATIONS["tanh"]):
    return act(x) * times


def first_of(x, act=ops.tanh):
    return act(x)


@launches(2)
class DefaultIsTanh(nn.Cell):
    def construct(self, x):
        return first_of(x) + through(x * 2) + first_of(x, ops.sin)


@launches(2)
class Vmapped(nn.Cell):
    def construct(self, x):
        return ops.vmap(ops.tanh)(x * 2) + ops.tanh(input=x * 3)


@launches(4)
class Lambdas(nn.Cell):
    """MindSpore reads those that have their lines for themselves."""

    def __init__(self, factor=2.0):
        super().__init__()
        self.plain = lambda x: ops.tanh(x)
        self.default = lambda x, by=3, *, shift=0.5: mint.tanh(x + shift) * by
        self.closure = lambda x: x.tanh() * factor
        self.inner = lambda x: (lambda z: ops.tanh(z) * 2)(x) + factor

    def construct(self, x):
        return self.plain(x) + self.default(x * 2) + self.closure(x * 3) + self.inner(x * 4)


@launches(1)
class ConstructIsALambda(nn.Cell):
    construct = lambda self, x: ops.tanh(x)  # noqa: E731


@launches(1)
class InnerNames(nn.Cell):
    """Only the last is MindSpore's."""

    def construct(self, x):
        def apply(renamed, z):
            return renamed(z)

        return apply(tripled, x) + (lambda ops: ops * 2)(x) + renamed(x)


@launches(0)
class NotTanh(nn.Cell):
    def construct(self, x):
        ops = RATIO
        tanh = tripled
        return tanh(x) * ops.tanh() * self.tanh() * RATIO.tanh()

    def tanh(self):
        return 0.5


@pytest.mark.parametrize("name", LAUNCHES)
def test_construct(mode, name):
    build, expected = LAUNCHES[name]
    net = build()
    own, launched = gradient(net)
    assert launched == 0
    with tbw.bound(net):
        result, launched = gradient(net)
    assert launched == expected
    np.testing.assert_allclose(result, own, rtol=1e-5, atol=1e-5)
    result, launched = gradient(net)
    assert launched == 0
    np.testing.assert_array_equal(result, own)


@pytest.mark.parametrize("name, calls", [("Super", 2), ("Lists", 4), ("MadeWhereUsed", 2), ("Values", 2), ("Methods", 2)])
def test_report_counts_them(name, calls):
    net = LAUNCHES[name][0]()
    assert int(tbw.bind(net)) == int(tbw.bind(net)) == calls


def test_a_list_with_the_parent_is_not_its_content():
    parent = nn.SequentialCell(nn.Tanh(), Plain())
    parent[1].parent = [parent]
    with tbw.bound(parent[1]):
        assert tbw.is_bound(parent[1]) and not tbw.is_bound(parent[0])


def test_a_constructor_that_fails_fails_where_it_is_called(mode):
    class Wrong(nn.Cell):
        def construct(self, x):
            return Scaled()(x)

    net = Wrong()
    tbw.bind(net)
    with pytest.raises(TypeError, match="factor"):
        net(Tensor(X))


def test_a_default_from_the_body_of_the_class():
    """Graph mode does not know such a name, PyNative mode does."""

    class Default(nn.Cell):
        factor = 2.0

        def construct(self, x, factor=factor):
            return ops.tanh(x) * factor

    with tbw.bound(Default()) as report:
        assert int(report) == 1


def test_recompute(mode):
    for first in (True, False):
        net = nn.SequentialCell(nn.Dense(3, 3), nn.Tanh())
        own, _ = gradient(net)
        if first:
            net[1].recompute()
        tbw.bind(net)
        if not first:
            net[1].recompute()
        result, launched = gradient(net)
        assert launched == 1
        np.testing.assert_allclose(result, own, rtol=0, atol=1e-6)
        tbw.unbind(net)
        assert gradient(net)[1] == 0


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_mixed_precision(mode, level):
    """O1 makes new cells from the source of the old ones, so the binding comes after it."""
    for layer in (nn.Tanh, tbw.Tanh):
        net = amp.auto_mixed_precision(nn.SequentialCell(nn.Dense(3, 3), layer(), Plain()), level)
        alone = int(layer is tbw.Tanh)
        assert gradient(net)[1] == alone
        with tbw.bound(net):
            assert gradient(net)[1] == 2
        assert gradient(net)[1] == alone


def test_cells_made_from_bound_ones(mode):
    for make in (lambda net: amp.auto_mixed_precision(net, "O1"), copy.copy):
        net = Two()
        tbw.bind(net)
        made = make(net)
        assert not tbw.is_bound(made)
        assert int(tbw.bind(made)) == 2 and tbw.is_bound(made)
        assert gradient(made)[1] == 2
        tbw.unbind(made)
        tbw.unbind(net)
        assert gradient(made)[1] == gradient(net)[1] == 0


class OnlyOnce(nn.Cell):
    """No other network has one, so that its class gets the methods back with it."""

    def construct(self, x):
        return ops.tanh(x)


def test_a_cell_made_from_a_bound_one_does_not_unbind_it(mode):
    net = OnlyOnce()
    tbw.bind(net)
    tbw.unbind(amp.auto_mixed_precision(net, "O1"))
    assert tbw.is_bound(net) and gradient(net)[1] == 1
    tbw.unbind(net)


def test_pickle(mode):
    net = nn.SequentialCell(Plain(), Scaled(2.0))
    tbw.bind(net)
    other = pickle.loads(pickle.dumps(net))
    tbw.unbind(net)
    assert tbw.is_bound(other) and gradient(other)[1] == 2
    tbw.unbind(other)
    assert gradient(other)[1] == gradient(net)[1] == 0


def test_export_of_a_bound_network(mode, tmp_path):
    net = Lists()
    tbw.bind(net)
    ms.export(net, Tensor(X), file_name=str(tmp_path / "net"), file_format="MINDIR")
    loaded = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    np.testing.assert_allclose(loaded(Tensor(X)).asnumpy(), net(Tensor(X)).asnumpy(), rtol=0, atol=1e-6)
    assert gradient(net)[1] == 4
    tbw.unbind(net)


def test_cells_added_later_are_bound_by_binding_again(mode):
    net = nn.SequentialCell(nn.Tanh())
    tbw.bind(net)
    net.append(nn.Tanh())
    assert not tbw.is_bound(net)
    assert int(tbw.bind(net)) == 2
    assert gradient(net)[1] == 2
    tbw.unbind(net)
    assert gradient(net)[1] == 0


def test_a_class_that_is_bound_already_is_read_where_it_is_used(run_python):
    printed = run_python(
        "import mindspore_tanhbw as tbw\n"
        "from mindspore import nn, ops\n"
        "class Inner(nn.Cell):\n"
        "    def construct(self, x): return ops.tanh(x)\n"
        "class Outer(nn.Cell):\n"
        "    def construct(self, x): return Inner()(x)\n"
        "first = Inner(); tbw.bind(first)\n"
        "print(int(tbw.bind(Outer())))\n"
    )
    assert printed.split() == ["1"]


def test_tanh_itself_is_differentiated(mode):
    """What differentiates takes functions, and no primitives."""

    class Slopes(nn.Cell):
        def __init__(self):
            super().__init__()
            self.function = ops.tanh

        def construct(self, x):
            return ms.grad(self.function)(x) + ops.jacrev(mint.tanh)(x * 2).sum((2, 3))

    net = Slopes()
    own = net(Tensor(X)).asnumpy()
    before = tbw.launch_count()
    with tbw.bound(net):
        np.testing.assert_allclose(net(Tensor(X)).asnumpy(), own, rtol=1e-5)
    assert tbw.launch_count() - before == 2
