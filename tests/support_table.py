"""The table of what is read and written: format x data type x codec, made from the code itself.

    python tests/support_table.py            print docs/support.md
    python tests/support_table.py --write    write it

A cell that is a yes is found by making such an array and looking at the chain that the engine is
given: native, or called back through numcodecs. A no is never found: it is in `FORBIDDEN`, with the
reason, and everything else has to work, or this raises. `tests/docs/test_support.py` writes and
reads an array for every cell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix._array.access import metadata_of
from zarrix._dtypes.v3 import ML_TYPES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "support.md"
SHAPE, CHUNKS, SHARDS = (6, 7), (2, 4), (4, 8)
ROUNDING = (
    *("bitround", "quantize", "fixedscaleoffset", "astype", "delta"),
    *("cast_value", "scale_offset", "zfpy"),
)
"""Codecs that round: their cells are exercised with values that survive it."""

NUMBERS = {
    "bool": "?",
    **{f"{kind}{8 * n}": f"{kind[0]}{n}" for kind in ("int", "uint") for n in (1, 2, 4, 8)},
    **{f"float{8 * n}": f"f{n}" for n in (2, 4, 8)},
    **{f"complex{8 * n}": f"c{n}" for n in (8, 16)},
}
SIZED: dict[str, Any] = {
    **NUMBERS,
    "datetime64": "M8[ns]",
    "timedelta64": "m8[ms]",
    "bytes of fixed length": "S5",
    "text of fixed length": "U3",
    "raw bytes": "V7",
    "structured": [("a", "<i4"), ("b", "<f8"), ("c", "S3")],
    "structured, with a sub-array": [("a", "<i4"), ("b", "<f4", (2, 2))],
}
UNSIZED = {"text": str, "bytes": bytes, "ragged arrays": "array:f4", "objects": object}
ROWS: tuple[str, ...] = (*SIZED, *UNSIZED, *ML_TYPES)


@dataclass(frozen=True)
class Column:
    """A codec: its name, and how it is passed; ``numcodecs`` configurations begin with an id."""

    name: str
    where: str = "compressors"
    configuration: tuple[tuple[str, Any], ...] = ()


def _named(name: str, where: str = "compressors", **configuration: Any) -> Column:
    return Column(name, where, tuple(configuration.items()))


def _columns_3() -> tuple[Column, ...]:
    """The codecs of the specification, and those of the registry except numcodecs."""
    n5 = [_object("transpose", order=[1, 0]), _object("bytes", endian="big"), _object("gzip")]
    return (
        Column("none"),
        Column("blosc"),
        Column("zstd"),
        Column("gzip"),
        Column("crc32c"),
        _named("transpose", "filters", order=[1, 0]),
        Column("sharding_indexed"),
        Column("vlen-utf8", "serializer"),
        Column("vlen-bytes", "serializer"),
        _named("reshape", "filters", shape=[-1]),
        _named("bitround", "filters", keepbits=5),
        _named("cast_value", "filters", data_type="float64"),
        _named("scale_offset", "filters", offset=0),
        Column("packbits", "serializer"),
        Column("pcodec", "serializer"),
        _named("zfp", "serializer", mode="reversible"),
        _named("n5_default", "serializer", codecs=n5),
    )


def _columns_of_numcodecs() -> tuple[Column, ...]:
    return (
        Column("blosc"),
        Column("zstd"),
        Column("gzip"),
        Column("zlib"),
        Column("lz4"),
        Column("bz2"),
        Column("lzma"),
        Column("shuffle", "filters"),
        Column("crc32", "filters"),
        Column("adler32", "filters"),
        Column("fletcher32", "filters"),
        Column("jenkins_lookup3", "filters"),
        Column("base64", "filters"),
        Column("delta", "filters"),
        Column("fixedscaleoffset", "filters", (("offset", 0), ("scale", 1))),
        Column("astype", "filters"),
        Column("bitround", "filters", (("keepbits", 5),)),
        Column("quantize", "filters", (("digits", 3),)),
        Column("packbits", "filters"),
        Column("categorize", "filters"),
        Column("pcodec"),
        Column("zfpy"),
    )


def _object(name: str, **configuration: Any) -> dict[str, Any]:
    """A codec as v3 documents have it."""
    return {"name": name, "configuration": configuration}


def _in_format_3(column: Column) -> Column:
    where = "serializer" if column.name in ("pcodec", "zfpy") else column.where
    return replace(column, name=f"numcodecs.{column.name}", where=where)


COLUMNS = {
    2: (Column("none"), *_columns_of_numcodecs()),
    3: (*_columns_3(), *map(_in_format_3, _columns_of_numcodecs())),
}

REASONS = {
    "a": "v2 has no such data type: its data types are those of NumPy.",
    "b": "v3 has no data type for it, registered extensions included.",
    "c": "The codec is defined on the numbers of NumPy.",
    "d": "The codec is defined on floating-point numbers of NumPy.",
    "e": "The codec is defined on booleans.",
    "f": "The codec is defined on text.",
    "g": "Variable-length elements are encoded to bytes before this codec, which is defined on "
    "elements.",
    "h": "The codec's configuration names data types by NumPy's type strings, and this data type "
    "has none.",
    "i": "The codec is for this one data type.",
    "j": "The codec is defined on numbers; times are treated as integers.",
    "k": "The codec is defined on booleans and numbers.",
    "l": "The codec computes with real numbers; its specification has no others.",
    "m": "zfp has int32, int64, float32 and float64; conversion from other types is optional, and "
    "zarrix does not implement it.",
    "n": "N5 has integers, float32 and float64.",
    "o": "pco has integers and floating-point numbers.",
}


def forbidden(zarr_format: int, row: str, column: str) -> str | None:
    """The key of `REASONS` where the specification forbids a cell; None where it is a yes."""
    if zarr_format == 2 and row in ML_TYPES:
        return "a"
    if zarr_format == 3 and row in ("structured, with a sub-array", "ragged arrays", "objects"):
        return "b"
    if zarr_format == 3 and column in _REGISTERED:
        reason, fits = _REGISTERED[column]
        if fits(row):
            return None
        return "g" if row in UNSIZED and reason != "i" else reason
    column = column.removeprefix("numcodecs.")
    defined_on = {
        "c": (("delta", "fixedscaleoffset"), _is_number),
        "d": (("bitround", "quantize"), lambda row: row in NUMBERS and row.startswith("float")),
        "e": (("packbits",), lambda row: row == "bool"),
        "f": (("categorize",), lambda row: row in _TEXT[zarr_format]),
        "m": (("zfpy",), lambda row: row in _OF_ZFP),
        # After variable-length elements, v2 passes their bytes, which are numbers.
        "o": (("pcodec",), lambda row: _is_real(row) or (zarr_format == 2 and row in UNSIZED)),
    }
    if column == "astype" and (row in ML_TYPES or row.startswith("structured")):
        return "h"
    if column == "astype" and row in UNSIZED:
        return "g"
    for reason, (names, fits) in defined_on.items():
        if column in names and not fits(row):
            return "g" if row in UNSIZED and reason != "f" else reason
    return None


_TEXT = {2: ("text of fixed length", "text", "objects"), 3: ("text of fixed length",)}


_OF_ZFP = ("int32", "int64", "float32", "float64")


def _is_number(row: str) -> bool:
    return row in NUMBERS and row != "bool"


def _is_real(row: str) -> bool:
    return _is_number(row) and not row.startswith("complex")


_REGISTERED: dict[str, tuple[str, Callable[[str], bool]]] = {
    "vlen-utf8": ("i", lambda row: row == "text"),
    "vlen-bytes": ("i", lambda row: row == "bytes"),
    "bitround": ("j", lambda r: _is_number(r) or r in ("datetime64", "timedelta64", "bfloat16")),
    "packbits": ("k", lambda row: row in NUMBERS or row in ML_TYPES),
    "cast_value": ("l", _is_real),
    "scale_offset": ("l", _is_real),
    "pcodec": ("o", _is_real),
    "zfp": ("m", lambda row: row in _OF_ZFP),
    "n5_default": ("n", lambda row: _is_real(row) and row != "float16"),
}
"""What the registered codecs that are not for all data types are for, and the reason of a no."""


def has_ml_types() -> bool:
    """Whether ml_dtypes, which the last rows need, is installed."""
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        return False
    return True


def dtype_of(zarr_format: int, row: str) -> Any:
    """What is passed as ``dtype`` for a row."""
    if row in UNSIZED:
        return UNSIZED[row]
    if row in ML_TYPES:
        return row
    return np.dtype(SIZED[row])


def _codec(zarr_format: int, row: str, column: Column, dtype: Any) -> Any:
    """A codec as documents of the format have it."""
    name = column.name.removeprefix("numcodecs.")
    configuration = dict(column.configuration)
    if name == column.name and zarr_format == 3:
        return _object(name, **configuration)
    code = dtype.str if isinstance(dtype, np.dtype) else "<f4"
    if name in ("delta", "fixedscaleoffset", "quantize"):
        configuration["dtype"] = code
    elif name == "astype":
        configuration.update(encode_dtype=code, decode_dtype=code)
    elif name == "shuffle":
        configuration["elementsize"] = getattr(dtype, "itemsize", 1)
    elif name == "categorize":
        kind = "<U3" if row == "text of fixed length" else "|O"
        configuration.update(labels=["a", "b"], dtype=kind, astype="u1")
    elif name == "zfpy":
        configuration.update(mode=4, tolerance=-1)
    if zarr_format == 3:
        return _object(column.name, **configuration)
    return {"id": name, **configuration}


def create(zarr_format: int, row: str, column: Column, store: Any) -> Any:
    """The array of a cell, with nothing in it."""
    dtype = dtype_of(zarr_format, row)
    how: dict[str, Any] = {"filters": None, "compressors": None}
    if column.name == "sharding_indexed":
        how = {"shards": SHARDS}
    elif column.name != "none":
        codec = _codec(zarr_format, row, column, dtype)
        how[column.where] = codec if column.where == "serializer" else [codec]
    if zarr_format == 2 and row in ("ragged arrays", "objects"):
        compressor = how["compressors"][0] if how["compressors"] else None
        how = {"filters": how["filters"], "compressor": compressor}
        own = row == "objects" and column.name != "categorize"
        extra = {"object_codec": {"id": "json2"}} if own else {}
        return zarr.create(
            shape=SHAPE, chunks=CHUNKS, dtype=dtype, store=store, fill_value=None, **how, **extra
        )
    return zarr.create_array(
        store, shape=SHAPE, chunks=CHUNKS, dtype=dtype, zarr_format=zarr_format, **how
    )


def values_of(row: str, column: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """What is written to an array of a cell."""
    count = SHAPE[0] * SHAPE[1]
    column = column.removeprefix("numcodecs.")
    if row in UNSIZED and column != "categorize":
        elements: dict[str, list[Any]] = {
            "text": ["", "a", "漢字", "words " * 5],
            "bytes": [b"", b"\0\xff", b"abc"],
            "ragged arrays": [np.array([1.5, -2], "f4"), np.array([], "f4"), np.ones(5, "f4")],
            "objects": [None, 1, "two", [3, [4]], {"five": 5.5}],
        }
        values = np.empty(count, object)
        values[:] = [elements[row][i % len(elements[row])] for i in range(count)]
        return values.reshape(SHAPE)
    steps = np.arange(count).reshape(SHAPE)
    if column == "categorize":
        return np.array(["a", "b", ""])[steps % 3].astype(dtype)
    if row in ML_TYPES or column in ROUNDING or row == "bool":
        return (steps % 2).astype(dtype)
    if dtype.kind == "U":
        return np.array(["", "a", "bé", "漢字"])[steps % 4].astype(dtype)
    data = np.random.RandomState(count).bytes(count * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(SHAPE)


def cell(zarr_format: int, row: str, column: Column) -> str:
    """What the table says: "native", "numcodecs", "python", or the key of a reason."""
    reason = forbidden(zarr_format, row, column.name)
    if reason is not None:
        return reason
    made = create(zarr_format, row, column, {})
    layout, slots, _ = metadata_of(made).layout()
    if "zarrix.foreign" in layout:
        return "numcodecs"
    return "python" if any(getattr(one, "kind", "") == "python" for one in slots) else "native"


def cells() -> Iterator[tuple[int, str, Column]]:
    """All cells: format, data type, codec."""
    for zarr_format, columns in COLUMNS.items():
        for row in ROWS:
            for column in columns:
                yield zarr_format, row, column


INTRODUCTION = """\
# What is read and written

