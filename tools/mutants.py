"""Change the code of a part in many small ways, one after the other, and see which changes no test
notices.

`python -m tools.mutants PART` takes a sample of the changes (mutants) of a part's functions and
prints those that its tests let pass. The tests are collected once. For each mutant the process
forks, and the child puts the changed code into the loaded functions and runs the tests until one
fails. So no file is ever changed. Code that runs at import, such as the fields of a class or the
default of a parameter, is not mutated.
"""

import argparse
import ast
import gc
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest


class Part(NamedTuple):
    """Modules, and the tests that must notice when these change."""

    modules: Sequence[str]
    tests: Sequence[str]


PARTS = {
    "claims": Part(
        ["hits/services/claims.py"],
        [
            "tests/hits/services/test_claims.py",
            "tests/hits/services/test_task_pages.py",
            "tests/hits/test_priming_by_response.py",
        ],
    ),
    "ingest": Part(
        ["hits/services/submissions.py"],
        [
            "tests/hits/test_answers_past_the_page.py",
            "tests/hits/test_practice.py",
            "tests/hits/test_priming_by_response.py",
            "tests/hits/test_undescribed.py",
            "tests/hits/services/test_submissions.py",
            "tests/hits/reconcile/test_ingest.py",
        ],
    ),
    "settle": Part(
        ["hits/reconcile/settle.py"],
        [
            "tests/hits/reconcile/test_settle.py",
            "tests/hits/reconcile/test_reconciler_clocks.py",
            "tests/hits/reconcile/test_reconciler_gone_hits.py",
            "tests/hits/test_held_payments.py",
        ],
    ),
    "top-up": Part(["hits/reconcile/top_up.py"], ["tests/hits/reconcile/test_top_up.py"]),
    "exclusions": Part(
        ["qualcontrol/services/exclusions.py"],
        [
            "tests/qualcontrol/services/test_exclusions.py",
            "tests/qualcontrol/services/test_releasing.py",
            "tests/qualcontrol/review",
            "tests/qualcontrol/services/test_policies.py",
            "tests/qualcontrol/test_bystanders.py",
            "tests/hits/test_undescribed.py",
        ],
    ),
    "releases": Part(
        ["qualcontrol/services/releasing.py", "annotate/kinds/freezing.py"],
        [
            "tests/qualcontrol/services/test_releasing.py",
            "tests/qualcontrol/services/test_releasing_draws.py",
            "tests/annotate/test_families.py",
            "tests/hits/test_hidden_references.py",
        ],
    ),
    "rights": Part(
        ["accounts/models.py", "accounts/rights.py", "accounts/services/teams.py"],
        [
            "tests/accounts/management",
            "tests/accounts/services",
            "tests/accounts/pages",
            "tests/accounts/test_rights.py",
            "tests/config/test_rights.py",
        ],
    ),
}
OPPOSITES: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
# Calls that do less with a keyword less.
NARROWING = {"exclude", "filter", "get", "update", "Q"}
# Calls whose keywords change no result of one process, and log lines.
SILENT = {"select_for_update", "zip", "debug", "info", "warning"}
SKIPPED = {"annotation", "decorator_list", "defaults", "kw_defaults", "returns"}


