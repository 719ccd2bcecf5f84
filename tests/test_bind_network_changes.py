"""What a program changes around a binding: attributes, classes, helpers and other bindings stay as it left them."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import collections
import copy
import functools
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops

import mindspore_tanhbw as tbw
from gradients import X, gradient


def launches(net):
    return gradient(net)[1]


class Own(nn.Cell):
    def __init__(self, act):
        super().__init__()
        self.act = act

    def construct(self, x):
        return self.act(x)


def chosen_function(x):
    return ops.tanh(x)


CHOICES = {"act": chosen_function}
NEW = {"a function": {"chosen_function": ops.sin}, "a dict": {"CHOICES": {"act": ops.sin}}, "what is in a dict": {}}


class ByGlobals(nn.Cell):
    def construct(self, x):
        return chosen_function(x) + CHOICES["act"](2 * x)


@pytest.mark.parametrize("name", NEW)
def test_what_a_global_name_stands_for_is_what_the_program_says(mode, monkeypatch, name):
    net = ByGlobals()
    with tbw.bound(net):
        assert launches(net) == 2
        for variable, value in NEW[name].items():
            monkeypatch.setitem(globals(), variable, value)
        if not NEW[name]:
            monkeypatch.setitem(CHOICES, "act", ops.sin)
        x = Tensor(np.array([[0.4], [1.3]], np.float32))  # of another shape, so that it is compiled again
        result = net(x).asnumpy()
    np.testing.assert_allclose(result, ByGlobals()(x).asnumpy(), rtol=1e-6)


def test_what_a_closure_holds_is_what_the_program_says(mode):
    factor = 2.0

    def act(x):
        return ops.tanh(x) * factor

    net = Own(act)
    x = Tensor(np.array([[0.4], [1.3]], np.float32))
    with tbw.bound(net):
        net(Tensor(X))
        factor = 5.0
        assert launches(net) == 1
        np.testing.assert_allclose(net(x).asnumpy(), 5 * np.tanh(x.asnumpy()), rtol=1e-6)


@pytest.mark.parametrize("new", [ops.Sin(), nn.ReLU()])
def test_an_attribute_that_was_changed_meanwhile_stays(new):
    net = Own(ops.Tanh())
    tbw.bind(net)
    net.act = new
    tbw.unbind(net)
    assert type(net.act) is type(new)


def test_an_attribute_that_was_changed_is_bound_by_binding_again(mode):
    net = Own(ops.Sin())
    tbw.bind(net)
    net.act = act = ops.Tanh()
    assert int(tbw.bind(net)) == int(tbw.bind(net)) == 1
    assert launches(net) == 1
    tbw.unbind(net)
    assert net.act is act and launches(net) == 0


def test_an_attribute_that_was_deleted_meanwhile_stays_away():
    net = Own(ops.Tanh())
    tbw.bind(net)
    del net.act
    tbw.unbind(net)
    assert not hasattr(net, "act")


class Chosen(list):
    def __init__(self, first, second):
        super().__init__([first, second])


def chosen():
    return Chosen(ops.Tanh(), ops.Sin())


def with_itself():
    values = [ops.Tanh()]
    values.append(values)
    return values


@pytest.mark.parametrize("make", [chosen, with_itself])
def test_lists_of_any_kind(make):
    values = make()
    net = Own(lambda x: net.values[0](x))
    net.values = values
    tbw.bind(net)
    assert type(net.values) is type(values) and launches(net) == 1
    tbw.unbind(net)
    assert net.values is values and launches(net) == 0


def test_a_method_that_was_replaced_or_deleted_meanwhile():
    class Net(nn.Cell):
        def construct(self, x):
            return ops.tanh(x)

        def other(self, x):
            return ops.tanh(x)

    def replacement(self, x):
        return ops.tanh(x) * 3

    net, beside = Net(), Own(ops.Tanh())
    construct_beside = vars(Own)["construct"]
    tbw.bind(net)
    tbw.bind(beside)
    Net.construct = replacement
    del Net.other
    tbw.bind(net)
    assert launches(net) == 1
    tbw.unbind(net)
    assert vars(Net)["construct"] is replacement and not hasattr(Net, "other")
    assert launches(beside) == 1
    tbw.unbind(beside)
    assert vars(Own)["construct"] is construct_beside


def test_contexts_of_a_network_and_of_its_part_nest(mode):
    net = nn.SequentialCell(nn.Tanh(), nn.Tanh())
    part = net[0]
    with tbw.bound(part):
        with tbw.bound(net):
            assert launches(net) == 2
        assert tbw.is_bound(part) and launches(part) == 1 and not tbw.is_bound(net[1])
    assert not tbw.is_bound(part) and launches(net) == 0


@pytest.mark.parametrize("change", [lambda net: net.append(nn.Tanh()), lambda net: tbw.unbind(net[0]), tbw.unbind])
def test_contexts_of_a_network_that_changes_between_them_nest(mode, change):
    net = nn.SequentialCell(nn.Tanh(), nn.Tanh())
    with tbw.bound(net):
        change(net)
        bound = [tbw.is_bound(cell) for cell in net]
        with tbw.bound(net):
            assert launches(net) == len(net)
        assert [tbw.is_bound(cell) for cell in net] == bound
    assert launches(net) == 0 and not any(map(tbw.is_bound, net))


def test_a_part_that_was_bound_before_is_bound_after(mode):
    part = nn.Tanh()
    tbw.bind(part)
    with tbw.bound(nn.SequentialCell(part, nn.Tanh())):
        pass
    assert tbw.is_bound(part) and launches(part) == 1
    tbw.unbind(part)
    assert launches(part) == 0


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2 * function(x)

    return wrapper


@doubled
def decorated(x):
    return ops.tanh(x)


@ms.jit
def jitted(x):
    return ops.tanh(x) * 3


def plain(x):
    return ops.tanh(x) * 5


class DecoratedStatic(nn.Cell):
    @staticmethod
    @doubled
    def act(x):
        return ops.tanh(x)

    def construct(self, x):
        return self.act(x)


class Twice:
    __hash__ = None

    def __call__(self, x):
        return 2 * x


class WrapsAnObject(nn.Cell):
    @functools.wraps(Twice())
    def twice(self, x):
        return 2 * x

    def construct(self, x):
        return ops.tanh(x)


class Mixin:
    def act(self, x):
        return ops.tanh(x) * 2


class WithMixin(nn.Cell, Mixin):
    def construct(self, x):
        return self.act(x)


class OfTheClass(nn.Cell):
    act = ops.Tanh()

    def construct(self, x):
        return self.act(x)


class First(Own):
    def construct(self, x):
        return self.act[0](x)


class Named(Own):
    def construct(self, x):
        return self.act["tanh"](x)


NETS = {
    "decorated": lambda: Own(decorated),
    "jitted": lambda: Own(jitted),
    "decorated static": DecoratedStatic,
    "wraps an object": WrapsAnObject,
    "mixin": WithMixin,
    "of the class": OfTheClass,
    "named tuple": lambda: First(collections.namedtuple("Acts", "tanh sin")(ops.Tanh(), ops.Sin())),
    "ordered": lambda: Named(collections.OrderedDict(tanh=ops.Tanh())),
}


class OwnMethod(nn.Cell):
    def __init__(self):
        super().__init__()
        self.alias = self.act

    def act(self, x):
        return ops.tanh(x) * 2

    def construct(self, x):
        return self.alias(x)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_with_a_method_for_attribute(mode, duplicate):
    net = OwnMethod()
    tbw.bind(net)
    other = duplicate(net)
    tbw.unbind(net)
    assert other.alias.__self__ is other and launches(other) == 1
    tbw.unbind(other)
    assert launches(other) == 0


@pytest.mark.parametrize("name", NETS)
def test_values_are_those_of_the_network_as_it_is(mode, name):
    net = NETS[name]()
    own, count = gradient(net)
    forward = net(Tensor(X)).asnumpy()
    assert count == 0
    with tbw.bound(net) as report:
        assert int(report) == 1
        result, count = gradient(net)
        np.testing.assert_array_equal(net(Tensor(X)).asnumpy(), forward)
    assert count == 1
    np.testing.assert_allclose(result, own, rtol=0, atol=1e-6)
    assert launches(net) == 0


def test_a_closure_is_the_one_of_the_program():
    calls = 0
    factor = 1.0

    def act(x):
        nonlocal calls
        calls += 1
        return ops.tanh(x) * factor

    net = Own(act)
    with tbw.bound(net):
        factor = 4.0
        np.testing.assert_allclose(net(Tensor(X)).asnumpy(), 4 * np.tanh(X), atol=1e-3)
    assert calls == 1


def test_a_helper_that_was_redefined_is_read_again(mode):
    def define(factor):
        def helper(x):
            return ops.tanh(x) * factor

        globals()["helper_of_the_module"] = helper

    class Net(nn.Cell):
        def construct(self, x):
            return helper_of_the_module(x)  # noqa: F821

    net = Net()
    define(1.0)
    with tbw.bound(net):
        once, count = gradient(net)
    assert count == 1
    define(3.0)
    with tbw.bound(net):
        thrice, count = gradient(net)
    assert count == 1
    np.testing.assert_allclose(thrice, 3 * once, rtol=1e-6)


@pytest.mark.parametrize("act", [plain, ops.tanh])
def test_pickle_with_a_function_for_attribute(mode, act):
    net = Own(act)
    tbw.bind(net)
    other, method = pickle.loads(pickle.dumps(net)), pickle.loads(pickle.dumps(net.construct))
    assert net.construct == net.construct and method.__self__ is not net
    tbw.unbind(net)
    assert tbw.is_bound(other) and launches(other) == 1
    tbw.unbind(other)
    assert other.act is act and launches(other) == 0
    tbw.unbind(method.__self__)


@pytest.mark.parametrize("build", [DecoratedStatic, OfTheClass, WithMixin])
def test_pickle_of_what_the_class_has(mode, build):
    net = build()
    tbw.bind(net)
    other = pickle.loads(pickle.dumps(net))
    tbw.unbind(net)
    assert tbw.is_bound(other) and launches(other) == 1
    tbw.unbind(other)
    assert "act" not in vars(other) and launches(other) == 0


@pytest.mark.parametrize("first", [0, 1])
def test_a_jit_function_in_pynative_mode_follows_the_binding(mode, first):
    @ms.jit
    def act(x):
        return ops.tanh(x) * 1.5

    if first:
        with tbw.bound():
            assert launches(act) == 1
    assert launches(act) == 0
    with tbw.bound():
        assert launches(act) == 1
    assert launches(act) == 0


@pytest.mark.parametrize("whole", [False, True])
def test_a_gradient_that_failed_before_does_not_matter(mode, whole):
    class Fails(nn.Cell):
        def construct(self, x):
            return ops.tanh(x).reshape((7, 7))

    net = nn.SequentialCell(Own(jitted))
    assert launches(net) == 0
    with pytest.raises((ValueError, RuntimeError)):
        launches(Fails())
    with tbw.bound(None if whole else net):
        assert launches(net) == 1
    assert launches(net) == 0


@pytest.mark.parametrize("whole", [False, True])
def test_binding_while_a_gradient_is_recorded(whole):
    """Also after something was compiled, which is forgotten, and what is recorded is not."""
    ms.grad(jitted)(Tensor(X))
    net = nn.SequentialCell(nn.Tanh())

    def function(x):
        with tbw.bound(None if whole else net):
            return net(x) * 2

    own = ms.grad(net)(Tensor(X)).asnumpy()
    result, _ = gradient(function)
    np.testing.assert_allclose(result, 2 * own, rtol=0, atol=1e-6)


def test_classes_of_networks_that_are_gone_are_let_go(run_python):
    printed = run_python(
        "import gc, weakref\n"
        "import mindspore_tanhbw as tbw\n"
        "from mindspore import nn, ops\n"
        "def bind():\n"
        "    class Net(nn.Cell):\n"
        "        def construct(self, x): return ops.tanh(x)\n"
        "    tbw.bind(Net())\n"
        "    return weakref.ref(Net)\n"
        "first = bind(); gc.collect(); second = bind(); gc.collect()\n"
        "print(first() is None)\n"
    )
    assert printed.split() == ["True"]


def test_a_source_beyond_ascii_in_any_locale(run_python):
    program = (
        "import mindspore as ms, mindspore_tanhbw as tbw\n"
        "from mindspore import nn, ops\n"
        "ms.set_context(mode=ms.GRAPH_MODE)\n"
        "class Net(nn.Cell):\n"
        "    def construct(self, x):\n"
        "        name = '\u53cc\u66f2\u6b63\u5207'\n"
        "        return ops.tanh(x)\n"
        "net = Net(); tbw.bind(net); ms.grad(net)(ms.Tensor([0.5])); print(tbw.launch_count())\n"
    )
    printed = run_python(program, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert printed.split() == ["1"]


def test_threads_that_compile_at_once_read_the_same_source():
    nets = [Own(plain) for _ in range(8)]
    tbw.bind(nn.CellList(nets))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(20):
                tbw.bind(nn.Tanh())  # from here on sources are read again
                assert len(set(pool.map(lambda net: net.act.__wrapped__, nets))) == 1
    finally:
        sys.setswitchinterval(interval)


def test_a_binding_that_fails_leaves_nothing_behind():
    class Unwilling(dict):
        def __copy__(self):
            raise KeyError("no copies")

    net = nn.SequentialCell(nn.Tanh(), Own(Unwilling(tanh=ops.Tanh())))
    before = [dict(vars(one)) for one in (net[0], net[1])]
    construct = vars(nn.Tanh)["construct"]
    with pytest.raises(KeyError, match="no copies"):
        tbw.bind(net)
    assert not tbw.is_bound(net) and not tbw.is_bound(net[0])
    assert [dict(vars(one)) for one in (net[0], net[1])] == before
    assert vars(nn.Tanh)["construct"] is construct
