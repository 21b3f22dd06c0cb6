"""Documents, indexes and chunks that lie: sizes, types, depths, names that make no sense.

Each case is a document made from a good one, and stored bytes; it is opened and read in a child.
What may come of it is a clean error, or values if the changed part of the document does not matter;
never a crash, a hang, an exception that is not ours, or more memory than twice the document (64 MiB
of it at most) and the declared chunk.
"""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.reliability.children import Memory, call
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

# A Python without a GIL frees objects later, and keeps what it has freed.
_SLACK = (32 if sysconfig.get_config_var("Py_GIL_DISABLED") else 16) << 20
_LIMIT_S = 120
_LENGTH = 64
_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_CRC = {"name": "crc32c"}


@dataclass(frozen=True)
class _Case:
    """A lie: what it is called, the text of its document, the bytes of its first chunk."""

    name: str
    text: str | bytes
    chunk: bytes = bytes(4 * _LENGTH)
    length: int = 0
    """Length of the document's file, with holes after the text; 0 if there are none."""


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """Every lie, in both formats."""
    figures = []
    for zarr_format, cases in ((3, list(_lies_v3())), (2, list(_lies_v2()))):
        ended = {case.name: _told(folder, zarr_format, case) for case in cases}
        what = f"{len(cases)} lies in format {zarr_format}: "
        count = list(ended.values()).count
        figures += [
            Figure(f"{what}clean errors", count("clean")),
            Figure(f"{what}read, and right to be", count("read")),
            Figure(f"{what}crashes and hangs", count("ended"), "= 0"),
            Figure(f"{what}exceptions that are not ours", count("foreign"), "= 0"),
            Figure(f"{what}errors that do not name where", count("nameless"), "= 0"),
            Figure(
                f"{what}more memory than twice document and chunk and {_SLACK >> 20} MiB",
                count("memory"),
                "= 0",
            ),
        ]
    return figures


def _told(folder: Path, zarr_format: int, case: _Case) -> str:
    """What comes of opening and reading it."""
    import sys

    import zarrix as zarr

    place = folder / f"{zarr_format}-{case.name.replace(' ', '-').replace('/', '-')}"
    (place / "c").mkdir(parents=True)
    text = case.text if isinstance(case.text, bytes) else case.text.encode()
    document = place / ("zarr.json" if zarr_format == 3 else ".zarray")
    document.write_bytes(text)
    if case.length:
        os.truncate(document, case.length)
    (place / ("c/0" if zarr_format == 3 else "0")).write_bytes(case.chunk)

    def work() -> str:
        memory = Memory()
        try:
            array = zarr.open_array(place, mode="r")
            array[(slice(3),) * array.ndim]
            array[(slice(_LENGTH),) * array.ndim]
            ended = "read"
        except zarr.errors.ZarrixError as error:
            told = str(error)
            named = str(place) in told or '"c/0"' in told or '"0"' in told
            ended = "clean" if named else "nameless"
            if not named:
                print(f"{case.name}: {error!r}"[:500], file=sys.stderr)
        except BaseException as error:
            print(f"{case.name}: {error!r}"[:500], file=sys.stderr)
            ended = "foreign"
        allowed = 2 * 4 * _LENGTH + 2 * min(document.stat().st_size, 64 << 20) + _SLACK
        return "memory" if memory.grown() > allowed else ended

    outcome = call(work, _LIMIT_S)
    if outcome.ended != "ok" or outcome.answer not in ("clean", "read"):
        print(f"format {zarr_format}, {case.name}: {outcome}", file=sys.stderr)
    return outcome.answer if outcome.ended == "ok" else "ended"


def _v3(**members: Any) -> dict[str, Any]:
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [_LENGTH],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [_LENGTH]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [_BYTES],
        "attributes": {},
    }
    return {**document, **members}


def _grid(*chunk: Any) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": list(chunk)}}


def _shard(inner: Any, **more: Any) -> dict[str, Any]:
    codecs = {"codecs": [_BYTES], "index_codecs": [_BYTES, _CRC], **more}
    return {"name": "sharding_indexed", "configuration": {"chunk_shape": [inner], **codecs}}


def _nested(levels: int) -> list[dict[str, Any]]:
    codecs = [_BYTES]
    for _ in range(levels):
        codecs = [_shard(_LENGTH, codecs=codecs)]
    return codecs


def _index(*pairs: int) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in pairs)


