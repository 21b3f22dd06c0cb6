"""Writes THIRD-PARTY-LICENSES.txt: the licence of everything that is linked into the extension.

    python .ci/licences.py            # write the file
    python .ci/licences.py --check    # fail where the file is not what would be written

cargo says which crates are linked; their packages have the texts. Where a crate leaves the choice,
MIT is taken. C libraries inside a crate have texts of their own, which the table below names: a
crate that compiles C and is not in the table is an error, and so is a crate without a text. Equal
texts are written once. cargo-about would need a build of minutes and does not see the C libraries.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "THIRD-PARTY-LICENSES.txt"
TEXTS = ROOT / ".ci" / "licences"
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")

# The C, or code of other origin, in a crate: what it is, and its texts, in the crate or in TEXTS.
INSIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "blosc-src": (
        "C-Blosc, with Bitshuffle, FastLZ and a file of zlib-ng",
        ("blosc.txt", "bitshuffle.txt", "fastlz.txt", "zlib-ng.txt"),
    ),
    "libdeflate-sys": ("libdeflate", ("libdeflate/COPYING",)),
    "liblzma-sys": ("liblzma of XZ Utils", ("xz/COPYING.0BSD",)),
    "libwebp-sys": ("libwebp", ("vendor/COPYING", "vendor/PATENTS", "libwebp-sys.txt")),
    "libz-sys": ("zlib", ("src/zlib/LICENSE",)),
    "lz4-sys": ("LZ4", ("liblz4/lib/LICENSE",)),
    "mozjpeg-sys": ("MozJPEG, libjpeg-turbo and the JPEG library of IJG", ()),
    "regex-syntax": ("Unicode tables", ("src/unicode_tables/LICENSE-UNICODE",)),
    "ring": (
        "BoringSSL, fiat-crypto, once_cell",
        ("LICENSE-BoringSSL", "third_party/fiat/LICENSE", "src/polyfill/once_cell/LICENSE-MIT"),
    ),
    "tracing-core": ("spin", ("src/spin/LICENSE",)),
    "zstd-sys": ("Zstandard", ("zstd/LICENSE",)),
}
# Crates that compile C where a feature or a platform wants it that is not ours.
NO_C = {"pyo3", "pyo3-ffi"}
NAMED = re.compile(r"(?i)(un)?licen[cs]e|copying|copyright|notice")

HEAD = """\
Licences of the software that is linked into zarrix's extension module
=======================================================================

zarrix itself is under the MIT licence (LICENSE). Its extension module contains the Rust standard
library (MIT or Apache-2.0, the Rust project contributors) and the crates and C libraries below.
This file is written by `python .ci/licences.py`; do not edit it.
"""


def cargo(*arguments: str) -> str:
    done = subprocess.run(
        ["cargo", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"cargo {arguments[0]} failed:\n{done.stderr}")
    return done.stdout


def linked() -> list[dict[str, Any]]:
    """The packages of all crates that the extension is linked with, by name and version."""
    names: set[str] = set()
    for target in TARGETS:
        tree = cargo(
            *("tree", "--package", "zarrix-py", "--edges", "normal,no-proc-macro", "--locked"),
            *("--target", target, "--prefix", "none", "--format", "{p}"),
        )
        names |= {" ".join(line.split()[:2]) for line in tree.splitlines()}
    packages = json.loads(cargo("metadata", "--format-version", "1", "--locked"))["packages"]
    found = [p for p in packages if p["source"] and f"{p['name']} v{p['version']}" in names]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def tidy(text: str) -> str:
    lines = [line.rstrip().expandtabs() for line in text.strip("\ufeff\r\n \t").splitlines()]
    return "\n".join(lines)


def is_apache(text: str) -> bool:
    return text.lstrip().startswith("Apache License") and "END OF TERMS AND CONDITIONS" in text


def own_texts(package: dict[str, Any]) -> list[str]:
    """The texts in the crate's folder; of a choice that allows it, those of MIT alone."""
    folder = Path(package["manifest_path"]).parent
    files = [f for f in sorted(folder.iterdir()) if f.is_file() and NAMED.match(f.name)]
    files += sorted((folder / "LICENSES").glob("*.txt"))
    texts = [tidy(file.read_text(encoding="utf-8", errors="replace")) for file in files]
    choices = re.split(r" OR | ?/ ?", package["license"])
    if "MIT" in choices and len(choices) > 1:
        chosen = [t for t in texts if "Permission is hereby granted, free of charge" in t]
        notices = [t for f, t in zip(files, texts, strict=True) if "NOTICE" in f.name.upper()]
        texts = [*chosen, *notices] if chosen else texts
    return texts


def inside_texts(package: dict[str, Any]) -> list[str]:
    folder = Path(package["manifest_path"]).parent
    _, names = INSIDE.get(package["name"], ("", ()))
    places = [TEXTS / name if (TEXTS / name).exists() else folder / name for name in names]
    return [tidy(place.read_text(encoding="utf-8")) for place in places]


def texts_of(packages: list[dict[str, Any]]) -> dict[str, list[str]]:
    """By crate, its texts; Apache-2.0 is filled in where a crate names it and has no file."""
    own = {f"{p['name']} {p['version']}": own_texts(p) for p in packages}
    apache = next(text for texts in own.values() for text in texts if is_apache(text))
    missing = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        compiles_c = package["links"] and package["name"] not in NO_C
        if compiles_c and package["name"] not in INSIDE:
            sys.exit(f"{name} is linked with C: say in INSIDE of {__file__} what its texts are")
        if not own[name] and package["license"] == "Apache-2.0":
            own[name] = [apache]
        own[name] += inside_texts(package)
        if not own[name]:
            missing.append(name)
    if missing:
        sys.exit(f"no licence text was found for {', '.join(missing)}")
    return own


def written() -> str:
    packages = linked()
    texts = texts_of(packages)
    numbers: dict[str, int] = {}
    rows = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        used = sorted({numbers.setdefault(text, len(numbers) + 1) for text in texts[name]})
        inside = f"; contains {INSIDE[package['name']][0]}" if package["name"] in INSIDE else ""
        rows.append(f"{name}: {package['license']}{inside} [{', '.join(map(str, used))}]")
    locked = re.findall(
        r'name = "(.*)"\nversion = "(.*)"\nsource', (ROOT / "Cargo.lock").read_text("utf-8")
    )
    others = [" ".join(one) for one in locked if " ".join(one) not in texts]
    parts = [HEAD, _headed("Crates"), *rows, "", _headed("In Cargo.lock and not linked")]
    parts += [
        *("Used to build or to test, or on other platforms:", ""),
        *textwrap.wrap(", ".join(others) + ".", 100, break_on_hyphens=False),
    ]
    for text, number in numbers.items():
        parts += ["", _headed(f"[{number}]"), text]
    return "\n".join(parts) + "\n"


def _headed(title: str) -> str:
    return f"{title}\n{'-' * max(len(title), 20)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write THIRD-PARTY-LICENSES.txt, or check it.")
    parser.add_argument("--check", action="store_true", help="fail where the file is out of date")
    text = written()
    if not parser.parse_args().check:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE.name} is not what Cargo.lock asks for: run python .ci/licences.py")


if __name__ == "__main__":
    main()
