"""What pyproject.toml and the changelog say of the project, compared with what makes it."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SYSTEMS = {"linux": "POSIX :: Linux", "apple": "MacOS", "windows": "Microsoft :: Windows"}


def test_classifiers_name_the_systems_of_all_wheels():
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    built = {*re.findall(rf"target: \S+-({'|'.join(SYSTEMS)})\b", workflow)}
    assert built
    named = {one for one in PROJECT["classifiers"] if one.startswith("Operating System")}
    assert named == {f"Operating System :: {SYSTEMS[name]}" for name in built}


def test_an_index_of_packages_says_who_and_what():
    assert PROJECT["authors"]
    assert len(PROJECT["keywords"]) >= 3


def test_the_changelog_has_a_section_for_the_version_of_the_engine():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"]["package"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(version)}\b", changelog, re.MULTILINE)


def test_the_extra_docs_has_what_the_modules_of_the_api_import():
    """The site imports the modules whose pages it makes."""
    extras = PROJECT["optional-dependencies"]
    wanted, waiting = set(), ["docs"]
    while waiting:
        for one in extras[waiting.pop()]:
            name, inner = re.match(r"([\w.-]+)(?:\[([^]]*)\])?", one).groups()
            wanted.add(name)
            waiting += inner.split(",") if name == "zarrix" and inner else []
    imported = set()
    for package in ("dask", "xarray"):
        for path in (ROOT / "python" / "zarrix" / package).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) else []
                imported |= {one.partition(".")[0] for one in names}
    others = imported - sys.stdlib_module_names - {"zarrix", "numpy"}
    assert others
    assert others <= wanted
