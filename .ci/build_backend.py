"""maturin, with the paths of this machine left out of what is built.

Rust and C compilers write the paths of their sources into messages, and the wheel would show the
builder's home. cargo's own way (``trim-paths``) is not stable, and its configuration takes no
variables. What is set for these compilers already stays: RUSTFLAGS replaces ours.
"""

import os
from pathlib import Path

from maturin import *  # noqa: F403

_CARGO = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
_ROOT = Path(__file__).resolve().parents[1]
_SHORT = {_CARGO / "registry" / "src": "crates", _CARGO: "cargo", _ROOT: "zarrix"}


def _set(variable: str, option: str, separator: str) -> None:
    # The last one that fits is taken. A path with a space cannot be in such a list.
    pairs = [(str(path), short) for path, short in reversed(_SHORT.items())]
    flags = [f"{option}{path}={short}" for path, short in pairs if " " not in path]
    os.environ[variable] = separator.join(filter(None, [os.environ.get(variable), *flags]))


_set("CARGO_BUILD_RUSTFLAGS", "--remap-path-prefix=", " ")
_set("CFLAGS", "-ffile-prefix-map=", " ")
