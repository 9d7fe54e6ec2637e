"""The text of functions and classes that a script uses, and of all that these use in turn.

It is taken from the modules in which they stand, which the adapter itself runs, without the
annotations, and with it the imports that it needs. Knows nothing of what it does.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from types import ModuleType

from adamant_torch.script.layout import COLUMNS_MAX, MARGIN

OWN = "adamant_torch"


class Text:
    """What has been found so far: import statements and definitions, in an order that runs."""

    def __init__(self, words: ModuleType, own: str = OWN) -> None:
        self.words = words
        self.own = own  # the package whose text is taken; what others have is imported
        self.imports: set[tuple[str, str]] = set()  # module, name; of a module itself no name
        self.definitions: dict[str, str] = {}

    def add(self, source: str) -> None:
        """Find all that some source uses of the words that a script may use."""
        for name in names_in(ast.parse(source)):
            self._find(name, self.words)

    def _find(self, name: str, module: ModuleType) -> None:
        bound = bindings(module).get(name)
        if isinstance(bound, ast.Import):
            self.imports.add((ast.unparse(bound).removeprefix("import "), ""))
        elif isinstance(bound, ast.ImportFrom):
            origin = str(bound.module)
            if origin.split(".")[0] == self.own:
                self._find(name, sys.modules[origin])
            else:
                self.imports.add((origin, name))
        elif bound is not None and name not in self.definitions:
            self.definitions[name] = ""  # it may use itself
            text = segment(bound, module)
            for other in names_in(ast.parse(text)):
                self._find(other, module)
            del self.definitions[name]
            self.definitions[name] = text


def names_in(tree: ast.AST) -> list[str]:
    """Return names that are read and not made in the same text, in the order they come."""
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return list(dict.fromkeys(node.id for node in names if node.id not in made))


@cache
def bindings(module: ModuleType) -> dict[str, ast.stmt]:
    """Return the statement of a module that makes each name what it is."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = ast.Import([alias])
        elif isinstance(node, ast.ImportFrom):
            found |= dict.fromkeys((alias.name for alias in node.names), node)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {at.id: node for at in node.targets if isinstance(at, ast.Name)}
    return found


def segment(node: ast.stmt, module: ModuleType) -> str:
    """Return the lines of a statement, with its decorators, without annotations."""
    lines = inspect.getsource(module).splitlines()
    last = node.end_lineno or node.lineno
    inside = sorted(ast.walk(node), key=lambda each: -getattr(each, "lineno", 0))  # the last first
    for each in inside:
        if isinstance(each, ast.FunctionDef):
            end = each.body[0].lineno - 1
            lines[each.lineno - 1 : end] = header(each)
            last += 1 - (end - each.lineno + 1) + len(header(each)) - 1
        elif isinstance(each, ast.AnnAssign) and each.value is not None:
            line = lines[each.lineno - 1]
            value = line[each.value.col_offset :]
            lines[each.lineno - 1] = f"{line[: each.target.end_col_offset]} = {value}"
    first = min([node.lineno, *(at.lineno for at in getattr(node, "decorator_list", []))])
    return "\n".join(re.sub("  # type: ignore.*", "", line) for line in lines[first - 1 : last])


def header(node: ast.FunctionDef) -> list[str]:
    """Return the line that begins a function, or several where it is too wide."""
    arguments = node.args
    for each in (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each is not None:
            each.annotation = None
    margin = " " * node.col_offset
    given = ast.unparse(arguments)
    line = f"{margin}def {node.name}({given}):"
    if len(line) <= COLUMNS_MAX:
        return [line]
    return [f"{margin}def {node.name}(", f"{margin}{MARGIN}{given}", f"{margin}):"]


def import_lines(imports: set[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Return import lines of the standard library, and of others, as a formatter has them."""
    modules = sorted(module for module, name in imports if not name)
    lines = [f"import {module}" for module in modules]
    for origin in sorted({module for module, name in imports if name}):
        names = sorted(name for module, name in imports if module == origin and name)
        lines.append(f"from {origin} import {', '.join(names)}")
    standard = [line for line in lines if line.split()[1].split(".")[0] in sys.stdlib_module_names]
    others = [line for line in lines if line not in standard]
    return wrapped(standard), wrapped(others)


def wrapped(imports: list[str]) -> list[str]:
    """Return import lines, broken where they are too wide."""
    lines = []
    for line in imports:
        first, _, names = line.partition(" import ")
        wide = [f"{first} import (", *(f"{MARGIN}{n}," for n in names.split(", ")), ")"]
        lines += [line] if len(line) <= COLUMNS_MAX else wide
    return lines
