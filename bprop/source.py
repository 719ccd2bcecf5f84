"""Graph mode reads source: here that of a function with its calls of Tanh turned into calls of a marked Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Optional, Union

from mindspore import Tensor, mint, nn, ops

from .._cache import fetch
from . import lambdas, marked
from .containers import KINDS, leaves

_TANH = (ops.tanh, mint.tanh)
_UNKNOWN = object()
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Marker:
    """Rewrites functions so that they call `tanh`, a marked primitive, where they call MindSpore's."""

    def __init__(
        self, bind: Callable[[nn.Cell], int], mark: Callable[[Any], Any], count: Callable[[Any], int]
    ) -> None:
        self.tanh = marked.Tanh()
        self.bind = bind
        """Of a cell that a function makes where it uses it; returns how many calls of Tanh it has."""
        self.mark, self.count = mark, count
        """Of a value: the same with each Tanh in it marked, and how many there are."""
        self._made: dict[Any, Any] = {}
        self._calls: dict[Any, int] = {}
        self._replaced: dict[Any, list[_Replaced]] = {}
        self.unreadable: list[str] = []
        """Functions that call Tanh, but whose source cannot be had."""

    def forget(self) -> None:
        """What was rewritten: a global or a closure may hold another function, or value, by the next binding."""
        self._made.clear()
        self._calls.clear()
        self._replaced.clear()
        self.unreadable.clear()

    def read(self, function: Any) -> Any:
        """What `rewrite` returns, also where the program put something else in the place of what was replaced."""
        if not self._is_current(function, set()):
            self.forget()
        return self.rewrite(function)

    def _is_current(self, function: Any, seen: set[Any]) -> bool:
        if not isinstance(function, FunctionType) or function in seen:
            return True
        seen.add(function)
        for path, value, parts, functions in self._replaced.get(function, ()):
            if _find(function, path) is not value:
                return False
            if isinstance(value, KINDS) and [*map(id, leaves(value))] != [*map(id, parts)]:
                return False
            if not all(self._is_current(one, seen) for one in functions):
                return False
        return True

    def rewrite(self, function: Any) -> Any:
        """The function for Graph mode to read; the same one where it calls no Tanh, itself or through another."""
        if any(function is tanh for tanh in _TANH):
            return marked.tanh
        if not isinstance(function, FunctionType) or function is marked.tanh:
            return function
        if function in self._made:
            return self._made[function]
        self._made[function] = function  # also for a function that calls itself
        if not _reaches_tanh(function, set()):
            return function
        tree = _tree(function)
        if tree is None:
            self.unreadable.append(function.__qualname__)
        else:
            replace = _Replace(function, self)
            replace.body(tree)
            if replace.names:
                self._made[function] = _compile(function, tree, replace.names, self.mark)
            self._calls[function] = replace.calls
            self._replaced[function] = replace.replaced
        return self._made[function]

    def calls(self, function: Any) -> int:
        """How many calls of Tanh the source of a function has, with those in the functions that it calls."""
        if any(function is tanh for tanh in _TANH):
            return 1
        self.rewrite(function)
        return self._calls.get(function, 0) if isinstance(function, FunctionType) else 0


def tanh_method(value: Any, tanh: Any) -> Any:
    """What ``value.tanh()`` becomes: source does not tell a Tensor from another object that has such a method."""
    if isinstance(value, Tensor):
        return tanh(value)
    return value.tanh()


_Replaced = tuple[list[str], Any, list[Any], list[Any]]
"""The names that lead to a value, the value, what is in it, and the functions among that."""


