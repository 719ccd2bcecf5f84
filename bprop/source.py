"""Graph mode reads source: here that of a function with its calls of Tanh turned into calls of a marked Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ast
import inspect
import itertools
import textwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Optional, Union

from mindspore import mint, nn, ops

from .._cache import fetch

_TANH = (ops.tanh, mint.tanh)
_UNKNOWN = object()


class Marker:
    """Rewrites functions so that they call `tanh`, a marked primitive, where they call MindSpore's."""

    def __init__(self, tanh: Any, bind: Callable[[nn.Cell], int]) -> None:
        self.tanh = tanh
        self.bind = bind
        """Of a cell that a function makes where it uses it; returns how many calls of Tanh it has."""
        self.unreadable: list[str] = []
        """Functions that call Tanh, but whose source cannot be had: lambdas."""
        self._made: dict[Any, Any] = {}
        self._calls: dict[Any, int] = {}

    def rewrite(self, function: Any) -> Any:
        """The function for Graph mode to read; the same one where it calls no Tanh, itself or through another."""
        if any(function is tanh for tanh in _TANH):
            return self.tanh
        if not isinstance(function, FunctionType) or function in self._made:
            return self._made.get(function, function)
        self._made[function] = function  # also for a function that calls itself
        if not _reaches_tanh(function, set()):
            return function
        tree = _tree(function)
        if tree is None:
            self.unreadable.append(function.__qualname__)
        else:
            replace = _Replace(function, self)
            tree.decorator_list = []
            replace.visit(tree)
            if replace.names:
                self._made[function] = _compile(function, tree, replace.names)
            self._calls[function] = replace.calls
        return self._made[function]

    def calls(self, function: Any) -> int:
        """How many calls of Tanh the source of a function has, with those in the functions that it calls."""
        if any(function is tanh for tanh in _TANH):
            return 1
        self.rewrite(function)
        return self._calls.get(function, 0)


class _Replace(ast.NodeTransformer):
    def __init__(self, function: FunctionType, marker: Marker) -> None:
        self._marker = marker
        self._known = {**function.__globals__, **_closure(function)}
        for local in function.__code__.co_varnames:
            self._known.pop(local, None)
        self.names: dict[str, Any] = {}
        self.calls = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        method = node.func
        if self._value(method) is ops.Tanh:  # a primitive, made where it is used
            self.calls += 1
            return self._name("tanh", self._marker.tanh)
        if _is_cell(self._value(method)) and all(isinstance(value, ast.Constant) for value in node.args):
            cell = self._value(method)(*(value.value for value in node.args))  # type: ignore[attr-defined]
            calls = self._marker.bind(cell)
            self.calls += calls
            return self._name(type(cell).__name__, cell) if calls else node
        if isinstance(method, ast.Attribute) and self._is_tensor_method(node, method):
            self.calls += 1
            node.func, node.args = self._name("tanh", self._marker.tanh), [method.value]
        return self.generic_visit(node)

    def _is_tensor_method(self, node: ast.Call, method: ast.Attribute) -> bool:
        without_arguments = not node.args and not node.keywords
        return method.attr == "tanh" and without_arguments and self._value(method.value) is _UNKNOWN

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._replaced(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        done = self._replaced(node)
        return self.generic_visit(node) if done is node else done

    def _replaced(self, node: Union[ast.Name, ast.Attribute]) -> ast.AST:
        value = self._value(node) if isinstance(node.ctx, ast.Load) else _UNKNOWN
        if any(value is tanh for tanh in _TANH):
            self.calls += 1
            return self._name("tanh", self._marker.tanh)
        if isinstance(value, FunctionType):
            self.calls += self._marker.calls(value)
            made = self._marker.rewrite(value)
            if made is not value:
                return self._name(value.__name__, made)
        return node

    def _value(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return self._known.get(node.id, _UNKNOWN)
        if isinstance(node, ast.Attribute):
            module = self._value(node.value)
            return getattr(module, node.attr, _UNKNOWN) if isinstance(module, ModuleType) else _UNKNOWN
        return _UNKNOWN

    def _name(self, base: str, value: Any) -> ast.Name:
        name = f"bound_{base}"
        self.names[name] = value
        return ast.Name(name, ast.Load())


def _is_cell(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, nn.Cell)


def _tree(function: FunctionType) -> Optional[ast.FunctionDef]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    return tree if isinstance(tree, ast.FunctionDef) and tree.name == function.__name__ else None  # else a lambda


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
    values = [known[name] for name in names if name in known]
    values += [vars(module).get(name) for module in values if isinstance(module, ModuleType) for name in names]
    values += [method for kind in values if _is_cell(kind) for method in vars(kind).values()]
    return any(value in _TANH or _reaches_tanh(value, seen) for value in values if isinstance(value, FunctionType))


def _names(code: CodeType) -> list[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *code.co_freevars, *itertools.chain(*inner)]


def _compile(function: FunctionType, tree: ast.FunctionDef, names: dict[str, Any]) -> Any:
    # In an outer function, whose arguments the new one has for its closure: MindSpore looks for names there first.
    closure = {**_closure(function), **names}
    outer = ast.parse(f"def outer({', '.join(closure)}):\n    pass\n    return {tree.name}")
    outer.body[0].body[0] = tree  # type: ignore[attr-defined]
    text = ast.unparse(ast.fix_missing_locations(outer))
    # A real file, which inspect reads and MindSpore names in its messages.
    filename = str(fetch(f"{function.__name__}.py", [text], lambda path: path.write_text(text) and None))
    made: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), function.__globals__, made)
    result = made["outer"](**closure)
    result.__defaults__, result.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    result.__module__, result.__qualname__ = function.__module__, function.__qualname__
    return result
