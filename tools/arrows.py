"""Report strings that name a package which their own may not import.

`make lint` runs this; import-linter reads imports alone. A string names a package by the dotted
name of a module or model, a route, a template, a library of template tags, a static file or, in
SQL, a table. Docstrings and comments count only if they name a module. Files in no package's
folder, such as base.html, belong to the project and may name everything.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders of templates and static files that no package is named after, with their package.
FOLDERS = {"kinds": "annotate", "parts": "accounts"}
# The other site, which no package of this one may name.
APART = "marketplace"
# The namespace of a list of URLs, which stands in app_name or beside the list.
ROUTES = re.compile(r'^(?:app_name = |\w+_urls = .*\], |    )"(\w+)",?\)?$', re.MULTILINE)
LOADED = re.compile(r"\{% load ([\w ]+?) %\}")
SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|JOIN|FROM)\b")
START = r"(?<![\w./-])"
# The packages that a string names, and the place of the string.
Found = tuple[set[str], Path, int]


class Names:
    """The names of each package; the layers contract in pyproject.toml states their order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        rules = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
        layers = next(contract["layers"] for contract in rules["contracts"] if "layers" in contract)
        self.rows = {name: row for row, names in enumerate(layers) for name in names.split(" | ")}
        files = [
            (package, file) for package in self.rows for file in (root / package).rglob("*.py")
        ]
        urls = [(package, file) for package, file in files if file.name == "urls.py"]
        routes = {
            name: package for package, file in urls for name in ROUTES.findall(file.read_text())
        }
        self.tags = {
            file.stem: package for package, file in files if file.parent.name == "templatetags"
        }
        self.owners = {package: package for package in self.rows} | FOLDERS | routes
        packages, folders = "|".join(self.rows), "|".join({*self.rows, *FOLDERS})
        self.module = rf"{START}({packages})\.(?!(?:csv|log|md|sqlite3|toml)\b)\w"
        self.file = rf"(?<![\w-])(?<!\w[./])(?:templates/|static/)?({folders})/\w"
        self.route = rf"{START}({'|'.join(routes)}):[a-z]\w"
        # After a dot stands a column, such as page.marketplace_id.
        self.table = rf"(?<![.\w])({packages})_[a-z]+\b"

    def upward(self) -> Iterator[str]:
        """A sentence for each string that names a package above its own, or beside it."""
        for package in self.rows:
            for named, file, line in [*self._in_python(package), *self._in_templates(package)]:
                path = file.relative_to(self.root)
                for other in sorted(named - {package}):
                    if not self._is_below(package, other):
                        yield f"{path}:{line} names {other}, which is not below {package}."

    def _is_below(self, package: str, other: str) -> bool:
        return self.rows[package] < self.rows[other] and other != APART

    def _in_python(self, package: str) -> Iterator[Found]:
        for file in sorted((self.root / package).rglob("*.py")):
            if file.parent.name == "migrations":  # written from the models
                continue
            for line, text, is_prose in _strings(file.read_text()):
                patterns = [self.module] if is_prose else [self.module, self.file, self.route]
                if not is_prose and SQL.search(text):
                    patterns.append(self.table)
                names = {name for pattern in patterns for name in re.findall(pattern, text)}
                yield {self.owners[name] for name in names}, file, line

    def _in_templates(self, package: str) -> Iterator[Found]:
        folders = {package, *(folder for folder, owner in FOLDERS.items() if owner == package)}
        for folder in sorted(folders):
            for file in sorted(_texts(self.root, folder)):
                for line, text in enumerate(file.read_text().splitlines(), start=1):
                    names = re.findall(self.file, text) + re.findall(self.route, text)
                    loaded = {
                        library for names in LOADED.findall(text) for library in names.split()
                    }
                    tags = {self.tags[library] for library in loaded & self.tags.keys()}
                    yield {self.owners[name] for name in names} | tags, file, line


def _texts(root: Path, folder: str) -> Iterator[Path]:
    """The templates, scripts and style sheets in the folders of this name."""
    for place, suffixes in {"templates": {".html", ".txt"}, "static": {".js", ".css"}}.items():
        files = (root / place / folder).rglob("*")
        yield from (file for file in files if file.suffix in suffixes)


def _strings(source: str) -> Iterator[tuple[int, str, bool]]:
    """The line of each string or comment, its text, and whether it is prose."""
    for line, text in enumerate(source.splitlines(), start=1):
        yield line, text.partition("#")[2], True
    nodes = list(ast.walk(ast.parse(source)))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value, id(node) in prose


if __name__ == "__main__":
    sys.exit("\n".join(Names(ROOT).upward()) or 0)