def _lies_v3() -> Iterator[_Case]:
    def case(name: str, chunk: bytes = bytes(4 * _LENGTH), **members: Any) -> _Case:
        return _Case(name, json.dumps(_v3(**members)), chunk)

    huge = 1 << 62
    for name, shape, chunk in (
        ("a negative length", [-1], [4]),
        ("a length that is not an integer", [2.5], [4]),
        ("a length beyond 64 bits", [1 << 70], [4]),
        ("a chunk of 0", [_LENGTH], [0]),
        ("a negative chunk", [_LENGTH], [-4]),
        ("a chunk of true", [_LENGTH], [True]),
        ("a chunk with more axes", [_LENGTH], [4, 4]),
        ("a chunk beyond 64 bits", [_LENGTH], [1 << 70]),
        ("a chunk of 2^62 elements", [huge], [huge]),
        ("65 axes", [1] * 65, [1] * 65),
        ("a product that wraps", [1 << 32] * 3, [1 << 32] * 3),
        ("a chunk of 64 GiB", [1 << 34], [1 << 34]),
        ("a shape that is not a list", 64, [64]),
        ("a shape of text", ["64"], [64]),
    ):
        yield case(name, shape=shape, chunk_grid=_grid(*chunk))
    for codec in ("gzip", "zstd", "crc32c", "blosc"):
        configuration = {"gzip": {"level": 1}, "zstd": {"level": 1, "checksum": False}}.get(
            codec, {}
        )
        codecs = [_BYTES, {"name": codec, "configuration": configuration}]
        yield case(
            f"a chunk of 64 GiB and {codec}",
            b"short",
            shape=[1 << 34],
            chunk_grid=_grid(1 << 34),
            codecs=codecs,
        )
    for name, members in {
        "a grid of another kind": {"chunk_grid": {"name": "hexagonal", "configuration": {}}},
        "a grid without a configuration": {"chunk_grid": {"name": "regular"}},
        "a grid that is text": {"chunk_grid": "regular"},
        "a type that is not known": {"data_type": "int33"},
        "a type that is a number": {"data_type": 7},
        "a type of 0 bytes": {"data_type": "r0"},
        "a type of 2^40 bits": {"data_type": "r1099511627776"},
        "a type within itself 5000 times": {"data_type": _deep("a", 5000)},
        "a fill value of another type": {"fill_value": {"a": 1}},
        "a fill value out of range": {"fill_value": 1 << 40},
        "a fill value of 5000 digits": {"fill_value": int("9" * 4000)},
        "a fill value that is text": {"fill_value": "NaN"},
        "no codec at all": {"codecs": []},
        "codecs that are not a list": {"codecs": _BYTES},
        "two codecs to bytes": {"codecs": [_BYTES, _BYTES]},
        "a codec that is not known": {"codecs": [_BYTES, {"name": "quantum"}]},
        "a codec that is a number": {"codecs": [_BYTES, 9]},
        "1000 codecs": {"codecs": [_BYTES] + [_CRC] * 1000},
        "a level of text": {"codecs": [_BYTES, {"name": "gzip", "configuration": {"level": "x"}}]},
        "a level of 10^30": {
            "codecs": [_BYTES, {"name": "gzip", "configuration": {"level": 10**30}}]
        },
        "elements of -1 bytes in Blosc": {
            "codecs": [_BYTES, {"name": "blosc", "configuration": {"cname": "lz4", "typesize": -1}}]
        },
        "a transposition of no axes": {
            "codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}, _BYTES]
        },
        "a transposition of 10^5 axes": {
            "codecs": [
                {"name": "transpose", "configuration": {"order": list(range(10**5))}},
                _BYTES,
            ]
        },
        "300 shards inside each other": {"codecs": _nested(300)},
        "inner chunks that do not divide": {"codecs": [_shard(7)]},
        "inner chunks of 0": {"codecs": [_shard(0)]},
        "an index that is compressed": {
            "codecs": [
                _shard(8, index_codecs=[_BYTES, {"name": "gzip", "configuration": {"level": 1}}])
            ]
        },
        "an index in the middle": {"codecs": [_shard(8, index_location="middle")]},
        "an index of 16 TiB": {
            "shape": [1 << 40],
            "chunk_grid": _grid(1 << 40),
            "codecs": [_shard(1)],
        },
        "a separator that climbs": {
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/../"}}
        },
        "a key encoding that is not known": {"chunk_key_encoding": {"name": "base64"}},
        "names for other axes": {"dimension_names": ["a", "b", "c"]},
        "a transformer of the storage": {"storage_transformers": [{"name": "encrypt"}]},
        "a member that must be understood": {"novelty": {"must_understand": True}},
        "a group with a shape": {"node_type": "group"},
        "format 4": {"zarr_format": 4},
        "attributes that are a list": {"attributes": [1]},
    }.items():
        yield case(name, **members)
    plain = [_shard(_LENGTH // 2, index_codecs=[_BYTES])]
    for name, stored in (
        ("an empty shard", b""),
        ("a shard of half an index", bytes(9)),
        ("an inner chunk that wraps 2^64", bytes(300) + _index(2**64 - 8, 16, 0, 128)),
        ("an inner chunk behind the end", bytes(300) + _index(500, 128, 0, 128)),
        ("an inner chunk of 2^60 bytes", bytes(300) + _index(0, 1 << 60, 0, 128)),
        ("an inner chunk that is the index", bytes(128) + _index(96, 64, 0, 128)),
        ("an offset without a length", bytes(300) + _index(2**64 - 1, 128, 0, 128)),
    ):
        yield case(name, stored, codecs=plain)
    yield case("a chunk too long by 8", bytes(4 * _LENGTH + 8))
    yield case("a chunk too short by 8", bytes(4 * _LENGTH - 8))
    yield case(
        "text of 2^31 items",
        (1 << 31).to_bytes(4, "little"),
        data_type="string",
        fill_value="",
        codecs=[{"name": "vlen-utf8"}],
    )
    good = json.dumps(_v3())
    yield _Case(
        "100000 lists inside each other", good[:-1] + ', "x": ' + "[" * 10**5 + "]" * 10**5 + "}"
    )
    yield _Case("blanks of 64 MiB", good + " " * (64 << 20))
    yield _Case("a document of 4 GiB of holes", good, length=4 << 30)
    yield _Case("no UTF-8", b"\xff\xfe" + good.encode())
    yield _Case("a document that is cut", good[: len(good) // 2])
    yield _Case("an empty document", "")
    yield _Case("a document that is a list", f"[{good}]")
    yield _Case("every member twice", "{" + good[1:-1] + ", " + good[1:])
    yield _Case("NaN for a length", good.replace(f"[{_LENGTH}]", "[NaN]", 1))


def _deep(name: str, levels: int) -> Any:
    kind: Any = "int32"
    for _ in range(levels // 50):
        kind = {"name": "struct", "configuration": {"fields": [[name, kind]]}}
    return kind


def _lies_v2() -> Iterator[_Case]:
    good = {
        "zarr_format": 2,
        "shape": [_LENGTH],
        "chunks": [_LENGTH],
        "dtype": "<i4",
        "compressor": None,
        "fill_value": 0,
        "filters": None,
        "order": "C",
    }
    zlib = {"id": "zlib", "level": 1}
    nested: Any = "<i4"
    for _ in range(200):
        nested = [["a", nested]]
    for name, members in {
        "chunks of 0": {"chunks": [0]},
        "negative chunks": {"chunks": [-8]},
        "chunks of 1.5": {"chunks": [1.5]},
        "chunks of more axes": {"chunks": [8, 8]},
        "chunks of 64 GiB": {"shape": [1 << 34], "chunks": [1 << 34], "compressor": zlib},
        "chunks of 2^62": {"shape": [1 << 62], "chunks": [1 << 62]},
        "a shape that is text": {"shape": "64"},
        "an order X": {"order": "X"},
        "a type of 0 bytes": {"dtype": "|V0"},
        "a type of 3 bytes": {"dtype": "<i3"},
        "text of 2 GiB": {"dtype": "|S2147483648", "fill_value": None},
        "a type inside itself 200 times": {"dtype": nested, "fill_value": None},
        "a type that is not a list of fields": {"dtype": [["a"]], "fill_value": None},
        "fields of one name": {"dtype": [["a", "<i4"], ["a", "<i4"]], "fill_value": None},
        "a fill value that is not base64": {"dtype": "|S4", "fill_value": "%%%"},
        "a fill value of another type": {"fill_value": [1, 2]},
        "a fill value out of range": {"fill_value": 1 << 60},
        "filters that are not a list": {"filters": {"id": "delta", "dtype": "<i4"}},
        "1000 filters": {"filters": [{"id": "crc32"}] * 1000},
        "a delta of no type": {"filters": [{"id": "delta", "dtype": "nonsense"}]},
        "a compressor that is text": {"compressor": "zlib"},
        "a compressor without a name": {"compressor": {"level": 1}},
        "a compressor that is not known": {"compressor": {"id": "quantum"}},
        "a compressor of Blosc that is not known": {"compressor": {"id": "blosc", "cname": "x"}},
        "a separator that climbs": {"dimension_separator": "/../../../x"},
        "objects that are pickles": {
            "dtype": "|O",
            "fill_value": None,
            "filters": [{"id": "pickle"}],
        },
        "text of 2^31 items": {"dtype": "|O", "fill_value": "", "filters": [{"id": "vlen-utf8"}]},
        "a format of text": {"zarr_format": "2"},
        "no chunks": {"chunks": None},
    }.items():
        chunk = (1 << 31).to_bytes(4, "little") if "items" in name else bytes(4 * _LENGTH)
        yield _Case(name, json.dumps({**good, **members}), chunk)
    text = json.dumps(good)
    yield _Case("100000 lists inside each other", text.replace('"C"', "[" * 10**5 + "]" * 10**5))
    yield _Case("blanks of 64 MiB", text + " " * (64 << 20))
    yield _Case("an empty document", "")
