"""What only an encoder uses is never a reason not to read, and no copy repeats it.

Every metadata document of the golden files is taken, each value in it that only an encoder uses is
changed to others that no encoder takes, and the array must read as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from golden.packs import unpack
from zarrix.errors import CodecError, MetadataError

GOLDEN = Path(__file__).parents[1] / "golden"

# By the codec's name in v2, which is that of v3 behind "numcodecs.". Written down here
# a second time, by what the formats of encoded bytes say.
ENCODER_ONLY = {
    "blosc": ("cname", "clevel", "shuffle", "blocksize", "typesize"),
    "zstd": ("level", "checksum"),
    "gzip": ("level",),
    "zlib": ("level",),
    "lz4": ("acceleration",),
    "bz2": ("level",),
    "lzma": ("preset", "check"),
    "pcodec": (
        *("level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order"),
        "equal_pages_up_to",
    ),
    "bitround": ("keepbits",),
    "quantize": ("digits",),
}
NAMES = {*ENCODER_ONLY, *(f"numcodecs.{name}" for name in ENCODER_ONLY)}
LOSSY = ("bitround", "quantize")
STRANGE = (100, -1, -(2**40), 2**63, 2.5, "highest", None, True, [], {})


# NumPy itself has none of these data types.
OF_ML_DTYPES = re.compile(r"bfloat16|u?int[24]|float[468]_\w+")


def document_in(files: dict[str, bytes]) -> dict[str, Any]:
    """The metadata document of one array; skipped if its data type is not installed."""
    document: dict[str, Any] = json.loads(files.get(".zarray") or files["zarr.json"])
    dtype = document.get("data_type")
    if isinstance(dtype, str) and OF_ML_DTYPES.fullmatch(dtype):
        pytest.importorskip("ml_dtypes")
    return document


def codecs_in(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and configuration of each codec in a document, inside of shards too."""
    if isinstance(part, dict):
        if isinstance(part.get("id"), str):
            yield part["id"], part
        elif part.get("name") in NAMES and isinstance(part.get("configuration"), dict):
            yield part["name"].removeprefix("numcodecs."), part["configuration"]
        for inner in part.values():
            yield from codecs_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from codecs_in(inner)


def options_of(document: dict[str, Any]) -> list[tuple[int, str]]:
    """Which codec of `codecs_in`, and which of its keys."""
    return [
        (place, key)
        for place, (name, given) in enumerate(codecs_in(document))
        for key in ENCODER_ONLY.get(name, ())
        if key in given
    ]


@cache
def arrays() -> dict[str, tuple[str, dict[str, bytes]]]:
    """Name of the document and files of one golden array for each chain of codecs."""
    found: dict[str, tuple[str, dict[str, bytes]]] = {}
    for path in sorted(GOLDEN.glob("*/*.tar.xz")):
        if path.name.startswith("expected"):
            continue
        for case, files in unpack(path, depth=3 if path.parent.name == "peers" else 1).items():
            name = ".zarray" if ".zarray" in files else "zarr.json"
            if name not in files:
                continue
            document = json.loads(files[name])
            codecs = [(one, sorted(given)) for one, given in codecs_in(document)]
            chain = json.dumps([name, codecs, document.get("dtype", document.get("data_type"))])
            if options_of(document):
                found.setdefault(chain, (f"{path.parent.name} {case}", {**files}))
    return dict(found.values())


@cache
def thorough() -> set[str]:
    """The first array of each format and chain gets every strange value."""
    first: dict[str, str] = {}
    for case, files in arrays().items():
        name = ".zarray" if ".zarray" in files else "zarr.json"
        codecs = [one for one, _ in codecs_in(json.loads(files[name]))]
        first.setdefault(json.dumps([name, codecs]), case)
    return set(first.values())


def same(got: Any, want: Any) -> bool:
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind in "OT":
        return bool(got.tolist() == want.tolist())
    return got.tobytes() == want.tobytes()


def changed(files: dict[str, bytes], place: int, key: str, value: Any) -> dict[str, bytes]:
    name = ".zarray" if ".zarray" in files else "zarr.json"
    document = json.loads(files[name])
    list(codecs_in(document))[place][1][key] = value
    return {**files, name: json.dumps(document).encode()}


def codec_at(files: dict[str, bytes], place: int) -> str:
    document = json.loads(files.get(".zarray") or files["zarr.json"])
    return list(codecs_in(document))[place][0]


@pytest.mark.parametrize("case", arrays())
def test_an_array_reads_whatever_its_document_says_to_an_encoder(case: str) -> None:
    files = arrays()[case]
    document = document_in(files)
    want = zarr.open_array({**files}, mode="r")[...]
    for place, key in options_of(document):
        for value in STRANGE if case in thorough() else (100, "highest"):
            store = changed(files, place, key, value)
            z = zarr.open_array(store, mode="r+")
            assert same(z[...], want), (key, value)
            assert repr(z.info)
            if codec_at(files, place) not in LOSSY:
                z[...] = want
                assert same(zarr.open_array(store)[...], want), (key, value)


