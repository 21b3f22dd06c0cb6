"""Build the documentation site from docs/, the README and the docstrings.

    pip install -e ".[docs]"
    python .ci/website.py                  # writes build/site
    python .ci/website.py --serve          # and serves it on 127.0.0.1

The pages in docs/ are plain Markdown, so that they can be read in the repository too. This program
copies them, writes the pages of the API from ``__all__`` of the public modules, and runs Zensical
in strict mode: a dead link or a page that is missing in the navigation ends the build.

Each public name is documented on one page. Where several modules have the name, that is the first
module in `HOMES`; the pages of the others link to it.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zarrix

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import modules

ROOT = Path(__file__).resolve().parents[1]
# Where the package is imported from, which may be an installed wheel.
PACKAGE = Path(zarrix.__file__).resolve().parent
DOCS = ROOT / "docs"
BUILD = ROOT / "build"

# The modules in which users look first. All others follow in alphabetical order.
HOMES = (
    *("zarrix", "zarrix.storage", "zarrix.codecs", "zarrix.dtype", "zarrix.errors"),
    *("zarrix.indexing", "zarrix.operate", "zarrix.interop", "zarrix.testing", "zarrix.registry"),
)
# Names whose modules need a package that may not be installed; griffe reads their source.
OPTIONAL = {
    "zarrix.interop.Pipeline": "zarrix.interop._pipeline_zarr_python.Pipeline",
    "zarrix.interop.ZarrStore": "zarrix.interop._zarr_python.ZarrStore",
}
# The classes with a page of their own.
CLASSES = ("Array", "Group")

# Sections of the site, and their pages in order; those of a folder in the order of the index.
NAVIGATION: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("index.md",)),
    ("Tutorials", ("tutorials/*",)),
    (
        "How-to",
        (
            "howto/*",
            "stores.md",
            "training.md",
            "jobs.md",
            "versions.md",
            "damaged.md",
            "ecosystem.md",
            "migration.md",
        ),
    ),
    (
        "Reference",
        (
            "indexing.md",
            "tool.md",
            "viewer.md",
            "convert.md",
            "measure.md",
            "trace.md",
            "settings.md",
            "errors.md",
            "support.md",
            "platforms.md",
        ),
    ),
    ("API", ("api/*",)),
    ("Explanation", ("design.md", "reliability.md", "performance.md")),
    ("Project", ("CHANGELOG.md", "CONTRIBUTING.md", "words.md")),
)
# Pages for contributors, which use every word: a user's search leaves them out.
NOT_SEARCHED = ("CHANGELOG.md", "CONTRIBUTING.md", "design.md", "words.md")
# Words of questions that no page is about: all others in a question must be on the page.
NOT_LOOKED_FOR = (
    *("a", "an", "and", "are", "at", "by", "can", "could", "do", "does", "for", "from", "how"),
    *("i", "in", "is", "it", "my", "of", "on", "or", "should", "the", "to", "what", "when"),
    *("which", "with"),
)
# Ends of words that are separators, as spaces are, in pages and questions: "sharding" finds
# "shards". A doubled letter goes with the end ("cropping", "crop"). What is left has three letters
# and a vowel.
_DOUBLED = "|".join(f"(?<=[A-Za-z]{{2}}{one}){one}(?:ing|ed|er)" for one in "bdgmnprt")
ENDS = (
    rf"(?:{_DOUBLED}|(?<=[A-Za-z]{{3}})(?<=[aeiouyAEIOUY][A-Za-z]{{0,20}})"
    r"(?:ations?|ions?|ings?|ed|ers?|es|e|s))(?![A-Za-z])"
)
# What people ask of Zarr libraries in words that the page that answers does not use, or only beside
# others. Each is a result of the search that leads to its page.
ASKED = {
    "convert": "TIFF stack, image stack, OME-TIFF, NetCDF, GRIB, HDF5 and NumPy files to Zarr",
    "howto/async-code": "asyncio, await, coroutines, event loop",
    "howto/change-the-format": "Difference between v2 and v3, which Zarr format",
    "howto/check-for-damage": "Corrupted, corrupt, broken chunks, bit rot, checksums",
    "howto/choose-a-compressor": "Compression level, ratio and speed of Blosc, zstd, gzip",
    "howto/choose-chunks": "Auto chunks, best chunk size, reading is slow",
    "howto/groups": "List the arrays in a group, keys, hierarchy",
    "howto/limit-threads-and-memory": "Out of memory, killed, too much RAM, number of threads",
    "howto/missing-chunks": "Which chunks exist, initialized chunks, empty chunks, sparse arrays",
    "howto/open-faster-on-s3": "Slow S3, opening is slow, slow listing, consolidated metadata",
    "howto/progress-bars": "tqdm, how long a call will take",
    "howto/ragged": "Ragged arrays, jagged arrays, arrays of arrays",
    "howto/read-many-crops": "Random crops, patches, windows for deep learning, machine learning",
    "howto/use-s3": "Anonymous access to a public bucket, AWS, MinIO",
    "howto/use-shards": "Too many small files, inode limit, number of files or objects, quota",
    "howto/write-in-parallel": "Thread safe, process safe, locks, race conditions",
    "indexing": "Fancy indexing, advanced indexing, boolean masks",
    "versions": "Undo a write, history, restore, go back, time travel",
    "viewer": "Plot an array, show an image, OME-Zarr, matplotlib, napari, Jupyter",
}
# Pages of the repository that the site does not have: an index, which the navigation replaces, and
# the text for a package index.
LEFT_OUT = ("README.md", "package.md")

CONFIGURATION = """\
[project]
site_name = "zarrix"
site_description = "The Zarr array store for people who train, measure and simulate"
docs_dir = "source"
site_dir = "site"
use_directory_urls = false
nav = {nav}