class _Replace(ast.NodeTransformer):
    def __init__(self, function: FunctionType, marker: Marker) -> None:
        self._function = function
        self._marker = marker
        self._known = {**function.__globals__, **_closure(function)}
        self._taken = {*_all_names(function.__code__)}
        self.names: dict[str, Any] = {}
        self.replaced: list[_Replaced] = []
        self.calls = 0

    def body(self, tree: ast.FunctionDef) -> None:
        """Of the function itself; what stands around it, Python has evaluated."""
        tree.decorator_list = []
        tree.returns = None
        arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg]
        for argument in filter(None, arguments):
            argument.annotation = None
        values = [*(self._function.__defaults__ or ())]
        tree.args.defaults = [self._default(*pair) for pair in zip(tree.args.defaults, values)]
        named = self._function.__kwdefaults__ or {}
        for i, (argument, default) in enumerate(zip(tree.args.kwonlyargs, tree.args.kw_defaults)):
            if default is not None:
                tree.args.kw_defaults[i] = self._default(default, named[argument.arg])
        self.visit(tree)
        # Python keeps for a function what its body names; MindSpore looks there for what its defaults name.
        defaults = filter(None, (*tree.args.defaults, *tree.args.kw_defaults))
        inside = {node.id for default in defaults for node in ast.walk(default) if isinstance(node, ast.Name)}
        for name in sorted(inside & {*self.names}):
            tree.body.insert(0, ast.Assign([ast.Name(f"{name}_", ast.Store())], ast.Name(name, ast.Load())))

    def _default(self, node: ast.expr, value: Any) -> ast.expr:
        try:
            eval(compile(ast.Expression(node), "<default>", "eval"), self._function.__globals__)
        except Exception:  # evaluated where the function was defined; Graph mode cannot either
            return self._name("default", value)
        return node

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _SCOPES):
            return super().visit(node)
        outside = self._known
        bound = _bound_in(node)
        self._known = {name: value for name, value in outside.items() if name not in bound}
        self.generic_visit(node)
        self._known = outside
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        method = node.func
        if self._value(method) is ops.Tanh:  # a primitive, made where it is used
            self.calls += 1
            return self._name("tanh", self._marker.tanh)
        if _is_cell(self._value(method)):
            made, calls = self._made_cell(node)
            self.calls += calls
            return self._name(type(made).__name__, made) if calls else self.generic_visit(node)
        if isinstance(method, ast.Attribute) and method.attr == "tanh" and not node.args and not node.keywords:
            named_self = isinstance(method.value, ast.Name) and method.value.id == "self"
            if self._value(method.value) is _UNKNOWN and not named_self:  # a Tensor's method, it may be
                self.calls += 1
                node.func = self._name("tanh_method", tanh_method)
                node.args = [method.value, self._name("tanh", self._marker.tanh)]
        return self.generic_visit(node)

    def _made_cell(self, node: ast.Call) -> tuple[Any, int]:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not all(isinstance(value, ast.Constant) for value in arguments):
            return None, 0
        try:
            cell = eval(compile(ast.Expression(node), "<cell>", "eval"), self._known)
        except Exception:  # it will be raised, where the network runs
            return None, 0
        return cell, self._marker.bind(cell)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._visited(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        done = self._visited(node)
        return self.generic_visit(node) if done is node else done

    def _visited(self, node: Union[ast.Name, ast.Attribute]) -> ast.AST:
        value = self._value(node) if isinstance(node.ctx, ast.Load) else _UNKNOWN
        done = self._instead(node, value)
        if done is not node:
            parts = [*leaves(value)]
            functions = [inspect.unwrap(part) for part in parts if isinstance(part, FunctionType)]
            self.replaced.append((_path(node), value, parts, functions))
        return done

    def _instead(self, node: Union[ast.Name, ast.Attribute], value: Any) -> ast.AST:
        if isinstance(value, ops.Tanh):
            self.calls += 1
            return self._name("tanh", self._marker.tanh)
        if isinstance(value, KINDS):
            calls = self._marker.count(value)
            self.calls += calls
            return self._name("values", self._marker.mark(value)) if calls else node
        if isinstance(value, FunctionType):
            value = inspect.unwrap(value)
            self.calls += self._marker.calls(value)
            made = self._marker.rewrite(value)
            if made is not value:
                return self._name(value.__name__, made)
        return node

    def _value(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return self._known.get(node.id, _UNKNOWN)
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            return getattr(owner, node.attr, _UNKNOWN) if isinstance(owner, ModuleType) else _UNKNOWN
        return _UNKNOWN

    def _name(self, base: str, value: Any) -> ast.Name:
        wanted = "bound_" + re.sub(r"\W", "_", base)
        for name in itertools.chain([wanted], (f"{wanted}_{number}" for number in itertools.count(2))):
            if self.names.get(name) is value or name not in self._taken:
                break
        self._taken.add(name)
        self.names[name] = value
        return ast.Name(name, ast.Load())


def _bound_in(scope: ast.AST) -> set[str]:
    """The names that a function, lambda or comprehension has for itself."""
    bound: set[str] = set()
    waiting = [*ast.iter_child_nodes(scope)]
    for node in waiting:
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return bound


def _path(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [*_path(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


def _find(function: FunctionType, path: list[str]) -> Any:
    first, *rest = path
    inside = function.__code__.co_freevars
    value = _closure(function).get(first) if first in inside else function.__globals__.get(first, _UNKNOWN)
    for name in rest:
        value = getattr(value, name, _UNKNOWN)
    return value


def _is_cell(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, nn.Cell)


def _tree(function: FunctionType) -> Optional[ast.FunctionDef]:
    try:
        if function.__name__ == lambdas.NAME:
            return lambdas.as_function(function)
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    return tree if isinstance(tree, ast.FunctionDef) and tree.name == function.__name__ else None


def _closure(function: FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not _UNKNOWN
    except ValueError:
        return False


def _reaches_tanh(function: FunctionType, seen: set[Any]) -> bool:
    # By the names in the compiled code, a superset: most functions of MindSpore need not be parsed then.
    if function in seen:
        return False
    seen.add(function)
    names = _names(function.__code__)
    if "tanh" in names or "Tanh" in names:
        return True
    known = {**function.__globals__, **_closure(function)}
    held = [known[name] for name in names if name in known]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    values = [leaf for value in held for leaf in leaves(value)]
    values += [vars(module).get(name) for module in values if isinstance(module, ModuleType) for name in names]
    kinds = [kind for value in values if _is_cell(value) for kind in value.__mro__ if kind not in nn.Cell.__mro__]
    # In a class with a bound cell a method is behind the `function` of what intercepts it.
    values += [getattr(method, "function", method) for kind in kinds for method in [*vars(kind).values()]]
    if any(isinstance(value, ops.Tanh) for value in values):
        return True
    functions = [inspect.unwrap(value) for value in values if isinstance(value, FunctionType)]
    return any(function in _TANH or _reaches_tanh(function, seen) for function in functions)


def _all_names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_freevars, *code.co_varnames, *code.co_cellvars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_names(constant)


def _names(code: CodeType) -> list[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *code.co_freevars, *itertools.chain(*inner)]


def _compile(
    function: FunctionType, tree: ast.FunctionDef, names: dict[str, Any], mark: Callable[[Any], Any]
) -> Any:
    # In an outer function, whose arguments the new one has for its closure: MindSpore looks for names there first.
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    closure = {**dict.fromkeys(cells), **_closure(function), **names}
    outer = ast.parse(f"def outer({', '.join(closure)}):\n    pass\n    return {tree.name}")
    outer.body[0].body[0] = tree  # type: ignore[attr-defined]
    text = ast.unparse(ast.fix_missing_locations(outer))
    # A real file, which inspect reads and MindSpore names in its messages.
    filename = str(fetch(f"{tree.name}.py", [text], lambda path: path.write_text(text, "utf-8") and None))
    made: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), function.__globals__, made)
    copied = made["outer"](**closure)
    # With the cells themselves: the program may change what is in them.
    own = zip(copied.__code__.co_freevars, copied.__closure__ or ())
    shared = tuple(cells.get(name, cell) for name, cell in own)
    result = FunctionType(copied.__code__, function.__globals__, tree.name, closure=shared)
    result.__defaults__, result.__kwdefaults__ = map(mark, (function.__defaults__, function.__kwdefaults__))
    result.__module__ = function.__module__
    result.__qualname__ = function.__qualname__.replace(lambdas.NAME, tree.name)  # MindSpore knows lambdas by it
    return result
