"""Write the map of packages in docs/architecture.md, from the imports and the docstrings.

    python tools/architecture_map.py            # write the map
    python tools/architecture_map.py --check    # fail if the map is out of date

Either also fails where modules import each other in a cycle.
"""

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- packages: begin -->", "<!-- packages: end -->"
# From the top layer to the bottom one; the marketplace is a site of its own.
APPS = ["simulation", "hits", "qualcontrol", "leaderboard", "annotate", "marketplace"]
# Present in any Django app, with the same content.
DJANGO = {"admin", "apps", "migrations", "templatetags", "urls", "wsgi"}

Imports = dict[str, set[str]]


class MapError(Exception):
    """The map cannot be made; the message says what to change."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if out of date")
    check = parser.parse_args().check
    # Where grimp looks for the packages.
    sys.path.insert(0, str(ROOT))
    text = PAGE.read_text()
    try:
        made = with_map(text, map_of(imports_of(APPS), ROOT))
    except MapError as error:
        sys.exit(str(error))
    if check and made != text:
        sys.exit(f"{PAGE.name} is out of date: run python tools/architecture_map.py")
    if not check:
        PAGE.write_text(made)


def imports_of(apps: list[str]) -> Imports:
    """The modules that each module imports; raises MapError for a cycle."""
    graph = grimp.build_graph(
        *apps, cache_dir=None, exclude_type_checking_imports=False, include_external_packages=False
    )
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise MapError(f"Modules import each other: {' -> '.join(error.args[1])}") from error
    return imports


def with_map(text: str, made: str) -> str:
    """The page's text with this map between its markers."""
    if BEGIN not in text or END not in text:
        raise MapError(f"{PAGE.name} lacks the markers {BEGIN} and {END}")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made}\n{END}{after}"


def map_of(imports: Imports, root: Path) -> str:
    """A graph of the apps, and for each app a table of its packages and modules."""
    by_part: Imports = defaultdict(set)
    for module, imported in imports.items():
        by_part[part_of(module)] |= {part_of(name) for name in imported} - {part_of(module)}
    apps = [app for app in APPS if app in by_part]
    return "\n".join([*_graph(apps, by_part), *_tables(apps, by_part, root)])


def part_of(module: str) -> str:
    """The app's package or module that a module belongs to, as `hits.services`."""
    return ".".join(module.split(".")[:2])


def _graph(apps: list[str], by_part: Imports) -> Iterator[str]:
    yield "```mermaid"
    yield "graph LR"
    arrows = {
        (app_of(part), app_of(name)) for part, imported in by_part.items() for name in imported
    }
    for app in apps:
        yield f"    {app}"
        yield from (
            f"    {app} --> {other}" for other in apps if app != other and (app, other) in arrows
        )
    yield "```"


def app_of(part: str) -> str:
    return part.partition(".")[0]


def _tables(apps: list[str], by_part: Imports, root: Path) -> Iterator[str]:
    for app in apps:
        yield ""
        yield f"**`{app}`**: {_summary(root, app)}"
        yield ""
        yield "| part | what it is | imports |"
        yield "|---|---|---|"
        for part in sorted(by_part):
            name = part.removeprefix(f"{app}.")
            if part.startswith(f"{app}.") and name not in DJANGO:
                yield f"| `{name}` | {_summary(root, part)} | {_imported(app, by_part[part])} |"
    yield ""


def _imported(app: str, imported: set[str]) -> str:
    """The parts of the same app, then those of each other app."""
    names: dict[str, list[str]] = {app: []}
    for part in sorted(imported - set(APPS)):
        names.setdefault(app_of(part), []).append(part.partition(".")[2])
    own = ", ".join(names.pop(app))
    return "; ".join([*filter(None, [own]), *(f"*{a}*: {', '.join(p)}" for a, p in names.items())])


def _summary(root: Path, part: str) -> str:
    """The first sentence of a module's docstring; raises MapError if it has none."""
    path = root.joinpath(*part.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    documented = ast.get_docstring(ast.parse(path.read_text()))
    if part.endswith(".management"):
        return "Commands."
    if not documented:
        raise MapError(f"{path.relative_to(root)} has no docstring: say in one line what it holds.")
    return " ".join(documented.split("\n\n")[0].split()).replace("|", r"\|")


if __name__ == "__main__":
    main()