One table for each version of the format, with a row for each data type and a column for each
codec; in v3, the codecs of numcodecs have a table of their own.

- **yes**: arrays are created, read and written by native code.
- **nc**: the same, but chunks go through numcodecs (zfp: through zfpy).
- **py**: all codecs are native, but the elements are created in Python.
- A letter: the specification of the format or of the codec excludes the combination, for the reason
  below, and creating such an array is an error. Existing arrays of other programs with such a codec
  can be opened, and read as they do there.

Each cell is for one codec; a chain of codecs applies one after the other.

`python tests/support_table.py` prints this page. `tests/docs/test_support.py` writes and reads an
array for every cell, and fails if this page differs from the code. The last rows need ml_dtypes,
and the columns of zfp need zfpy (`pip install "zarrix[zfp]"`).
"""


def lines(ml_types: bool = True) -> Iterator[str]:
    """The page; without the data types of ml_dtypes where ``ml_types`` is false."""
    yield from INTRODUCTION.splitlines()
    words = {"native": "yes", "numcodecs": "nc", "python": "py"}
    for zarr_format, columns in COLUMNS.items():
        own = [column for column in columns if not column.name.startswith("numcodecs.")]
        others = [column for column in columns if column.name.startswith("numcodecs.")]
        for some, title in ((own, f"Zarr v{zarr_format}"), (others, "Zarr v3, numcodecs")):
            if not some:
                continue
            yield from ("", f"## {title}", "")
            yield "| data type | " + " | ".join(column.name for column in some) + " |"
            yield "|---|" + ":-:|" * len(some)
            for row in ROWS:
                if row in ML_TYPES and not ml_types:
                    continue
                found = [cell(zarr_format, row, column) for column in some]
                yield f"| {row} | " + " | ".join(words.get(one, one) for one in found) + " |"
    yield from ("", "## Why not", "")
    for key, reason in REASONS.items():
        yield f"- **{key}**: {reason}"


def main() -> None:
    text = "\n".join(lines()) + "\n"
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
