"""Chunk key encodings: their names for users, the stored keys, and the readers of these keys."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._errors import MetadataError
from zarrix.operate import diff, verify


class Encoding:
    """An object of zarr-python's kind."""

    def __init__(self, name: str, separator: str) -> None:
        self.name, self.separator = name, separator

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "configuration": {"separator": self.separator}}


def suffix(text: Any, base: Any = None, key: str = "base_encoding") -> dict[str, Any]:
    base = {"name": "default"} if base is None else base
    return {"name": "suffix", "configuration": {"suffix": text, key: base}}


FORMS: list[tuple[Any, str, str]] = [
    (None, "c/1/2", "c"),
    ("default", "c/1/2", "c"),
    ({"name": "default", "separator": "."}, "c.1.2", "c"),
    ({"name": "default", "configuration": {"separator": "."}}, "c.1.2", "c"),
    (("default", "."), "c.1.2", "c"),
    (Encoding("default", "."), "c.1.2", "c"),
    ("v2", "1.2", "0"),
    (("v2", "/"), "1/2", "0"),
    (Encoding("v2", "/"), "1/2", "0"),
    (suffix(".tiff"), "c/1/2.tiff", "c.tiff"),
    (suffix(".tiff", {"name": "v2"}), "1.2.tiff", "0.tiff"),
    (suffix(".shard.zip", ("v2", "/")), "1/2.shard.zip", "0.shard.zip"),
    (suffix("/data", Encoding("v2", ".")), "1.2/data", "0/data"),
    (suffix(".gz", suffix(".raw")), "c/1/2.raw.gz", "c.raw.gz"),
    (suffix("7"), "c/1/27", "c7"),
    (suffix(""), "c/1/2", "c"),
]


@pytest.mark.parametrize(("encoding", "key", "scalar"), FORMS)
def test_every_form_of_every_encoding_puts_chunks_where_it_says(
    tmp_path: Path, encoding: Any, key: str, scalar: str
) -> None:
    z = zarr.create_array(
        tmp_path / "z.zarr",
        shape=(5, 26),
        chunks=(3, 2),
        dtype="i4",
        chunk_key_encoding=encoding,
    )
    z[4, 5] = 7
    assert (tmp_path / "z.zarr" / key).is_file()
    z[...] = values = np.arange(130, dtype="i4").reshape(5, 26)
    assert z.nchunks_initialized == z.nchunks == 26
    z = zarr.open_array(tmp_path / "z.zarr")
    np.testing.assert_array_equal(z[...], values)
    report = verify(tmp_path / "z.zarr")
    assert (report.chunks, report.problems, report.strangers) == (26, [], [])
    other = zarr.array(z, store=tmp_path / "other.zarr", zarr_format=3)
    other[0, 0] = -1
    found = diff(tmp_path / "z.zarr", tmp_path / "other.zarr").differences
    assert [one.name for one in found if one.kind == "chunk"] == ["(0, 0)"]
    z.resize((3, 4))
    assert z.nchunks_initialized == 2
    assert not (tmp_path / "z.zarr" / key).exists()
    z[...] = 0
    assert z.nchunks_initialized == 0
    point = zarr.create_array(
        tmp_path / "p.zarr", shape=(), dtype="i4", chunk_key_encoding=encoding
    )
    point[...] = 3
    assert (tmp_path / "p.zarr" / scalar).is_file()
    assert point.nchunks_initialized == 1


def test_a_suffix_is_stored_as_the_registry_has_it() -> None:
    z = zarr.create_array(shape=4, dtype="i4", chunk_key_encoding=suffix(".tiff", "v2"))
    base = {"name": "v2", "configuration": {"separator": "."}}
    assert z.metadata.to_dict()["chunk_key_encoding"] == suffix(".tiff", base)


def test_the_other_spelling_of_the_base_is_read() -> None:
    z = zarr.create_array(shape=4, chunks=2, dtype="i4", chunk_key_encoding=suffix(".tiff"))
    z[...] = range(4)
    document = json.loads(z.store["zarr.json"])
    document["chunk_key_encoding"] = suffix(".tiff", key="base-encoding")
    z.store["zarr.json"] = json.dumps(document).encode()
    assert zarr.open_array(z.store)[...].tolist() == [0, 1, 2, 3]


def test_only_keys_that_end_with_the_suffix_are_chunks() -> None:
    z = zarr.create_array(shape=4, chunks=2, dtype="i4", chunk_key_encoding=suffix(".x", "v2"))
    z[...] = range(1, 5)
    for name in ("0", "1", "0.xx", ".x", "5.x", "00.x"):
        z.store[name] = b""
    assert z.nchunks_initialized == 2
    found = verify(z.store)
    assert (found.orphans, found.strangers) == (["0", "1"], [".x", "0.xx", "00.x", "5.x"])


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ({"name": "fanout"}, "'chunk_key_encoding' is 'fanout'; allowed: 'default', 'v2' and 'suf"),
        ({"name": "default", "configuration": {"separator": "-"}}, "separator' is '-'"),
        (5, "'chunk_key_encoding' is 5"),
        (suffix(None), "suffix' is None; allowed: a string"),
        (suffix("/"), "suffix' is '/'; allowed: an end of a key"),
        (suffix("/../x"), "suffix' is '/../x'"),
        (suffix("a\0"), "NUL"),
        (suffix(".partial"), "an end other than '.partial'"),
        (suffix("/a.partial/b"), "an end other than '.partial'"),
        (suffix(".x", {"name": "spiral"}), "'chunk_key_encoding' is 'spiral'"),
        ({"name": "suffix", "configuration": {"suffix": ".x"}}, "'chunk_key_encoding' is None"),
    ],
)
def test_an_encoding_that_makes_no_sense_is_refused_with_its_key(encoding: Any, words: str) -> None:
    z = zarr.create_array(shape=4, dtype="i4")
    document = json.loads(z.store["zarr.json"])
    document["chunk_key_encoding"] = encoding
    z.store["zarr.json"] = json.dumps(document).encode()
    with pytest.raises(MetadataError) as caught:
        zarr.open_array(z.store)
    assert words in str(caught.value)


def test_suffixes_of_suffixes_have_an_end() -> None:
    encoding = suffix(".x")
    for _ in range(20):
        encoding = suffix(".x", encoding)
    with pytest.raises(MetadataError, match="at most 8 suffixes"):
        zarr.create_array(shape=4, dtype="i4", chunk_key_encoding=encoding)


def test_format_2_has_only_keys_of_format_2() -> None:
    z = zarr.create_array(
        shape=(4, 4), chunks=(2, 2), dtype="i4", zarr_format=2, chunk_key_encoding=("v2", "/")
    )
    assert z.metadata.dimension_separator == "/"
    for encoding in ("default", suffix(".x", "v2")):
        with pytest.raises(ValueError, match="belongs to zarr_format=3"):
            zarr.create_array(shape=4, dtype="i4", zarr_format=2, chunk_key_encoding=encoding)
    with pytest.raises(MetadataError, match=r"chunk keys end with '\.x'"):
        zarr.migrate(
            zarr.create_array(shape=4, dtype="i4", chunk_key_encoding=suffix(".x", "v2")).store,
            to=2,
        )
