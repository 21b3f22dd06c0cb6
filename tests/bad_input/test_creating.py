"""Creating over what is there, and keywords that are misspelt."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

from bad_input.refusing import NUMBERS, at, refused, root_group, snapshot

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