class Mutant(NamedTuple):
    """One node of a module's tree, and what stands in its place."""

    module: str
    tree: ast.Module
    old: ast.AST
    new: ast.AST

    def __str__(self) -> str:
        before, after = (ast.unparse(node).splitlines()[0] for node in (self.old, self.new))
        return f"{self.module}:{getattr(self.old, 'lineno', 0)}  {before}  →  {after}"

    def put_in(self) -> None:
        """Give this process's functions the changed code."""
        _Replacing(self.old, self.new).visit(self.tree)
        path = str(Path(self.module).resolve())
        code = compile(ast.fix_missing_locations(self.tree), path, "exec")
        codes = {(part.co_qualname, part.co_firstlineno): part for part in _codes(code)}
        gc.unfreeze()  # the project's conftest.py hides what is loaded
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType) and thing.__code__.co_filename == path:
                key = thing.__code__.co_qualname, thing.__code__.co_firstlineno
                if "<" not in thing.__code__.co_qualname:
                    thing.__code__ = codes[key]


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutants_of(module: str) -> list[Mutant]:
    """All mutants of the module's functions and methods, in the order of their lines."""
    tree = ast.parse(Path(module).read_text())
    classes = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    functions = (node for node in chain(tree.body, *classes) if isinstance(node, ast.FunctionDef))
    nodes = chain.from_iterable(_walk(function) for function in functions)
    return [
        Mutant(module, tree, node, ast.copy_location(new, node))
        for node in nodes
        for new in _changes(node)
    ]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, value in ast.iter_fields(node):
        if name in SKIPPED or (name == "keywords" and _called(node) in SILENT):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _called(node: ast.AST) -> str:
    """The name of the function that the node calls."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """The possible replacements of the node."""
    match node:
        case ast.Compare(ops=[op]):
            yield _with(node, ops=[OPPOSITES[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in OPPOSITES:
            yield _with(node, op=OPPOSITES[type(op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Call(keywords=keywords) if _called(node) in NARROWING:
            for keyword in keywords:
                yield _with(node, keywords=[other for other in keywords if other is not keyword])
        case _:
            yield from _changes_of_flow(node)


def _changes_of_flow(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp):  # which change themselves
                yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Return(value=ast.AST() as result) if not isinstance(result, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() as call) if _called(call) not in SILENT:
            yield ast.Pass()
        case ast.Raise() | ast.AugAssign():
            yield ast.Pass()


def _with(node: ast.AST, **changed: Any) -> ast.AST:
    other = copy(node)
    for name, value in changed.items():
        setattr(other, name, value)
    return other


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


class Trial:
    """A plugin of pytest that runs the collected tests once for each mutant, in a child each."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.mutants = mutants
        self.is_child = False
        self.survivors = list[Mutant]()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        session.items.sort(key=_is_slow)  # most mutants need only quick tests
        began = time.monotonic()
        if self._begin(None):
            return None
        if self._ended(3600) != 0:
            pytest.exit("The tests fail without a mutant.", 1)
        limit = 30 + 10 * (time.monotonic() - began)
        for mutant in self.mutants:
            if self._begin(mutant):
                return None  # pytest continues with the tests
            if self._ended(limit) == 0:
                self.survivors.append(mutant)
                print(f"survived: {mutant}", flush=True)
        return True

    def _begin(self, mutant: Mutant | None) -> bool:
        """Whether this is the child, in which the mutant is."""
        self.child = os.fork()
        self.is_child = self.child == 0
        if self.is_child:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.__stdout__.fileno())  # type: ignore[union-attr]
            os.dup2(nowhere, sys.__stderr__.fileno())  # type: ignore[union-attr]
            if mutant:
                mutant.put_in()
        return self.is_child

    def _ended(self, limit: float) -> int:
        """The child's exit status; not 0 if it takes longer than `limit` seconds."""
        until = time.monotonic() + limit
        while time.monotonic() < until:
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.02)
        os.kill(self.child, signal.SIGKILL)
        return os.waitpid(self.child, 0)[1]


def _is_slow(item: pytest.Item) -> bool:
    is_property = hasattr(getattr(item, "obj", None), "hypothesis")
    return is_property or item.get_closest_marker("slow") is not None


def main() -> int:
    parser = argparse.ArgumentParser(description="Find changes of the code that no test notices.")
    parser.add_argument("names", nargs="+", metavar="PART", help=f"{', '.join(PARTS)}; or files")
    parser.add_argument("--tests", nargs="+", help="tests of these files")
    parser.add_argument("--sample", type=int, default=30, help="number of mutants (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="draws the sample (default: 1)")
    options = parser.parse_args()
    if not options.tests and (len(options.names) > 1 or options.names[0] not in PARTS):
        parser.error(f"name one part of {', '.join(PARTS)}, or files and their --tests")
    part = Part(options.names, options.tests) if options.tests else PARTS[options.names[0]]
    every = [mutant for module in part.modules for mutant in mutants_of(module)]
    drawn = random.Random(options.seed).sample(range(len(every)), min(options.sample, len(every)))
    trial = Trial([every[number] for number in sorted(drawn)])
    status = pytest.main(["-x", "-qq", "-s", "-p", "no:cacheprovider", *part.tests], [trial])
    if trial.is_child:
        # Without the exit handlers, which would delete what the parent still uses.
        os._exit(status)
    if status == 0:
        killed = len(drawn) - len(trial.survivors)
        print(f"{killed} of {len(drawn)} mutants killed, of {len(every)} in all.")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
