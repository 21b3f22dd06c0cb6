"""Bad input gets one clear sentence and the class that users catch, and loses nothing stored.

Each row of a table is a call that must fail. What is checked is the same for all: the class is the
builtin that callers of zarr 2.18 catch, the message is one sentence that names what it is about,
and the directory holds the same bytes before and after. The file is long because it is tables.
"""

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from numcodecs.registry import codec_registry

NUMBERS = np.arange(60, dtype="<i4").reshape(6, 10)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file below ``folder`` with its bytes, and every directory and link."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = path.read_bytes() if path.is_file() else None
    return found


@contextlib.contextmanager
def refused(folder: Path, kind: type[Exception], *words: str) -> Iterator[None]:
    """What is inside fails as ``kind`` in one sentence with ``words``, and changes no byte."""
    before = snapshot(folder)
    with pytest.raises(kind) as caught:
        yield
    assert snapshot(folder) == before
    message = str(caught.value)
    assert "\n" not in message, message
    assert 15 <= len(message) <= 400, message
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A hierarchy: ``x.zarr`` with the array ``a`` and the group ``g`` that holds ``g/b``."""
    root = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    root.attrs["title"] = "kept"
    root.create_dataset("a", data=NUMBERS, chunks=(2, 5)).attrs["unit"] = "m"
    root.create_dataset("g/b", data=NUMBERS[0], chunks=4, compressor=None)
    return tmp_path


def at(folder: Path, inner: str = "") -> str:
    return str(folder / "x.zarr" / inner) if inner else str(folder / "x.zarr")


Case = tuple[Callable[[Path], Any], type[Exception], tuple[str, ...]]


def cases(table: dict[str, Case]) -> Any:
    return pytest.mark.parametrize(
        ("call", "kind", "words"),
        list(table.values()),
        ids=[name.replace(" ", "-") for name in table],
    )


# Paths

MISSING: dict[str, Case] = {
    "open r": (lambda f: zarr.open(str(f / "no.zarr"), "r"), FileNotFoundError, ("no.zarr",)),
    "open r+": (lambda f: zarr.open(str(f / "no.zarr"), "r+"), KeyError, ("no.zarr",)),
    "open below": (lambda f: zarr.open(at(f, "g/no"), "r"), ValueError, ("g/no",)),
    "open by path": (lambda f: zarr.open(at(f), "r", path="no"), FileNotFoundError, ("no",)),
    "array r": (lambda f: zarr.open_array(str(f / "no"), "r"), FileNotFoundError, ("no array",)),
    "array r+": (lambda f: zarr.open_array(str(f / "no"), "r+"), ValueError, ("no array",)),
    "group r": (lambda f: zarr.open_group(str(f / "no"), "r"), FileNotFoundError, ("no group",)),
    "group r+": (lambda f: zarr.open_group(str(f / "no"), "r+"), ValueError, ("no group",)),
    "load": (lambda f: zarr.load(str(f / "no.zarr")), FileNotFoundError, ("no.zarr",)),
    "Array": (lambda f: zarr.Array(str(f / "no")), FileNotFoundError, ("no array",)),
    "Group": (lambda f: zarr.Group(str(f / "no")), FileNotFoundError, ("no group",)),
    "member": (lambda f: zarr.open(at(f))["no"], KeyError, ("no",)),
    "deep member": (lambda f: zarr.open(at(f))["g/no/b"], KeyError, ("g/no/b",)),
    "member of an array": (lambda f: zarr.open(at(f))["a/b"], KeyError, ("a/b",)),
    "attribute of a group": (lambda f: zarr.open(at(f)).nothing, AttributeError, ("nothing",)),
    "delete": (lambda f: zarr.open(at(f)).__delitem__("no"), KeyError, ("no",)),
    "move": (lambda f: zarr.open(at(f)).move("no", "elsewhere"), ValueError, ("no",)),
    "a file": (
        lambda f: zarr.open(at(f, "a/.zarray"), "r"),
        NotADirectoryError,
        (".zarray", "is a file"),
    ),
}


@cases(MISSING)
def test_a_path_with_nothing_there_is_named(
    folder: Path, call: Callable[[Path], Any], kind: type[Exception], words: tuple[str, ...]
) -> None:
    with refused(folder, kind, *words):
        call(folder)


def root_group(f: Path) -> Any:
    return zarr.open_group(at(f), mode="r+")


WRONG_KIND: dict[str, Case] = {
    **{
        f"open_array {mode} of a group": (
            lambda f, mode=mode: zarr.open_array(at(f), mode, shape=3),
            ValueError,
            ("x.zarr", "group"),
        )
        for mode in ("r", "r+", "a", "w-")
    },
    **{
        f"open_group {mode} of an array": (
            lambda f, mode=mode: zarr.open_group(at(f, "a"), mode),
            ValueError,
            ("x.zarr/a", "array"),
        )
        for mode in ("r", "r+", "a", "w-")
    },
    "Array of a group": (lambda f: zarr.Array(at(f, "g")), ValueError, ("is a group",)),
    "Group of an array": (lambda f: zarr.Group(at(f, "a")), ValueError, ("contains an array",)),
    "open w- of a group": (lambda f: zarr.open(at(f), "w-"), ValueError, ("contains a group",)),
    "open w- of an array": (
        lambda f: zarr.open(at(f, "a"), "w-", shape=3),
        ValueError,
        ("contains an array",),
    ),
    "create on an array": (
        lambda f: zarr.create(3, store=at(f, "a")),
        ValueError,
        ("contains an array", "overwrite"),
    ),
    "create_dataset on an array": (
        lambda f: root_group(f).create_dataset("a", shape=3),
        ValueError,
        ("contains an array", "overwrite"),
    ),
    "create_dataset on a group": (
        lambda f: root_group(f).create_dataset("g", shape=3),
        ValueError,
        ("contains a group",),
    ),
    "create_group on an array": (
        lambda f: root_group(f).create_group("a"),
        ValueError,
        ("contains an array",),
    ),
    "create_group twice": (
        lambda f: root_group(f).create_group("g"),
        ValueError,
        ("contains a group",),
    ),
    "create_dataset below an array": (
        lambda f: root_group(f).create_dataset("a/below/it", shape=3),
        ValueError,
        ("x.zarr/a", "is an array"),
    ),
    "create_group below an array": (
        lambda f: root_group(f).create_group("a/below"),
        ValueError,
        ("x.zarr/a", "is an array"),
    ),
    "require_group of an array": (
        lambda f: root_group(f).require_group("a"),
        ValueError,
        ("contains an array",),
    ),
    "require_dataset of another shape": (
        lambda f: root_group(f).require_dataset("a", shape=(6, 11), dtype="i4"),
        TypeError,
        ("(6, 11)", "(6, 10)"),
    ),
    "require_dataset of another dtype": (
        lambda f: root_group(f).require_dataset("a", shape=(6, 10), dtype="f8"),
        TypeError,
        ("float64", "int32"),
    ),
    "mode": (lambda f: zarr.open(at(f), "rw"), ValueError, ("'rw'", "'r+'")),
    "mode of an array": (lambda f: zarr.open_array(at(f, "a"), "q"), ValueError, ("'q'", "'w-'")),
}


@cases(WRONG_KIND)
def test_an_array_is_no_group_and_a_group_no_array(
    folder: Path, call: Callable[[Path], Any], kind: type[Exception], words: tuple[str, ...]
) -> None:
    with refused(folder, kind, *words):
        call(folder)


HOSTILE = {
    "parent": "../y",
    "parent inside": "g/../../y",
    "current": "./../y",
    "NUL": "g\0y",
    "backslashes": "..\\y",
}
USES: dict[str, Callable[[Path, str], Any]] = {
    "open": lambda f, path: zarr.open(at(f), "a", path=path, shape=3),
    "open_group": lambda f, path: zarr.open_group(at(f), "w", path=path),
    "create": lambda f, path: zarr.create(3, store=at(f), path=path),
    "member": lambda f, path: root_group(f)[path],
    "create_group": lambda f, path: root_group(f).create_group(path),
    "create_dataset": lambda f, path: root_group(f).create_dataset(path, shape=3),
    "move": lambda f, path: root_group(f).move("a", path),
    "delete": lambda f, path: root_group(f).__delitem__(path),
    "store get": lambda f, path: zarr.DirectoryStore(at(f))[path],
    "store set": lambda f, path: zarr.DirectoryStore(at(f)).__setitem__(path, b"x"),
    "store delete": lambda f, path: zarr.DirectoryStore(at(f)).__delitem__(path),
    "save": lambda f, path: zarr.save(at(f), np.ones(3), path=path),
    "copy": lambda f, path: zarr.copy(root_group(f)["a"], root_group(f), name=path),
}


@pytest.mark.parametrize("path", HOSTILE.values(), ids=[name.replace(" ", "-") for name in HOSTILE])
@pytest.mark.parametrize("use", USES.values(), ids=[name.replace(" ", "-") for name in USES])
def test_a_path_that_leaves_the_store_is_refused(
    folder: Path, use: Callable[[Path, str], Any], path: str
) -> None:
    (folder / "y").mkdir()
    (folder / "y" / ".zarray").write_text("not ours")
    with refused(folder, ValueError):
        use(folder, path)


# Chunks

CODECS: dict[str, tuple[list[Any], Any]] = {
    "none": ([], None),
    "blosc-lz4": ([], numcodecs.Blosc("lz4", 5, 1)),
    "blosc-zstd-bit": ([], numcodecs.Blosc("zstd", 5, 2)),
    "blosc-copy": ([], numcodecs.Blosc("lz4", 0, 0)),
    "zstd": ([], numcodecs.Zstd(3)),
    "zstd-checksum": ([], numcodecs.Zstd(3, checksum=True)),
    "gzip": ([], numcodecs.GZip(5)),
    "zlib": ([], numcodecs.Zlib(5)),
    "lz4": ([], numcodecs.LZ4()),
    "bz2": ([], numcodecs.BZ2()),
    "lzma": ([], numcodecs.LZMA()),
    "crc32": ([numcodecs.CRC32()], None),
    "fletcher32": ([numcodecs.Fletcher32()], None),
    "adler32": ([numcodecs.Adler32()], None),
    "shuffle-zlib": ([numcodecs.Shuffle(4)], numcodecs.Zlib(5)),
    "delta-fletcher32-zstd": (
        [numcodecs.Delta("<i4"), numcodecs.Fletcher32()],
        numcodecs.Zstd(1),
    ),
}
NOTICES_EVERY_FLIP = (
    *("zstd-checksum", "zlib", "shuffle-zlib", "bz2", "lzma"),
    *("crc32", "fletcher32", "adler32", "delta-fletcher32-zstd"),
)


def chunked(folder: Path, codec: str) -> tuple[Any, np.ndarray[Any, Any], Path]:
    """An array of 2 x 2 chunks, its values, and the file of the chunk that will be damaged."""
    filters, compressor = CODECS[codec]
    values = (np.arange(2500, dtype="<i4") // 7 % 50).reshape(50, 50)
    z = zarr.open_array(
        at(folder, f"c/{codec}"),
        mode="w",
        shape=values.shape,
        chunks=(30, 30),
        dtype="<i4",
        filters=filters,
        compressor=compressor,
    )
    z[...] = values
    return z, values, Path(at(folder, f"c/{codec}/0.1"))


def check_damage(folder: Path, z: Any, values: np.ndarray[Any, Any]) -> None:
    """Reading and changing the damaged chunk is refused; the other chunks do not notice."""
    for kind in (ValueError, RuntimeError, zarr.errors.CorruptChunkError):
        with refused(folder, kind, "0.1"):
            z[...]
    with refused(folder, ValueError, "0.1"):
        z[2, 40]
    with refused(folder, ValueError, "0.1"):
        z[2, 40] = 1
    assert np.array_equal(z[30:], values[30:])
    assert np.array_equal(z[:, :30], values[:, :30])


@pytest.mark.parametrize("codec", CODECS)
def test_a_chunk_cut_short_is_named_and_not_written_over(folder: Path, codec: str) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    for size in (0, 1, 3, 11, 15, len(whole) // 2, len(whole) - 1):
        chunk.write_bytes(whole[:size])
        check_damage(folder, z, values)


@pytest.mark.parametrize("codec", CODECS)
def test_a_damaged_chunk_is_mended_by_writing_all_of_it(folder: Path, codec: str) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[: len(whole) // 2])
    z[:30, 30:] = values[:30, 30:]
    assert np.array_equal(z[...], values)


@pytest.mark.parametrize("codec", NOTICES_EVERY_FLIP)
def test_a_flipped_bit_under_a_checksum_is_noticed_and_named(folder: Path, codec: str) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    for i in range(0, len(whole), max(1, len(whole) // 25)):
        damaged = bytearray(whole)
        damaged[i] ^= 1 << i % 8
        chunk.write_bytes(damaged)
        with contextlib.suppress(zarr.errors.CorruptChunkError):
            # Bits that mean nothing, as the unused ones of a header, may change nothing.
            assert np.array_equal(z[...], values), i
            continue
        check_damage(folder, z, values)


@pytest.mark.parametrize("codec", [name for name in CODECS if name not in NOTICES_EVERY_FLIP])
def test_a_flipped_bit_without_a_checksum_fails_only_as_a_corrupt_chunk(
    folder: Path, codec: str
) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    for i in range(0, len(whole), max(1, len(whole) // 60)):
        for damage in (1 << i % 8, 0xFF):
            damaged = bytearray(whole)
            damaged[i] ^= damage
            chunk.write_bytes(damaged)
            with contextlib.suppress(zarr.errors.CorruptChunkError):
                got = z[...]
                assert np.array_equal(got[30:], values[30:])
                assert np.array_equal(got[:, :30], values[:, :30])


def test_a_chunk_that_is_too_long_is_named(folder: Path) -> None:
    z, values, chunk = chunked(folder, "none")
    chunk.write_bytes(chunk.read_bytes() + b"more")
    check_damage(folder, z, values)


# Metadata


def document(**changes: Any) -> str:
    import json

    fields: dict[str, Any] = {
        "zarr_format": 2,
        "shape": [6, 10],
        "chunks": [2, 5],
        "dtype": "<i4",
        "compressor": None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    fields |= changes
    return json.dumps({key: value for key, value in fields.items() if value != "left out"})


DOCUMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "empty": ("", ("JSON",)),
    "no JSON": ("shape: [6, 10]", ("JSON",)),
    "cut short": (document()[:40], ("JSON",)),
    "a list": ("[2]", ("JSON object",)),
    "not text": ("\udcff\udcfe{}", ()),
    **{
        f"no {key}": (document(**{key: "left out"}), (key,))
        for key in (
            *("zarr_format", "shape", "chunks", "dtype", "compressor"),
            *("fill_value", "order", "filters"),
        )
    },
    "format 3": (document(zarr_format=3), ("zarr_format", "3")),
    "a dtype that is none": (document(dtype="<q9"), ("dtype", "<q9")),
    "a negative shape": (document(shape=[6, -10]), ("shape", "-10")),
    "a shape of text": (document(shape="6x10"), ("shape", "6x10")),
    "chunks of another rank": (document(chunks=[2]), ("chunks",)),
    "chunks of zero": (document(chunks=[2, 0]), ("chunks", "0")),
    "chunks without end": (document(chunks=[2**40, 2**40]), ("chunk",)),
    "an order that is none": (document(order="K"), ("order", "K")),
    "a fill value of another kind": (document(fill_value="many"), ("fill_value", "many")),
    "a compressor without id": (document(compressor={"level": 1}), ("compressor", "id")),
    "filters that are no list": (document(filters={"id": "delta"}), ("filters",)),
    "a separator that is none": (document(dimension_separator="_"), ("dimension_separator", "_")),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_array_metadata_that_says_nothing_sensible_is_named(folder: Path, name: str) -> None:
    text, words = DOCUMENTS[name]
    Path(at(folder, "a/.zarray")).write_bytes(text.encode("utf-8", "surrogateescape"))
    for kind in (ValueError, zarr.errors.MetadataError):
        with refused(folder, kind, "a/.zarray", *words):
            zarr.open_array(at(folder, "a"), mode="r")
    with refused(folder, ValueError, ".zarray", *words):
        zarr.open(at(folder), mode="r")["a"]
    with refused(folder, ValueError, ".zarray", *words):
        zarr.open_array(at(folder, "a"), mode="a", shape=3)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"zarr_format": 3}'])
def test_group_metadata_that_says_nothing_sensible_is_named(folder: Path, text: str) -> None:
    Path(at(folder, ".zgroup")).write_text(text)
    for mode in ("r", "r+", "a"):
        with refused(folder, ValueError, ".zgroup"):
            zarr.open_group(at(folder), mode=mode)


@pytest.mark.parametrize("text", ["", "{", "[]", '"kept"'])
def test_attributes_that_are_no_json_object_are_named_and_not_written_over(
    folder: Path, text: str
) -> None:
    Path(at(folder, ".zattrs")).write_text(text)
    group = zarr.open_group(at(folder), mode="r+")
    with refused(folder, ValueError, ".zattrs"):
        group.attrs["title"]
    with refused(folder, ValueError, ".zattrs"):
        group.attrs["other"] = 1


def test_an_attribute_that_json_does_not_have_leaves_the_others(folder: Path) -> None:
    group = zarr.open_group(at(folder), mode="r+")
    with refused(folder, TypeError, "when", "JSON"):
        group.attrs["when"] = object()
    with refused(folder, TypeError, "when", "JSON"):
        group.attrs.put({"title": "new", "when": {1, 2}})
    assert group.attrs.asdict() == {"title": "kept"}


# Codecs

UNKNOWN = {
    "imagecodecs_jpeg2k": "pip install imagecodecs",
    "zfpy": "numcodecs[zfpy]",
    "flac": "flac-numcodecs",
    "mylab_squash": "mylab_squash",
    "blosc3": "did you mean 'blosc'",
}


@pytest.mark.parametrize("codec", UNKNOWN)
@pytest.mark.parametrize("place", ["compressor", "filters"])
def test_an_unknown_codec_is_named_with_the_package_that_has_it(
    folder: Path, codec: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(codec_registry, codec, raising=False)
    config: Any = {"id": codec, "level": 3}
    changes = {place: [config] if place == "filters" else config}
    Path(at(folder, "a/.zarray")).write_text(document(**changes))
    with refused(folder, ValueError, repr(codec), UNKNOWN[codec], "a"):
        zarr.open(at(folder, "a"), mode="r")[...]
    with refused(folder, zarr.errors.UnknownCodecError, repr(codec), UNKNOWN[codec]):
        zarr.open(at(folder, "a"), mode="r+")[0] = 1


def test_stored_pickles_are_not_executed(folder: Path) -> None:
    Path(at(folder, "a/.zarray")).write_text(
        document(dtype="|O", filters=[{"id": "pickle", "protocol": 5}], fill_value=None)
    )
    Path(at(folder, "a/0.0")).write_bytes(b"cos\nsystem\n(S'touch executed'\ntR.")
    with contextlib.chdir(folder), refused(folder, ValueError, "a"):
        zarr.open(at(folder, "a"), mode="r")[...]


# Values, selections and read-only arrays


def array_of(f: Path) -> Any:
    return zarr.open_array(at(f, "a"), mode="r+")


VALUES: dict[str, Case] = {
    "too long": (
        lambda f: array_of(f).__setitem__(slice(0, 2), np.ones((2, 11))),
        ValueError,
        ("(2, 11)", "(2, 10)"),
    ),
    "too many axes": (
        lambda f: array_of(f).__setitem__(0, np.ones((2, 10))),
        ValueError,
        ("(2, 10)", "(10,)"),
    ),
    "text": (lambda f: array_of(f).__setitem__(0, "many"), ValueError, ("many",)),
    "ragged": (lambda f: array_of(f).__setitem__(slice(0, 2), [[1], [2, 3]]), ValueError, ()),
    "an object": (lambda f: array_of(f).__setitem__(0, object()), TypeError, ()),
    "too large": (lambda f: array_of(f).__setitem__(0, 2**40), OverflowError, ()),
    "append of another width": (
        lambda f: array_of(f).append(np.ones((2, 9))),
        ValueError,
        ("(2, 9)", "(6, 10)"),
    ),
    "append along no axis": (
        lambda f: array_of(f).append(np.ones((2, 10)), axis=2),
        ValueError,
        ("axis 2",),
    ),
    "resize to another rank": (lambda f: array_of(f).resize(3), ValueError, ("2",)),
    "resize below zero": (lambda f: array_of(f).resize(-1, 10), ValueError, ("-1",)),
    "out of another shape": (
        lambda f: array_of(f).get_basic_selection(0, out=np.empty(9, "i4")),
        ValueError,
        ("(9,)", "(10,)"),
    ),
    "out of another dtype": (
        lambda f: array_of(f).get_basic_selection(0, out=np.empty(10, "f8")),
        ValueError,
        ("float64", "int32"),
    ),
}


@cases(VALUES)
def test_a_value_that_does_not_fit_is_refused(
    folder: Path, call: Callable[[Path], Any], kind: type[Exception], words: tuple[str, ...]
) -> None:
    with refused(folder, kind, *words):
        call(folder)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (6, ("index 6", "axis 0", "size 6")),
        (-7, ("index -7", "axis 0", "size 6")),
        ((0, 10), ("index 10", "axis 1", "size 10")),
        ((slice(None), -11), ("index -11", "axis 1", "size 10")),
        ((..., 10), ("index 10", "axis 1", "size 10")),
        ((0, 0, 0), ("2 axes", "3")),
        ((..., 0, ...), ("Ellipsis",)),
        (1.5, ("1.5", "axis 0")),
        (True, ("True", "axis 0")),
        ("name", ("'name'",)),
        ({}, ("{}", "axis 0")),
    ],
    ids=repr,
)
def test_an_index_out_of_range_names_axis_index_and_size(
    folder: Path, key: Any, words: tuple[str, ...]
) -> None:
    with refused(folder, IndexError, *words):
        array_of(folder)[key]
    with refused(folder, IndexError, *words):
        array_of(folder)[key] = 1


READ_ONLY: dict[str, Callable[[Any, Any], Any]] = {
    "assign": lambda _, z: z.__setitem__(0, 1),
    "assign with a bad value": lambda _, z: z.__setitem__(0, np.ones(99)),
    "set_basic_selection": lambda _, z: z.set_basic_selection(..., 1),
    "resize": lambda _, z: z.resize(1, 1),
    "append": lambda _, z: z.append(NUMBERS),
    "shape": lambda _, z: setattr(z, "shape", (1, 1)),
    "array attribute": lambda _, z: z.attrs.__setitem__("unit", "km"),
    "delete an array attribute": lambda _, z: z.attrs.__delitem__("unit"),
    "group attribute": lambda group, _: group.attrs.update(title="lost"),
    "clear attributes": lambda group, _: group.attrs.clear(),
    "create_group": lambda group, _: group.create_group("new"),
    "require_group": lambda group, _: group.require_group("new"),
    "create_dataset": lambda group, _: group.create_dataset("new", shape=3),
    "require_dataset": lambda group, _: group.require_dataset("new", shape=3),
    "array": lambda group, _: group.array("new", NUMBERS),
    "zeros": lambda group, _: group.zeros("new", shape=3),
    "assign a member": lambda group, _: group.__setitem__("new", NUMBERS),
    "delete": lambda group, _: group.__delitem__("a"),
    "clear": lambda group, _: group.clear(),
    "pop": lambda group, _: group.pop("a"),
    "move": lambda group, _: group.move("a", "b"),
    "copy": lambda group, z: zarr.copy(z, group, name="new"),
    "copy_all": lambda group, _: zarr.copy_all(group, group["g"]),
    "through a member": lambda group, _: group["g/b"].__setitem__(0, 1),
}


@pytest.mark.parametrize("change", READ_ONLY.values(), ids=[n.replace(" ", "-") for n in READ_ONLY])
def test_what_is_open_for_reading_refuses_every_change(
    folder: Path, change: Callable[[Any, Any], Any]
) -> None:
    group = zarr.open(at(folder), mode="r")
    for kind in (PermissionError, zarr.errors.ReadOnlyError):
        with refused(folder, kind, "read-only"):
            change(group, group["a"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_a_permission_error(folder: Path) -> None:
    os.chmod(at(folder, "a"), 0o500)
    try:
        with refused(folder, PermissionError):
            array_of(folder)[0] = 1
    finally:
        os.chmod(at(folder, "a"), 0o700)


# Creating over what is there

BAD_ARGUMENTS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "dtype": ({"dtype": "f3"}, ("f3",)),
    "dtype of objects": ({"dtype": object}, ("object",)),
    "compressor": ({"compressor": object()}, ("compressor",)),
    "compressor's name": ({"compressor": "zstandard"}, ("zstandard",)),
    "compressor's id": ({"compressor": {"id": "imagecodecs_png"}}, ("imagecodecs",)),
    "compressor's option": ({"compressor": {"id": "zstd", "levle": 3}}, ("levle",)),
    "filter": ({"filters": [object()]}, ("filter",)),
    "filter of another dtype": ({"filters": [{"id": "delta", "dtype": "text"}]}, ("delta",)),
    "chunks of another rank": ({"chunks": (2, 2, 2)}, ("chunks",)),
    "chunks below zero": ({"chunks": (2, -5)}, ("chunks", "-5")),
    "chunks of text": ({"chunks": "large"}, ("large",)),
    "shape below zero": ({"shape": (-6, 10)}, ("-6",)),
    "shape of text": ({"shape": "6x10"}, ("shape", "whole number")),
    "order": ({"order": "K"}, ("order", "K")),
    "fill value": ({"fill_value": "many"}, ("many",)),
    "separator": ({"dimension_separator": "_"}, ("_",)),
    "format": ({"zarr_format": 4}, ("4",)),
    "keyword": ({"chunk": (2, 5)}, ("'chunk'", "did you mean 'chunks'")),
    "compression": ({"compression": "squash"}, ("squash",)),
}
OVERWRITES: dict[str, Callable[[Path, dict[str, Any]], Any]] = {
    "open": lambda f, k: zarr.open(at(f, "a"), mode="w", **k),
    "open of the root": lambda f, k: zarr.open(at(f), mode="w", **k),
    "open_array": lambda f, k: zarr.open_array(at(f, "a"), mode="w", **k),
    "create": lambda f, k: zarr.create(store=at(f, "a"), overwrite=True, **k),
    "create_dataset": lambda f, k: root_group(f).create_dataset("a", overwrite=True, **k),
    "create_dataset over a group": lambda f, k: root_group(f).create_dataset(
        "g", overwrite=True, **k
    ),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
@pytest.mark.parametrize("over", OVERWRITES.values(), ids=[n.replace(" ", "-") for n in OVERWRITES])
def test_overwriting_checks_every_argument_before_it_deletes(
    folder: Path, over: Callable[[Path, dict[str, Any]], Any], name: str
) -> None:
    arguments, words = BAD_ARGUMENTS[name]
    kind: Any = (TypeError, ValueError)
    with refused(folder, kind, *words):
        over(folder, {"shape": (6, 10), "chunks": (2, 5), "dtype": "i4"} | arguments)


def unsavable() -> Any:
    return np.array([object(), {}], dtype=object)


DATA: dict[str, Callable[[Path], Any]] = {
    "save objects": lambda f: zarr.save(at(f, "a"), unsavable()),
    "save_array of objects": lambda f: zarr.save_array(at(f), unsavable()),
    "save a group with objects": lambda f: zarr.save(at(f), good=NUMBERS, bad=unsavable()),
    "save ragged lists": lambda f: zarr.save(at(f, "a"), [[1], [2, 3]]),
    "save nothing": lambda f: zarr.save_group(at(f)),
    "data of another shape": lambda f: root_group(f).create_dataset(
        "a", shape=(5, 5), data=NUMBERS, overwrite=True
    ),
    "data of another kind": lambda f: root_group(f).create_dataset(
        "a", data=["many"], dtype="i4", overwrite=True
    ),
    "array of another kind": lambda f: zarr.array(
        ["many"], dtype="i4", store=at(f, "a"), overwrite=True
    ),
    "copy with a bad keyword": lambda f: zarr.copy(
        root_group(f)["g/b"], root_group(f), name="a", if_exists="replace", chunk=3
    ),
    "copy with a bad codec": lambda f: zarr.copy(
        root_group(f)["g/b"], root_group(f), name="a", if_exists="replace", compressor="squash"
    ),
    "copy if_exists": lambda f: zarr.copy(
        root_group(f)["g/b"], root_group(f), name="a", if_exists="perhaps"
    ),
    "copy onto what is there": lambda f: zarr.copy(root_group(f)["g/b"], root_group(f), name="a"),
    "copy_store onto what is there": lambda f: zarr.copy_store(
        zarr.DirectoryStore(at(f)), zarr.DirectoryStore(at(f))
    ),
    "move onto what is there": lambda f: root_group(f).move("g/b", "a"),
}


@pytest.mark.parametrize("call", DATA.values(), ids=[name.replace(" ", "-") for name in DATA])
def test_data_that_cannot_be_stored_replaces_nothing(
    folder: Path, call: Callable[[Path], Any]
) -> None:
    kind: Any = (TypeError, ValueError, zarr.errors.CopyError)
    with refused(folder, kind):
        call(folder)


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "open": lambda f: zarr.open(str(f), mode="w"),
    "open an array": lambda f: zarr.open(str(f), mode="w", shape=3),
    "open_array": lambda f: zarr.open_array(str(f), mode="w", shape=3),
    "open_group": lambda f: zarr.open_group(str(f), mode="w"),
    "group": lambda f: zarr.group(str(f), overwrite=True),
    "create": lambda f: zarr.create(3, store=str(f), overwrite=True),
    "save": lambda f: zarr.save(str(f), NUMBERS),
    "save a group": lambda f: zarr.save(str(f), a=NUMBERS),
}


@pytest.mark.parametrize("call", FOREIGN.values(), ids=[n.replace(" ", "-") for n in FOREIGN])
@pytest.mark.parametrize("place", ["thesis.tex", "x.zarr/g/notes.txt", "x.zarr/a/b/deep.csv"])
def test_a_folder_with_anything_else_in_it_is_not_overwritten(
    folder: Path, call: Callable[[Path], Any], place: str
) -> None:
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_text("years of work")
    target = folder if place == "thesis.tex" else folder / "x.zarr"
    with refused(folder, ValueError, Path(place).name, "not overwritten"):
        call(target)


def test_overwriting_does_not_follow_links_out_of_the_store(folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    zarr.save(str(elsewhere), NUMBERS)
    (folder / "x.zarr" / "linked").symlink_to(elsewhere)
    before = snapshot(elsewhere)
    zarr.open_group(at(folder), mode="w")
    assert snapshot(elsewhere) == before
    assert zarr.open_group(at(folder), mode="r").attrs.asdict() == {}


MISSPELT: dict[str, tuple[Callable[[Path], Any], str]] = {
    "open": (lambda f: zarr.open(at(f, "new"), mode="w", shape=3, chunk=2), "chunks"),
    "open a group": (lambda f: zarr.open(at(f, "new"), mode="w", cache_atrs=True), "cache_attrs"),
    "open_array": (lambda f: zarr.open_array(at(f, "a"), mode="r", syncronizer=1), "synchronizer"),
    "open_group": (lambda f: zarr.open_group(at(f), mode="r", chunkstore={}), "chunk_store"),
    "group": (lambda f: zarr.group(at(f), overwite=True), "overwrite"),
    "create": (lambda f: zarr.create(3, store=at(f, "new"), compresor=None), "compressor"),
    "zeros": (lambda f: zarr.zeros(3, dtyp="i4"), "dtype"),
    "full": (lambda f: zarr.full(3, 1, oder="F"), "order"),
    "array": (lambda f: zarr.array(NUMBERS, filter=[]), "filters"),
    "zeros_like": (lambda f: zarr.zeros_like(NUMBERS, chunkz=2), "chunks"),
    "save_array": (lambda f: zarr.save_array(at(f, "a"), NUMBERS, chunk=2), "chunks"),
    "create_dataset": (
        lambda f: root_group(f).create_dataset("new", shape=3, filvalue=1),
        "fillvalue",
    ),
    "require_dataset": (
        lambda f: root_group(f).require_dataset("new", shape=3, compresion="gzip"),
        "compression",
    ),
    "group.zeros": (lambda f: root_group(f).zeros("new", shape=3, chunk=1), "chunks"),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_keyword_is_an_error_that_suggests_the_right_one(
    folder: Path, name: str
) -> None:
    call, right = MISSPELT[name]
    with refused(folder, TypeError, f"did you mean {right!r}?"):
        call(folder)


def test_no_bad_input_ends_in_a_warning_instead_of_an_error(folder: Path) -> None:
    """2.18 ignored keywords it did not know, with a warning that scrolled by."""
    with warnings.catch_warnings(record=True) as caught, pytest.raises(TypeError):
        zarr.open(at(folder, "new"), mode="w", shape=3, chunk=2)
    assert [str(warning.message) for warning in caught] == []


def test_messages_name_no_line_of_our_code() -> None:
    with pytest.raises(ValueError) as caught:
        zarr.open("/no/such/place.zarr", mode="r")
    assert not re.search(r"\.(py|rs):\d+", str(caught.value))
