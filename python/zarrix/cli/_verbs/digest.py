"""``zarrix digest``: the SHA-256 of every stored value, in the form of sha256sum."""

from __future__ import annotations

import argparse
from pathlib import Path

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix digest data.zarr/depth",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "-c", "--check", type=Path, metavar="FILE", help="compare with the output for another time"
    )
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the digests, or the keys whose digests differ; 3 if any does."""
    # Import time: --help does not need it.
    import zarrix as zarr
    from zarrix.cli._selected import store_at

    options = options_of(arguments, arguments.path)
    found = zarr.digests(
        store_at(arguments.path, options, arguments.sel) if arguments.sel else arguments.path,
        storage_options=None if arguments.sel else options,
        progress=ui.progress,
    )
    if arguments.check is None:
        if ui.json:
            ui.document({"digests": found})
        else:
            for key, digest in sorted(found.items()):
                ui.say(_line(digest, key))
        return 0
    before = _read(arguments.check)
    changed = {
        key: "missing" if key not in found else "new" if key not in before else "changed"
        for key in sorted({*found, *before})
        if found.get(key) != before.get(key)
    }
    if ui.json:
        ui.document({"changed": changed})
    else:
        for key, how in changed.items():
            ui.say(_line(f"{how}:", key))
    return 3 if changed else 0


def _line(first: str, key: str) -> str:
    # Import time: --help does not need it.
    from zarrix._display.printable import printable

    return f"{first}  {printable(key)}"


def _read(file: Path) -> dict[str, str]:
    """Digests in the form of sha256sum, or in JSON as 'zarrix verify' writes them."""
    text = file.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        # Import time: the other form is the common one.
        from zarrix.cli._digests import read_digests

        return read_digests(file)
    # Import time: --help does not need it.
    from zarrix.cli._failures import UsageError

    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        digest, gap, key = line.partition("  ")
        if not gap or len(digest) != 64:
            raise UsageError(f"{file}, line {number}: not a digest, two blanks and a key")
        found[key] = digest
    return found
