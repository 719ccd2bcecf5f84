"""The source of a lambda, which Python does not tell from what stands around it."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ast
import inspect
from types import CodeType, FunctionType
from typing import Any, Optional

NAME = "<lambda>"


def as_function(function: FunctionType) -> Optional[ast.FunctionDef]:
    """The definition of a function that does what the lambda does, or None where its source cannot be told apart."""
    lines, _ = inspect.findsource(function)
    code = function.__code__
    found = [
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno and _alike(_compiled(node), code)
    ]
    if not found or any(ast.dump(one) != ast.dump(found[0]) for one in found):
        return None
    (statement,) = ast.parse("def bound_lambda(): return None").body
    assert isinstance(statement, ast.FunctionDef)
    statement.args = found[0].args
    statement.body = [ast.Return(found[0].body)]
    return statement


def _compiled(node: ast.Lambda) -> CodeType:
    # Without defaults, which are evaluated outside and may have code of their own.
    without = {"defaults": [], "kw_defaults": [None] * len(node.args.kwonlyargs)}
    bare = ast.Lambda(ast.arguments(**{**vars(node.args), **without}), node.body)
    expression = ast.fix_missing_locations(ast.Expression(ast.copy_location(bare, node)))
    (code,) = (one for one in compile(expression, NAME, "eval").co_consts if isinstance(one, CodeType))
    return code


def _alike(one: CodeType, other: CodeType) -> bool:
    # What a lambda takes from the function around it is a global name when it is compiled alone.
    def features(code: CodeType) -> tuple[Any, ...]:
        # Older Pythons have the qualified names of inner functions among them.
        constants = [one for one in code.co_consts if not isinstance(one, CodeType) and "<locals>" not in str(one)]
        return code.co_varnames, {*code.co_names, *code.co_freevars}, constants

    return features(one) == features(other)
