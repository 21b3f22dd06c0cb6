"""Documents that other programs wrote: drafts of the specification, other spellings, mistakes."""

from __future__ import annotations

import builtins
import json
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix._array.access import metadata_of
from zarrix.codecs import TransposeCodec
from zarrix.core.group import ConsolidatedMetadata
from zarrix.errors import MetadataError

ROWS = np.arange(24, dtype="i4").reshape(4, 6)


def document_of(store: Any) -> Any:
    return json.loads(bytes(store.get(".zarray") or store["zarr.json"]))


def with_codecs(change: Any, **keywords: Any) -> dict[str, bytes]:
    """A v3 array whose document says something else about its codecs."""
    store: dict[str, bytes] = {}
    made = zarr.create_array(store, data=ROWS, chunks=(2, 3), compressors=None, **keywords)
    document = document_of(made.store)
    document["codecs"] = change(document["codecs"])
    store["zarr.json"] = json.dumps(document).encode()
    return store


@pytest.mark.parametrize(
    "codecs",
    [
        [{"name": "zstd", "configuration": {"level": 0, "checksum": False}}],
        [{"name": "transpose", "configuration": {"order": [1, 0]}}],
        [{"name": "crc32c"}],
    ],
)
def test_a_chain_that_gives_no_bytes_is_named_with_its_key(codecs: Any) -> None:
    store = with_codecs(lambda _: codecs)
    for call in (zarr.open, zarr.open_array, lambda place: zarr.migrate(place, to=2)):
        with pytest.raises(MetadataError, match=r"zarr.json: key 'codecs' has .*'bytes'"):
            call(store)
    zarr.save_group(group := {}, a=ROWS)
    zarr.migrate(group, to=3)
    group["a/zarr.json"] = store["zarr.json"]
    report = zarr.migrate(group, to=2, dry_run=True)
    assert "key 'codecs' has no codec that turns the array into bytes" in report.obstacles["a"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_order_of_axes_in_the_words_of_a_draft_is_read_shown_and_copied(order: str) -> None:
    axes = [1, 0] if order == "F" else [0, 1]

    def named(codecs: Any) -> Any:
        return [{"name": "transpose", "configuration": {"order": order}}, *codecs[-1:]]

    store = with_codecs(named, filters=[TransposeCodec(order=axes)])
    z = zarr.open_array(store, mode="r")
    assert z[...].tolist() == ROWS.tolist()
    assert z.filters[0].to_dict()["configuration"] == {"order": order}
    assert "transpose" in repr(z.info) or order in repr(z.info)
    group = zarr.create_group({})
    zarr.copy(z, group, name="x")
    for made in (group["x"], zarr.empty_like(z), zarr.from_array({}, data=z)):
        assert made.filters[0].order == tuple(axes)
    assert group["x"][...].tolist() == ROWS.tolist()


TEXT = ["a", "bb", "", "ü"]


@pytest.mark.parametrize(
    ("dtype", "values", "data_type", "fill"),
    [
        (str, TEXT, "string", None),
        (str, TEXT, "string", ""),
        (str, TEXT, "string", "none"),
        (bytes, [b"a", b"", b"ccc"], "variable_length_bytes", None),
        (bytes, [b"a", b"", b"ccc"], "variable_length_bytes", b"none"),
    ],
)
def test_text_of_format_2_is_copied_to_the_data_type_of_format_3(
    dtype: type, values: list[Any], data_type: str, fill: Any
) -> None:
    group = zarr.group()
    z = group.create_dataset("t", shape=len(values), chunks=2, dtype=dtype, fill_value=fill)
    z[...] = np.array(values, object)
    copied, filled = zarr.create_group({}), zarr.create_group({})
    zarr.copy(z, copied, name="t")
    zarr.copy_all(group, filled)
    made = [
        copied["t"],
        filled["t"],
        zarr.from_array({}, data=z, zarr_format=3),
        zarr.create_group({}).create_array("x", data=z),
        zarr.create_array({}, data=z),
    ]
    for one in made:
        assert one.zarr_format == 3
        assert one.metadata.to_dict()["data_type"] == data_type
        assert one[...].tolist() == values
    empty = zarr.empty_like(z, zarr_format=3)
    assert (empty.dtype, empty.shape) == (copied["t"].dtype, z.shape)
    assert copied["t"].fill_value == (fill or dtype())
    back = zarr.group()
    zarr.copy(copied["t"], back, name="t")
    assert back["t"][...].tolist() == values


def pcodec_array(**changes: Any) -> dict[str, bytes]:
    """A v2 array with pcodec, as numcodecs writes it."""
    store: dict[str, bytes] = {}
    config = {"id": "pcodec", "level": 8, "mode_spec": "auto", "delta_spec": "auto"}
    z = zarr.create(ROWS.shape, chunks=(2, 3), dtype="i4", compressor=config, store=store)
    z[...] = ROWS
    document = document_of(store)
    document["compressor"].update(changes)
    store[".zarray"] = json.dumps(document).encode()
    return store


@pytest.fixture
def no_pcodec(monkeypatch: pytest.MonkeyPatch) -> None:
    """A numcodecs without the package that its pcodec needs."""
    monkeypatch.delitem(numcodecs.registry.codec_registry, "pcodec", raising=False)
    monkeypatch.delitem(numcodecs.registry.entries, "pcodec", raising=False)
    real = builtins.__import__

    def without(name: str, *args: Any, **keywords: Any) -> Any:
        if name.partition(".")[0] == "pcodec":
            raise ImportError(name)
        return real(name, *args, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)


@pytest.mark.usefixtures("no_pcodec")
@pytest.mark.parametrize("changes", [{}, {"delta_spec": "no_op"}, {"delta_spec": "none"}])
def test_pcodec_needs_no_other_package(changes: dict[str, Any]) -> None:
    """Where numcodecs has none; 0.17 spells "none" as "no_op"."""
    store = pcodec_array(**changes)
    z = zarr.open_array(store, mode="r+")
    assert metadata_of(z).foreign_codecs == ()
    assert z[...].tolist() == ROWS.tolist()
    z[0, 0] = 5
    assert z[0, 0] == 5
    assert "pcodec" in repr(z.info)
    assert z.compressor.get_config()["id"] == "pcodec"
    alike = zarr.empty_like(z)
    alike[...] = ROWS
    assert alike[...].tolist() == ROWS.tolist()


@pytest.mark.parametrize("changes", [{}, {"delta_spec": "no_op"}])
def test_pcodec_migrates_to_format_3_and_back(changes: dict[str, Any]) -> None:
    store = pcodec_array(**changes)
    zarr.migrate(store, to=3)
    assert document_of(store)["codecs"][0]["name"] == "numcodecs.pcodec"
    assert zarr.open(store)[...].tolist() == ROWS.tolist()
    zarr.migrate(store, to=2)
    assert document_of(store)["compressor"]["id"] == "pcodec"
    assert zarr.open(store)[...].tolist() == ROWS.tolist()


@pytest.mark.parametrize(("shape", "chunks"), [([0], [0]), ([0, 4], [0, 2]), ([4, 0], [2, 0])])
def test_chunks_without_length_on_an_empty_axis_become_chunks_of_one(
    shape: Any, chunks: Any
) -> None:
    """As zarr-python 3 wrote, and reads, an array without elements."""
    store: dict[str, bytes] = {}
    zarr.create_array(store, shape=shape, chunks=[max(1, one) for one in chunks], dtype="i4")
    document = document_of(store)
    document["chunk_grid"]["configuration"]["chunk_shape"] = chunks
    store["zarr.json"] = json.dumps(document).encode()
    z = zarr.open_array(store)
    expected = tuple(max(1, one) for one in chunks)
    assert (z.chunks, z[...].shape) == (expected, tuple(shape))
    z.resize(tuple(max(4, one) for one in shape))
    # Readers that take 0 as it is would find no chunk.
    assert document_of(store)["chunk_grid"]["configuration"]["chunk_shape"] == [*expected]
    z[...] = 7
    assert (zarr.open_array(store)[...] == 7).all()


@pytest.mark.parametrize(
    ("shape", "chunks"), [([3], [0]), ([0], [False]), ([0], [-1]), ([0], [0.0])]
)
def test_other_chunks_without_length_are_refused(shape: Any, chunks: Any) -> None:
    store: dict[str, bytes] = {}
    zarr.create_array(store, shape=shape, chunks=1, dtype="i4")
    document = document_of(store)
    document["chunk_grid"]["configuration"]["chunk_shape"] = chunks
    store["zarr.json"] = json.dumps(document).encode()
    with pytest.raises(MetadataError, match="chunk_shape"):
        zarr.open_array(store)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_metadata_whose_fill_value_is_not_a_number_is_equal(zarr_format: Any) -> None:
    def made(fill_value: Any, dtype: Any = "f8") -> Any:
        options = {"shape": 8, "chunks": 8, "dtype": dtype, "zarr_format": zarr_format}
        return zarr.create(store={}, fill_value=fill_value, **options).metadata

    assert made(np.nan) == made(np.nan)
    assert hash(made(np.nan)) == hash(made(np.nan))
    assert len({made(np.nan), made(np.nan), made(1.0)}) == 2
    assert made(np.nan) != made(0.0)
    assert made(0.0) != made(-0.0)
    assert made(1.0) == made(1.0) != made(1.0, "f4")
    assert made(np.nan) != object()
    assert made("NaT", "M8[s]") == made("NaT", "M8[s]")
    assert made("a", str) == made("a", str) != made("b", str)


@pytest.mark.parametrize("member", [[1, 2], "text", 3])
def test_a_consolidated_member_that_is_not_a_document_is_named(member: Any) -> None:
    store: dict[str, bytes] = {}
    zarr.create_group(store, zarr_format=3)
    document = document_of(store)
    inside = {"kind": "inline", "must_understand": False, "metadata": {"foo": member}}
    with pytest.raises(MetadataError, match="foo"):
        ConsolidatedMetadata.from_dict(inside)
    store["zarr.json"] = json.dumps({**document, "consolidated_metadata": inside}).encode()
    with pytest.raises(MetadataError, match="foo"):
        zarr.open_group(store).metadata  # noqa: B018


def test_consolidated_metadata_is_made_of_what_its_document_has() -> None:
    z = zarr.create(3, zarr_format=3)
    made = ConsolidatedMetadata(kind="inline", must_understand=False, metadata={"a": z.metadata})
    assert made == ConsolidatedMetadata({"a": z.metadata})
    assert ConsolidatedMetadata.from_dict(made.to_dict()) == made
