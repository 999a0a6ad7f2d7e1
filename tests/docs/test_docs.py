"""The docs name every setting, command and route, and contain no broken links."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import get_args

import pytest
from django.core.management import get_commands
from django.urls import URLPattern, URLResolver, get_resolver
from pydantic import BaseModel

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.kinds.campaign_files import PRESETS, parse_plan
from corpora.__main__ import COMMANDS
from tests.config.rules import RULES
from tests.docs.written import CODE_BLOCK, DOCS, OUR_APPS, PAGES, ROOT, page

COMMAND_FOLDERS = [
    ROOT / app / "management" / "commands" for app in (*sorted(OUR_APPS), "marketplace")
]
IMAGE_BYTES = 120_000
LINK = re.compile(r"\]\(([^)\s]+)\)")
# The units and the script of deploy/ have the checkout in /opt/captions.
MACHINE_PATH = re.compile(
    r"(?<![\w.:/-])/(?!opt/captions\b)(work|tmp|home|root|Users|usr|opt|mnt|srv)/"
)


def unquoted_in(text: str, names: Iterable[str]) -> list[str]:
    """The names that the text does not contain as code: `name`."""
    names = sorted(set(names))
    assert names, "nothing was found to look for"
    return [name for name in names if f"`{name}`" not in text]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(tree: ast.AST, *functions: str) -> Iterator[ast.Call]:
    """Calls of functions with these names, as `name(…)` or `something.name(…)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            if function in functions or function.rsplit(".", 1)[-1] in functions:
                yield node


def options_of(path: Path) -> set[str]:
    return {
        argument.value
        for call in calls(tree_of(path), "add_argument")
        for argument in call.args
        if isinstance(argument, ast.Constant) and str(argument.value).startswith("--")
    }


def command_files() -> list[Path]:
    """The files of the management commands of both sites, which may have one of the same name."""
    return [
        path
        for folder in COMMAND_FOLDERS
        for path in sorted(folder.glob("*.py"))
        if not path.stem.startswith("_")
    ]


def section_of(command: str) -> str:
    """The section of commands.md whose heading names the command."""
    parts = re.split(r"^###? ", page("commands.md"), flags=re.MULTILINE)
    return next((part for part in parts if f"`{command}" in part.splitlines()[0]), "")


def route_names(patterns: Iterable[URLPattern | URLResolver], namespace: str = "") -> set[str]:
    names: set[str] = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if pattern.namespace != "admin":
                inner = f"{pattern.namespace}:" if pattern.namespace else namespace
                names |= route_names(pattern.url_patterns, inner)
        elif pattern.name:
            names.add(namespace + pattern.name)
    return names


def keys_of(model: type[BaseModel], section: str = "") -> set[str]:
    """All keys of the campaign file as `section.key`; tables in lists count as their section's."""
    keys = set()
    for name, field in model.model_fields.items():
        inner = [
            part
            for part in (field.annotation, *get_args(field.annotation))
            if isinstance(part, type) and issubclass(part, BaseModel)
        ]
        is_section = inner and inner[0] is field.annotation
        if not is_section:
            keys.add(f"{section}.{name}")
        for part in inner:
            keys |= keys_of(part, name if is_section else section)
    return keys


def documented_keys() -> dict[str, str]:
    """The rows of the tables of keys in campaign-file.md, by section."""
    table = page("campaign-file.md").split("| key | meaning | default |")[1].split("\n\n")[0]
    sections, current = {"": ""}, ""
    for row in table.splitlines():
        if heading := re.match(r"\| \*\*`\[(\w+)\]`\*\*", row):
            current = heading[1]
            sections[current] = ""
        sections[current] += row + "\n"
    return sections


@cache
def anchors_of(path: Path) -> set[str]:
    """The anchors of a Markdown page's headings."""
    text = CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {
        re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def links_of(path: Path) -> list[str]:
    text = CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))
    return [link for link in LINK.findall(text) if not re.match(r"\w+:", link)]


