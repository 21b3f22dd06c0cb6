"""The texts of everything that is linked into the extension lie in the wheel."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def third_party() -> str:
    return (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")


def test_the_wheel_has_every_licence_file() -> None:
    assert PROJECT["license-files"] == ["LICENSE", "THIRD-PARTY-LICENSES.txt"]
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])


def test_every_crate_of_the_lock_file_is_in_the_licence_file() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    locked = {f"{p['name']} {p['version']}" for p in lock["package"] if "source" in p}
    text = third_party()
    linked = set(re.findall(r"^(\S+ \S+): .* \[[\d, ]+\]$", text, re.MULTILINE))
    others = text.partition("or on other platforms:\n")[2].partition(".\n\n[1]\n")[0]
    assert linked | set(" ".join(others.split()).split(", ")) == locked
    assert len(linked) > 100


@pytest.mark.parametrize(
    "holder",
    [
        "Francesc Alted",  # C-Blosc
        "Kiyoshi Masui",  # Bitshuffle
        "Ariya Hidayat",  # FastLZ
        "Meta Platforms, Inc.",  # Zstandard
        "Yann Collet",  # LZ4
        "Eric Biggers",  # libdeflate
        "contains liblzma of XZ Utils",
        "Jean-loup Gailly and Mark Adler",  # zlib
        "the fiat-crypto authors",  # in ring
        "UNICODE LICENSE V3",
        "Apache License",
    ],
)
def test_the_licence_file_has_the_text_of_what_is_not_rust(holder: str) -> None:
    assert holder.lower() in third_party().lower()


def test_the_licence_file_is_what_its_command_writes() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "licences.py"), "--check"],
        capture_output=True,
        text=True,
    )
    if "cargo metadata failed" in done.stderr or "cargo tree failed" in done.stderr:
        pytest.skip("cargo cannot get the packages of the crates here")
    assert (done.returncode, done.stderr) == (0, "")
