"""``zarrix cat``: the values of an array, as text or as bytes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from zarrix.cli._common import PATH, add_common, add_selecting, options_of, whole
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix cat data.zarr/rgb -s 0,0,0:2,0:4",
    "zarrix cat x.npy --format csv",
    "zarrix cat data.zarr/depth -s t=0,y=0:2 --format json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "-s",
        "--select",
        default="",
        metavar="SELECTION",
        help="indices and slices, 0,:,200:456, or by dimension, t=0,y=200:456",
    )
    add_selecting(parser)
    parser.add_argument(
        "--format",
        choices=("text", "csv", "json", "npy", "raw"),
        default="text",
        help="npy and raw write bytes; csv writes every digit of an array of 1 or 2 axes",
    )
    parser.add_argument(
        "--limit",
        type=whole(0, 2**62),
        default=1000,
        metavar="N",
        help="text of more elements is shortened (default 1000; 0 for never)",
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the selected values."""
    # Import time: --help does not need them.
    import numpy as np

    # Import time, too.
    from zarrix.cli._failures import UsageError
    from zarrix.cli._selected import array_at, key_in

    node = array_at(arguments.path, options_of(arguments, arguments.path))
    key = key_in(node, arguments.select, arguments.sel)
    value = np.asarray(node.oindex[key] if arguments.sel else node[key or ...])
    if arguments.format in ("npy", "raw"):
        _write_bytes(np, value, arguments.format)
    elif ui.json or arguments.format == "json":
        told = {"shape": value.shape, "dtype": str(value.dtype), "values": value.tolist()}
        ui.say(json.dumps({"version": 1, **told} if ui.json else told["values"], default=str))
    elif arguments.format == "csv":
        if value.ndim > 2:
            raise UsageError(f"csv has 1 or 2 axes, and the selection has {value.ndim}")
        rows = value.reshape(1, -1) if value.ndim < 2 else value
        for row in rows.tolist():
            ui.say(",".join(map(str, row)))
    else:
        limit = arguments.limit or sys.maxsize
        ui.say(np.array2string(value, threshold=limit, max_line_width=_columns()))
    return 0


def _columns() -> int:
    try:
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 100


def _write_bytes(np: Any, value: Any, format: str) -> None:
    if format == "npy":
        np.save(sys.stdout.buffer, value, allow_pickle=False)
    else:
        sys.stdout.buffer.write(np.ascontiguousarray(value).tobytes())
    sys.stdout.buffer.flush()