[project.theme]
variant = "modern"
font = false
features = [
    "content.code.copy", "navigation.indexes", "navigation.sections", "navigation.top",
    "search.highlight", "toc.follow",
]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Dark mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Light mode"

[project.plugins.mkdocstrings.handlers.python]
paths = [{python}]

[project.plugins.mkdocstrings.handlers.python.options]
docstring_style = "numpy"
docstring_section_style = "list"
line_length = 88
show_source = false
show_root_heading = true
show_bases = false
inherited_members = true
filters = ["!^_"]
heading_level = 2
separate_signature = true
show_signature_annotations = true
show_if_no_docstring = true
merge_init_into_class = true
"""


@dataclass(frozen=True)
class Name:
    """A public name, and the object that it names."""

    module: str
    name: str
    value: Any

    @property
    def full(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def source(self) -> str | None:
        """Where the object is defined, as a path that griffe finds; None for what is not ours."""
        if self.full in OPTIONAL:
            return OPTIONAL[self.full]
        if not (inspect.isclass(self.value) or inspect.isroutine(self.value)):
            return None
        plain = inspect.unwrap(self.value)
        try:
            file = Path(inspect.getsourcefile(plain) or "").resolve()
        except TypeError:
            return None
        if not file.is_relative_to(PACKAGE):
            return None
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join((*(part for part in parts if part != "__init__"), plain.__qualname__))

    @property
    def identity(self) -> str:
        """The same text for two names of one object, and for constants the name itself."""
        if self.source:
            return self.source
        qualified = getattr(self.value, "__qualname__", None)
        return f"{self.value.__module__}.{qualified}" if qualified else self.full


def public_names() -> Iterator[Name]:
    """Every name in ``__all__`` of a public module, the modules in the order of their pages."""
    found = {module.__name__: module for module in modules()}
    rest = sorted(found.keys() - set(HOMES))
    for module in (*(home for home in HOMES if home in found), *rest):
        for name in sorted(getattr(found[module], "__all__", ()), key=str.lower):
            optional = f"{module}.{name}" in OPTIONAL
            yield Name(module, name, None if optional else getattr(found[module], name))


def homes(names: list[Name]) -> dict[str, Name]:
    """For each full name the one under which its object is documented: the first that names it."""
    first: dict[str, Name] = {}
    return {one.full: first.setdefault(one.identity, one) for one in names}


def api_pages() -> dict[str, str]:
    """The text of each page of the API by its path."""
    names = list(public_names())
    home = homes(names)
    pages = {}
    for module in dict.fromkeys(one.module for one in names):
        own = [one for one in names if one.module == module]
        pages[page_of(module)] = module_page(module, own, home)
    for cls in CLASSES:
        (one,) = (one for one in names if one.full == f"zarrix.{cls}")
        pages[f"api/{cls.lower()}.md"] = directive(one, level=1)
    return pages


def page_of(module: str) -> str:
    return f"api/{module.replace('.', '-')}.md"


def address(one: Name) -> str:
    if one.module == "zarrix" and one.name in CLASSES:
        return f"{one.name.lower()}.md"
    return f"{Path(page_of(one.module)).name}#{one.source or anchor(one)}"


def anchor(one: Name) -> str:
    """The address of a heading that is this name."""
    return one.full.lower().replace(".", "")


def module_page(module: str, names: list[Name], home: dict[str, Name]) -> str:
    """One module: what is documented here, what else it has, and where that is documented."""
    summary = (inspect.getdoc(importlib.import_module(module)) or "").split("\n\n")[0]
    text = [f"# {module}\n\n{plain(summary)}\n"]
    elsewhere = []
    for one in names:
        at = home[one.full]
        if at != one or (module == "zarrix" and one.name in CLASSES):
            elsewhere.append(f"| `{one.name}` | [{at.full}]({address(at)}) |")
        elif one.source is None:
            text.append(f"## {one.full}\n\n{described(one.value)}\n")
        else:
            text.append(directive(one))
    if elsewhere:
        text.append("## Documented elsewhere\n\n| name | page |\n|---|---|\n")
        text.append("\n".join(elsewhere) + "\n")
    return "\n".join(text)


def directive(one: Name, level: int = 2) -> str:
    """What mkdocstrings replaces by the docstring of an object and of its public members."""
    options = {"heading": one.full, "toc_label": one.name, "heading_level": level}
    rows = "".join(f"      {name}: {json.dumps(value)}\n" for name, value in options.items())
    return f"::: {one.source}\n    options:\n{rows}"


def described(value: Any) -> str:
    """What a constant is, or the first paragraph of an object of another package."""
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        first = (inspect.getdoc(value) or "").split("\n\n")[0]
        return f"From `{getattr(value, '__module__', value.__name__)}`. {plain(first)}"
    shown = repr(value)
    return f"`{shown if len(shown) < 200 else type(value).__name__}`"


def plain(text: str) -> str:
    """Docstring text as Markdown: literals in single backquotes, on one line."""
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(text.split()))


LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)")


def copied(page: Path, text: str) -> str:
    """The text of a page of the repository with its links as they are on the site.

    A link to a file that the site does not have becomes its text.
    """

    def relinked(match: re.Match[str]) -> str:
        label, target = match[1], match[2]
        if re.match(r"\w+:|#", target):
            return match[0]
        path, hash, fragment = target.partition("#")
        file = (page.parent / path).resolve()
        if file in (ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"):
            there = file.name
        elif file.is_relative_to(DOCS) and file.suffix == ".md" and file.name not in LEFT_OUT:
            there = file.relative_to(DOCS).as_posix()
        elif file == ROOT / "README.md" or file.name in LEFT_OUT:
            there = "index.md"
        else:
            return label
        depth = len(page.relative_to(DOCS).parts) - 1 if page.is_relative_to(DOCS) else 0
        if label.endswith(".md"):
            label = title(file.read_text(encoding="utf-8"))
        return f"[{label}]({'../' * depth}{there}{hash}{fragment})"

    shown = LIGHT.sub(lambda match: in_both_schemes(match, page.parent), text)
    return LINK.sub(relinked, shown.replace("](docs/images/", "](images/"))


LIGHT = re.compile(r"!\[([^\]\n]*)\]\(([^)\s]+)-light\.png\)")


def in_both_schemes(match: re.Match[str], folder: Path) -> str:
    """A picture of light pages, and the one that dark pages show in its place, if there is one."""
    alt, name = match[1], match[2]
    if not (folder / f"{name}-dark.png").is_file():
        return match[0]
    return "".join(f"![{alt}]({name}-{one}.png#only-{one})" for one in ("light", "dark"))


def sources() -> dict[str, str]:
    """The text of every page of the site by its path."""
    pages = {"index.md": ROOT / "README.md"}
    pages |= {name: ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md")}
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).as_posix()
        if name not in LEFT_OUT:
            pages[name] = page
    texts = {name: copied(page, page.read_text(encoding="utf-8")) for name, page in pages.items()}
    for name in NOT_SEARCHED:
        texts[name] = f"---\nsearch:\n  exclude: true\n---\n\n{texts[name]}"
    return texts | api_pages()


def navigation(pages: dict[str, str]) -> list[dict[str, list[str]]]:
    """The navigation as Zensical takes it; an error if a page is not in it, or twice."""
    tree, used = [], []
    for section, patterns in NAVIGATION:
        found = [page for pattern in patterns for page in matching(pattern, pages)]
        used += found
        if found:
            tree.append({section: found})
    faults = {
        "lacks": set(pages) - set(used),
        "names what does not exist": set(used) - set(pages),
        "has twice": {one for one in used if used.count(one) > 1},
    }
    for fault, names in faults.items():
        if names:
            raise SystemExit(f"NAVIGATION of .ci/website.py {fault}: {sorted(names)}")
    return tree


def matching(pattern: str, pages: dict[str, str]) -> list[str]:
    """The pages of a pattern, in the order of the index docs/README.md."""
    if not pattern.endswith("/*"):
        return [pattern]
    index = re.findall(r"\]\(([\w/-]+\.md)\)", (DOCS / "README.md").read_text(encoding="utf-8"))
    order = [*index, "api/array.md", "api/group.md", *(page_of(home) for home in HOMES)]
    found = [page for page in pages if page.startswith(pattern.removesuffix("*"))]
    return sorted(
        found, key=lambda page: (order.index(page) if page in order else len(order), page)
    )


def build() -> Path:
    """Write the sources and run Zensical; the folder of the site."""
    source, site = BUILD / "source", BUILD / "site"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    pages = sources()
    for name, text in pages.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    shutil.copytree(DOCS / "images", source / "images")
    # Lists of TOML are those of JSON; a table has "=" where an object has ":".
    nav = json.dumps(navigation(pages)).replace('": [', '" = [')
    python = json.dumps(str(PACKAGE.parent))
    file = BUILD / "zensical.toml"
    file.write_text(CONFIGURATION.format(nav=nav, python=python), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(file)]
    ran = subprocess.run(command, cwd=BUILD, check=False, text=True, capture_output=True)
    if ran.returncode != 0 or not (site / "index.html").is_file():
        raise SystemExit(f"zensical failed:\n{ran.stdout}{ran.stderr}")
    listed = "".join(
        f"- {title(text)}: {name.removesuffix('.md')}.html\n" for name, text in pages.items()
    )
    (site / "llms.txt").write_text(f"# zarrix\n\n{listed}", encoding="utf-8")
    search = site / "search.json"
    index = json.loads(search.read_text(encoding="utf-8"))
    index["items"] = [item for item in index["items"] if is_searched(item)]
    index["items"] += asked(index["items"])
    # What it splits text and questions at; a question mark and these words find nothing then.
    separator = index["config"]["separator"].replace("!=", "!?=")
    words = "|".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in NOT_LOOKED_FOR)
    index["config"]["separator"] = rf"(?:{separator}|\b(?:{words})\b|{ENDS})+"
    search.write_text(json.dumps(index), encoding="utf-8")
    return site


def is_searched(item: dict[str, Any]) -> bool:
    """Whether a section is searched: not an attribute of which it has only the type.

    Such titles of one word would come before the pages about it. The section of the class describes
    its attributes, and is found by their names.
    """
    prose = re.sub(r"<pre>.*?</pre>", "", item["text"], flags=re.DOTALL).strip()
    return bool(prose) or "-attribute</code>" not in item["title"]


def asked(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A result for the words of `ASKED` of each page; an error if the page is not searched."""
    heads = {item["location"]: item for item in items if item["level"] == 1}
    lacking = [page for page in ASKED if f"{page}.html" not in heads]
    if lacking:
        raise SystemExit(f"ASKED of .ci/website.py names what is not searched: {lacking}")
    return [
        {**heads[f"{page}.html"], "level": 2, "title": words, "text": ""}
        for page, words in ASKED.items()
    ]


def title(text: str) -> str:
    """The title of a page; of a page of one class, the name of the class."""
    found = re.search(r'^# (.+)$|^ *heading: "(.+)"$', text, re.MULTILINE)
    return (found[1] or found[2]) if found else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--serve", action="store_true", help="serve the site on 127.0.0.1:8000")
    serve = parser.parse_args().serve
    warnings.simplefilter("ignore")
    site = build()
    print(f"{site}: {sum(1 for _ in site.rglob('*.html'))} pages")
    if serve:
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
        print("http://127.0.0.1:8000")
        http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler).serve_forever()


if __name__ == "__main__":
    main()
