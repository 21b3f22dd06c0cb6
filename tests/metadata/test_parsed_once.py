"""An equal document is parsed once, and never where the result could be another one."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
import zarrix as zarr
from zarrix._array.access import metadata_of
from zarrix._metadata import v3
from zarrix.errors import MetadataError


def document() -> bytes:
    z = zarr.create_array({}, shape=(40, 40), chunks=(20, 20), dtype="f8")
    return bytes(z.store["zarr.json"])


def test_the_result_has_the_label_of_the_call() -> None:
    text = document()
    assert v3.parse_array(text, "a").where == "a"
    assert v3.parse_array(text, "b").where == "b"
    assert v3.parse_array(text).where == "zarr.json"


def test_limits_that_are_lowered_later_hold() -> None:
    text = document()
    v3.parse_array(text)
    with zarr.config(max_chunk_bytes=1000), pytest.raises(MetadataError, match="max_chunk_bytes"):
        v3.parse_array(text)
    with zarr.config(max_document_bytes=100), pytest.raises(MetadataError, match="bytes"):
        v3.parse_array(text)
    v3.parse_array(text)


def test_arrays_with_equal_documents_do_not_share_their_changes() -> None:
    a, b = (zarr.create_array({}, shape=4, dtype="i4", attributes={"n": 1}) for _ in range(2))
    a.resize(8)
    a.attrs["n"] = 2
    a.metadata.attributes["n"] = 3
    assert (b.shape, dict(b.attrs), metadata_of(b).attributes) == ((4,), {"n": 1}, {"n": 1})
    c = zarr.create_array({}, shape=4, dtype="i4", attributes={"n": 1})
    assert (c.shape, dict(c.attrs)) == ((4,), {"n": 1})


def test_a_document_that_was_written_is_not_that_of_changed_metadata() -> None:
    metadata = v3.parse_array(document())
    first = v3.array_document(metadata)
    assert json.loads(first) == json.loads(document())
    assert v3.array_document(metadata) is first
    assert v3.array_document(metadata.at("a copy of it")) is first
    longer = json.loads(v3.array_document(metadata.with_shape((80, 40))))
    assert longer == {**json.loads(first), "shape": [80, 40]}
    filled = json.loads(v3.array_document(replace(metadata, fill_value=np.float64(7))))
    assert filled == {**json.loads(first), "fill_value": 7.0}
    assert v3.array_document(pickle.loads(pickle.dumps(metadata))) == first
    assert first not in pickle.dumps(metadata)
