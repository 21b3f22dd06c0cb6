"""The table of codecs agrees with the engine, the classes and the doors."""

import json

import pytest
import zarrix as zarr
from zarrix import _engine, codecs
from zarrix._codecs import numcodecs_names
from zarrix._codecs.blosc import SHUFFLES
from zarrix._codecs.classes import CODEC_CLASSES
from zarrix._codecs.objects import OBJECT_CODECS
from zarrix._codecs.table import BY_ID, BY_NAME, CODECS, REGISTERED
from zarrix.codecs import numcodecs


def test_names_ids_and_classes_are_those_of_one_codec() -> None:
    for field in ("name", "codec_id", "cls", "numcodecs_cls"):
        given = [getattr(row, field) for row in CODECS if getattr(row, field)]
        assert sorted(set(given)) == sorted(given)
    assert all(row.name or row.codec_id for row in CODECS)


@pytest.mark.parametrize("name", CODEC_CLASSES)
def test_a_class_has_the_name_of_its_row_and_is_public(name: str) -> None:
    kind = CODEC_CLASSES[name]
    assert kind.name == name
    assert getattr(codecs, REGISTERED[name].cls) is kind


@pytest.mark.parametrize("name", numcodecs.__all__)
def test_each_codec_of_numcodecs_with_a_class_has_a_row(name: str) -> None:
    assert BY_ID[getattr(numcodecs, name).codec_id].numcodecs_cls == name


@pytest.mark.parametrize("codec_id", [row.codec_id for row in CODECS if row.bind_numcodecs])
def test_the_engine_knows_the_name_of_each_native_codec(codec_id: str) -> None:
    name = BY_ID[codec_id].native or f"numcodecs.{codec_id}"
    assert "not a native codec" not in (_engine.codec_fault(name, json.dumps({}), 4) or "")


def test_an_unknown_name_is_what_that_test_would_see() -> None:
    assert "not a native codec" in str(_engine.codec_fault("numcodecs.none_such", "{}", 4))


def test_ids_outside_of_the_table_are_codecs_of_objects() -> None:
    names = [name for name in numcodecs_names.__all__ if name[0].isupper()]
    known = {getattr(numcodecs_names, name).codec_id for name in names}
    assert known - BY_ID.keys() <= set(OBJECT_CODECS)


def test_every_name_in_documents_is_a_row_or_an_old_name() -> None:
    assert {name for name in BY_NAME if "." not in name} - REGISTERED.keys() == {"endian"}


def test_shuffles_have_the_numbers_of_numcodecs() -> None:
    blosc = zarr.Blosc
    assert [getattr(blosc, name.upper()) for name in SHUFFLES] == [0, 1, 2]