def resolves(path: Path, link: str) -> bool:
    target, _, anchor = link.partition("#")
    file = (path.parent / target).resolve() if target else path
    return file.exists() and (not anchor or anchor in anchors_of(file))


def test_commands_of_the_requester_site_are_those_in_its_folders():
    ours = {name for name, app in get_commands().items() if app in OUR_APPS}

    assert ours == {path.stem for path in command_files() if "marketplace" not in path.parts}


def test_every_command_has_a_section():
    missing = [path.stem for path in command_files() if not section_of(path.stem)]

    assert missing == []


def test_every_option_of_corpora_is_in_the_section_of_the_sites_command_or_in_its_page():
    sites = {"splits": "compositional_split", "constraints": "export_constraints"}

    missing = [
        f"{name} {option}"
        for name in COMMANDS
        for option in options_of(ROOT / "corpora" / "commands" / f"{name}.py")
        if option not in section_of(sites.get(name, name))
        and f"`{name} {option} " not in page("scoring-alone.md")
    ]

    assert missing == []


def test_every_option_is_in_the_section_of_its_command():
    missing = [
        f"{path.stem} {option}"
        for path in command_files()
        for option in sorted(options_of(path))
        if option not in section_of(path.stem)
    ]

    assert missing == []


@pytest.mark.parametrize("site", ["config", "marketplace"])
def test_every_variable_that_a_site_reads_is_among_the_settings(site):
    variables = import_module(f"{site}.environment").Environment
    names = {name.upper() for name in variables.model_fields}

    assert unquoted_in(page("settings.md"), names) == []


def test_every_choice_of_behaviour_is_named_for_the_marketplace():
    names = {
        target.id
        for package in ("marketplace", "shared")
        for node in tree_of(ROOT / package / "settings.py").body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.startswith("MTURK_")
    }

    assert unquoted_in(page("marketplace.md"), names) == []


def test_every_route_of_the_requester_site_is_named():
    names = route_names(get_resolver("config.urls").url_patterns)

    assert unquoted_in(page("api.md"), names) == []


def test_the_addresses_without_signing_in_are_those_of_the_rules():
    named = set(re.findall(r"`([\w:-]+)`", page("api.md").split("\nThese need none:\n")[1]))

    assert named == {
        name
        for name, rule in RULES.items()
        if rule.scope == "public" and not name.startswith("api-")
    }


def test_every_route_of_the_marketplace_is_named():
    names = {
        keyword.value.value
        for call in calls(tree_of(ROOT / "marketplace" / "urls.py"), "path")
        for keyword in call.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    }

    assert unquoted_in(page("marketplace.md"), names) == []


def test_every_key_of_the_campaign_file_is_in_the_table_of_its_section():
    documented = documented_keys()
    names = keys_of(CampaignConfig).union(
        *(keys_of(kind.section, kind.name) for kind in KINDS.values() if kind.section)
    )
    keys = {tuple(key.split(".")) for key in names}

    missing = [
        f"{section}.{name}"
        for section, name in sorted(keys)
        if f"`{name}`" not in documented.get(section, "")
    ]

    assert ("hit", "reward") in keys
    assert missing == []


def test_every_campaign_file_in_the_pages_is_one():
    examples = [
        text
        for path in PAGES
        for text in re.findall(
            r"^```toml\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE
        )
    ]

    plans = [parse_plan(tomllib.loads(example)) for example in examples]

    assert "nocaps-val" in {config.name for plan in plans for config in plan.configs}


def test_presets_reasons_and_exported_files_are_named():
    assert unquoted_in(page("campaign-file.md"), PRESETS) == []
    files = {name for kind in KINDS.values() for name in kind.files}

    assert unquoted_in(page("researcher.md"), files) == []
    faults = [fault for kind in KINDS.values() for fault in kind.faults.values()]
    assert [fault for fault in faults if fault not in page("reviewer.md")] == []


def test_every_target_of_make_is_explained():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)

    targets = [f"make {name}" for name in phony[1].split()] if phony else []

    assert unquoted_in(page("commands.md"), targets) == []