# What a copy says depends on format and chain alone.
@pytest.mark.parametrize("case", sorted(thorough()))
def test_a_copy_of_an_array_says_what_encoders_take(case: str) -> None:
    files = arrays()[case]
    document = document_in(files)
    for place, key in options_of(document):
        if codec_at(files, place) in LOSSY:
            continue
        for value in (100, "highest"):
            z = zarr.open_array(changed(files, place, key, value), mode="r")
            target = zarr.group() if z.zarr_format == 2 else zarr.create_group({})
            zarr.copy(z, target, name="x")
            assert same(target["x"][...], z[...]), (key, value)
            assert zarr.empty_like(z).shape == z.shape


@pytest.mark.parametrize(
    ("codec", "key", "value"),
    [
        (numcodecs.BitRound(8), "keepbits", -3),
        (numcodecs.BitRound(8), "keepbits", "all"),
        (numcodecs.Quantize(2, "f8", "f4"), "digits", "all"),
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_lossy_codec_without_its_digits_reads_and_says_that_it_cannot_write(
    codec: Any, key: str, value: Any, zarr_format: int
) -> None:
    store: dict[str, bytes] = {}
    z = zarr.create(8, chunks=4, dtype="f8", filters=[codec], store=store, zarr_format=zarr_format)
    z[...] = np.arange(8)
    place = (
        0
        if zarr_format == 3
        else [n for n, _ in codecs_in(document_of(store))].index(codec.codec_id)
    )
    z = zarr.open_array(changed(store, place, key, value), mode="r+")
    assert z[...].tolist() == list(range(8))
    for part in (slice(None), slice(1)):
        with pytest.raises(CodecError, match=f"{key}.*can be read, but not written"):
            z[part] = 5
    assert z[...].tolist() == list(range(8))


def document_of(store: dict[str, bytes]) -> Any:
    return json.loads(store.get(".zarray") or store["zarr.json"])


@pytest.mark.parametrize(
    "given",
    [
        {"compressor": {"id": "zstd", "level": 100}},
        {"compressor": numcodecs.Zstd(level=100)},
        {"compressor": {"id": "blosc", "clevel": 10}},
        {"filters": [{"id": "bz2", "level": 10}]},
        {"zarr_format": 3, "compressors": {"name": "zstd", "configuration": {"level": 100}}},
        {"zarr_format": 3, "compressors": {"name": "gzip", "configuration": {"level": -1}}},
        {"zarr_format": 3, "compressors": {"name": "gzip", "configuration": {"level": 10}}},
        {"zarr_format": 3, "shards": 8, "compressors": {"id": "zstd", "level": 100}},
    ],
)
def test_a_new_array_is_refused_what_no_encoder_takes(given: dict[str, Any]) -> None:
    with pytest.raises((MetadataError, ValueError), match="level"):
        zarr.create(8, chunks=4, store={}, **given)


def test_zlibs_default_level_has_a_number_in_format_3() -> None:
    """Where v2 says -1; the specification of v3 has 0 to 9."""
    store: dict[str, bytes] = {}
    z = zarr.array(np.arange(9), chunks=3, compressor=numcodecs.GZip(-1), store=store)
    for made in (
        zarr.create_array({}, shape=9, dtype="i8", compressors=numcodecs.GZip(-1)),
        zarr.create_array({}, data=z, compressors=z.compressor),
    ):
        assert document_of(made.store)["codecs"][-1]["configuration"] == {"level": 6}
    zarr.migrate(store, to=3)
    assert document_of(store)["codecs"][-1]["configuration"] == {"level": 6}
    assert zarr.open(store)[...].tolist() == list(range(9))


@pytest.mark.parametrize("to", [2, 3])
def test_a_migrated_document_says_what_encoders_take(to: int) -> None:
    store: dict[str, bytes] = {}
    zarr.array(
        np.arange(9),
        chunks=3,
        store=store,
        zarr_format=5 - to,
        **({"compressor": numcodecs.Zstd(3)} if to == 3 else {"compressors": numcodecs.Zstd(3)}),
        **({} if to == 3 else {"chunk_key_encoding": {"name": "v2", "separator": "."}}),
    )
    store.update(changed(store, len(list(codecs_in(document_of(store)))) - 1, "level", 100))
    zarr.migrate(store, to=to)
    found = [given["level"] for name, given in codecs_in(document_of(store)) if name == "zstd"]
    assert found == [22]
    assert zarr.open(store)[...].tolist() == list(range(9))
