"""References to a file as a Zarr hierarchy: kerchunk's JSON, which copies no data."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from zarrix._errors import ContainsArrayError, ConversionError
from zarrix._hierarchy.copy_log import check_choice
from zarrix._hierarchy.open import open as open_node
from zarrix._runtime.new_files import whole_file
from zarrix._stores.keys import ZARRAY, key_of
from zarrix._stores.overlap import refuse_overlap
from zarrix._stores.reference.store import ReferenceStore
from zarrix.convert._encoded import key_in
from zarrix.convert._file_store import FileStore, reopened
from zarrix.convert._formats import check_known
from zarrix.convert._import import Conversion, budget_of
from zarrix.convert._new_file import refuse_below_array
from zarrix.convert._regions import count
from zarrix.convert._source import SourceArray
from zarrix.convert._verify import verify as compare

__all__ = ["virtual"]

_BUDGET = "256 MiB"


def virtual(
    source: str | os.PathLike[str],
    dest: str | os.PathLike[str],
    *,
    format: str | None = None,
    verify: Literal["none", "sample", "full"] = "sample",
    overwrite: bool = False,
    dry_run: bool = False,
    **options: Any,
) -> Conversion:
    """Write references to the chunks of a file, so that it opens as Zarr without a copy.

    The references are read, and compared with what the library of the format reads, before the file
    gets its name. A chunk that is not encoded as Zarr has it (`filter_mask` in HDF5) is in the
    references themselves, encoded anew.

    Parameters
    ----------
    source : str or Path
    dest : str or Path
        A file whose name ends in ``.json``; `zarrix.open`, kerchunk and fsspec read it.
    format : str, optional
        What the name of the file says if omitted.
    verify : {'none', 'sample', 'full'}
        What is compared: 1 % of the regions of each array and at least 8, or all.
    overwrite, dry_run : bool
    **options
        Of the format.

    Returns
    -------
    Conversion

    Raises
    ------
    ConversionError
        An array has bytes that are not chunks of Zarr, such as a TIFF with a predictor; or the
        source has changed while it was read.
    ContainsArrayError
        ``dest`` exists, or lies among the chunks of an array.
    OverlapError
        ``dest`` is a file of the source, or lies in a folder that is the source.
    ValueError
        ``verify`` is something else.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix.convert import virtual
    >>> np.save("x.npy", np.arange(6).reshape(2, 3))
    >>> made = virtual("x.npy", "x.json")
    >>> zarr.open("x.json", mode="r")[1]
    array([3, 4, 5])
    """
    check_known(options, "virtual")
    check_choice("verify", verify, ("none", "sample", "full"))
    target = Path(dest)
    if target.suffix != ".json":
        raise ConversionError(f"{target} is a file of references, whose name ends in .json")
    store = reopened(os.fspath(source), format, options)
    try:
        refuse_overlap("import", target, [seen[0] for seen in store.source.identity])
        refuse_below_array(target)
        if target.exists() and not overwrite:
            raise ContainsArrayError(
                f"{target} exists; replace it with overwrite=True (--overwrite)"
            )
        result = Conversion(store.source.name, str(target), dry_run=dry_run)
        result.left_out += store.source.left_out
        result.notes += [*store.source.notes, *store.source.left_out]
        document = {"version": 1, "refs": _references(store, result)}
        if not dry_run:
            if verify != "none":
                _verify(store, document, everything=verify == "full")
            store.source.check()
            with whole_file(target, overwrite=overwrite) as written:
                written.write(json.dumps(document).encode())
            result.stored_bytes = target.stat().st_size
    finally:
        store.close()
    return result


def _references(store: FileStore, result: Conversion) -> dict[str, Any]:
    """The documents of all nodes, and where each chunk is."""
    # Chunks that are missing have no references, and so need the fill value that they read as.
    documents = FileStore(store.source).documents
    refs: dict[str, Any] = {key: value.decode() for key, value in documents.items()}
    for name, (array, one) in store._arrays.items():
        if not _lacks_chunks(one):
            key = key_of(name, ZARRAY)
            refs[key] = store.documents[key].decode()
        if one.encoded is None and one.nbytes:
            raise ConversionError(
                f"{store.source.name}: {name or 'the array'} has no references, because "
                f"{one.why_decoded}; import it"
            )
        result.nbytes += one.nbytes
        result.arrays[name] = {
            "shape": one.shape, "dtype": str(one.dtype), "chunks": array.chunks,
            "how": "referenced",
        }  # fmt: skip
        if one.encoded is not None:
            file = os.fspath(one.encoded.file.path.absolute())
            for part in one.encoded.parts():
                value: Any = [file, part.offset, part.length]
                if part.value is not None:
                    value = f"base64:{base64.b64encode(part.value).decode()}"
                refs[key_in(array, part.coords)] = value
    return refs


def _verify(store: FileStore, document: Mapping[str, Any], *, everything: bool) -> None:
    references = ReferenceStore(document)
    for name, (_, one) in store._arrays.items():
        array = open_node(references, mode="r", path=name)
        shown, budget = name or "the array", budget_of(_BUDGET)
        compare(shown, array, one, lambda values: values, budget, everything=everything)


def _lacks_chunks(source_array: SourceArray) -> bool:
    if source_array.stored is None:
        return False
    return len([*source_array.stored()]) < count(source_array.shape, source_array.extent)


virtual.__module__ = "zarrix.convert"