def test_every_benchmark_is_named():
    benchmarks = {
        ast.literal_eval(keyword.value)
        for path in (ROOT / "benchmarks").glob("*.py")
        for call in calls(tree_of(path), "main")
        for keyword in call.keywords
        if keyword.arg == "name"
    }

    assert unquoted_in(page("benchmarks.md"), benchmarks) == []


def test_benchmarks_that_a_page_names_exist():
    named = {
        name
        for path in PAGES
        for name in re.findall(r"(?:-m benchmarks\.|benchmark \[?`)(\w+)", path.read_text("utf-8"))
    } - {"NAME"}

    assert named
    assert [name for name in named if not (ROOT / "benchmarks" / f"{name}.py").exists()] == []


def test_relative_links_resolve():
    dead = [
        f"{path}: {link}" for path in PAGES for link in links_of(path) if not resolves(path, link)
    ]

    assert dead == []


ABOUT_THE_CODE = [ROOT / "CONTRIBUTING.md", *(DOCS / name for name in (
    "architecture.md", "internals.md", "development.md", "adding-a-task-type.md",
))]  # fmt: skip
PACKAGES = tuple(path.parent.name for path in ROOT.glob("*/__init__.py"))


@pytest.mark.parametrize("page", ABOUT_THE_CODE, ids=lambda page: page.name)
def test_files_and_modules_that_a_page_names_exist(page):
    names = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    files = [
        name for name in names if re.fullmatch(r"(?:[\w.-]+/)+[\w-]+\.(?:py|html|js|css)", name)
    ]
    modules = [name for name in names if re.fullmatch(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+", name)]

    assert files
    assert [name for name in files if not (ROOT / name).exists()] == []
    for name in modules:
        resolve_name(name)  # Raises an error that names what is missing.


@cache
def words_of_the_code() -> set[str]:
    files = [
        file
        for package in (*PACKAGES, "tests")
        for end in ("py", "js")
        for file in ROOT.glob(f"{package}/**/*.{end}")
    ]
    return {word for file in files for word in re.findall(r"\w+", file.read_text("utf-8"))}


@pytest.mark.parametrize("page", ABOUT_THE_CODE, ids=lambda page: page.name)
def test_functions_and_fields_that_a_page_names_exist(page):
    names = re.findall(r"`(?:[A-Z]\w+\.)?(_?[a-z]+(?:_[a-z]+)+)(?:\(\))?`", page.read_text("utf-8"))

    assert [name for name in names if name not in words_of_the_code()] == []


def test_no_page_names_a_path_of_one_machine():
    assert [path for path in PAGES if MACHINE_PATH.search(path.read_text("utf-8"))] == []


def pages_linked_from(path: Path) -> set[Path]:
    targets = {(path.parent / link.partition("#")[0]).resolve() for link in links_of(path)}
    return {target for target in targets if target.suffix == ".md"}


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += pages_linked_from(path)

    assert set(PAGES) - reached == set()


def test_the_index_of_a_folder_links_to_each_of_its_pages():
    for folder in (DOCS, DOCS / "decisions"):
        index = folder / "README.md"

        assert set(folder.glob("*.md")) - {index} - pages_linked_from(index) == set()


def test_the_threat_model_names_tests_that_exist():
    named = set(re.findall(r"`(test_\w+)`", (DOCS / "threat-model.md").read_text()))
    tests = (ROOT / "tests").rglob("test_*.py")
    known = {
        name for path in tests for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }

    assert named
    assert named <= known


def test_the_citation_names_the_version_of_the_package():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    assert f"\nversion: {package['version']}\n" in citation


def test_pictures_are_used_and_small():
    used = {
        (path.parent / link).resolve()
        for path in PAGES
        for link in links_of(path)
        if "images/" in link
    }
    pictures = set((DOCS / "images").iterdir())

    assert pictures == used
    assert all(picture.stat().st_size <= IMAGE_BYTES for picture in pictures)
