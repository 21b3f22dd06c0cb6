"""Writes the arrays of this folder: variable-length elements, by two releases of zarr-python.

    python make_objects.py        with zarr-python 2.18, and again with 3.4

`CASES` says how each array is made and what is in it, for this script and for the tests. A file
holds, for each of the writer's cases, the keys of its store with their values in base64.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

TEXT = [
    ["", "a", "häß", "long " * 9, "\0"],
    ["日本", "b", "c" * 15, "d" * 16, "\U0001f600"],
    ["x", "y", "z", "0", "w"],
]
OBJECTS = [
    [None, 1, "two", [3, [4]], {"five": 5.5}],
    [True, [], {}, "", -1],
    [[1, 2], [3, 4], [5, 6], "x", 0],
]
BINARY = [b"", b"\0\xff", b"abc"]

# Shape, chunks, region that is written, values, and the arguments of the two creating functions.
CASES: dict[str, dict[str, Any]] = {
    "v2 text": {"values": TEXT, "chunks": [2, 2], "v2": {"dtype": "str"}},
    "v2 text bare": {"values": TEXT, "chunks": [2, 3], "v2": {"dtype": "str", "compressor": None}},
    "v2 text F": {
        "values": TEXT,
        "chunks": [2, 3],
        "v2": {"dtype": "str", "order": "F", "compressor": None, "fill_value": "fill"},
    },
    "v2 text scalar": {"values": "one", "chunks": [], "v2": {"dtype": "str"}},
    "v2 bytes": {"values": BINARY, "chunks": [2], "v2": {"dtype": "bytes", "compressor": None}},
    "v2 ragged": {
        "values": [[1.5, -2.0], [], [0.25]],
        "chunks": [2],
        "v2": {"dtype": "array:f4", "compressor": None, "fill_value": None},
    },
    "v2 json": {"values": OBJECTS, "chunks": [2, 3], "v2": {"object_codec": {"id": "json2"}}},
    "v2 json bare": {
        "values": OBJECTS,
        "chunks": [3, 5],
        "v2": {"object_codec": {"id": "json2"}, "compressor": None, "fill_value": {"a": [1]}},
    },
    "v2 labels": {
        "values": ["on", "off", "on"],
        "chunks": [2],
        "v2": {
            "object_codec": {"id": "categorize", "labels": ["off", "on"], "dtype": "|O"},
            "compressor": None,
        },
    },
    "v2 pickle": {"values": OBJECTS, "chunks": [2, 3], "v2": {"object_codec": {"id": "pickle"}}},
    "v2 text of 3": {"values": TEXT, "chunks": [2, 2], "v3": {"dtype": "string", "zarr_format": 2}},
    "v3 text": {"values": TEXT, "chunks": [2, 2], "v3": {"dtype": "string"}},
    "v3 text filled": {
        "values": TEXT,
        "chunks": [2, 3],
        "v3": {"dtype": "string", "fill_value": "fill", "compressors": None},
    },
    "v3 text sharded": {
        "values": TEXT,
        "chunks": [1, 2],
        "v3": {"dtype": "string", "shards": [2, 4]},
    },
    "v3 bytes": {"values": BINARY, "chunks": [2], "v3": {"dtype": "variable_length_bytes"}},
    "v3 bytes filled": {
        "values": BINARY,
        "chunks": [2],
        "v3": {"dtype": "variable_length_bytes", "fill_value": b"\x01", "compressors": None},
    },
}


def region(case: dict[str, Any]) -> Any:
    """What of an array is written: all but its last column, or its last element."""
    chunks = case["chunks"]
    return ... if not chunks else (slice(None),) * (len(chunks) - 1) + (slice(0, -1),)


def elements(case: dict[str, Any]) -> Any:
    """The values of a case as an array of objects."""
    import numpy as np

    values, axes = case["values"], len(case["chunks"])
    shape = (len(values), len(values[0]))[:axes] if axes else ()
    array = np.empty(shape, object)
    for index in np.ndindex(shape):
        element = values
        for position in index:
            element = element[position]
        array[index] = element
    if "array" in str(case.get("v2", {}).get("dtype")):
        for index in np.ndindex(shape):
            array[index] = np.array(array[index], "f4")
    return array


def write(case: dict[str, Any]) -> dict[str, bytes]:
    """The files of one case, by the zarr-python that is installed; only `region` is written."""
    import zarr

    array = elements(case)
    files: dict[str, Any] = {}
    if zarr.__version__.startswith("2."):
        import numcodecs

        arguments = {"dtype": object, **case["v2"]}
        if "object_codec" in arguments:
            arguments["object_codec"] = numcodecs.get_codec(dict(arguments["object_codec"]))
        z = zarr.create(shape=array.shape, chunks=case["chunks"] or True, store=files, **arguments)
    else:
        store = zarr.storage.MemoryStore(files)
        z = zarr.create_array(
            store=store, shape=array.shape, chunks=tuple(case["chunks"]), **case["v3"]
        )
    z[region(case)] = array[region(case)] if array.shape else array[()]
    return {
        key: value if isinstance(value, bytes) else value.to_bytes()
        for key, value in files.items()
        if key != ".zattrs"
    }


def main() -> None:
    """Write the file of the zarr-python that is installed."""
    import zarr

    arguments = "v2" if zarr.__version__.startswith("2.") else "v3"
    written = {
        name: {
            key: base64.standard_b64encode(value).decode("ascii")
            for key, value in sorted(write(case).items())
        }
        for name, case in CASES.items()
        if arguments in case
    }
    target = Path(__file__).with_name(f"zarr-python-{zarr.__version__}.json")
    target.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
