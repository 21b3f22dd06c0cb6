"""References to a file as a Zarr hierarchy: kerchunk's JSON, which copies no data."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from zarrix._errors import ContainsArrayError, ConversionError
from zarrix._runtime.new_files import whole_file
from zarrix._stores.keys import ZARRAY, key_of
from zarrix.convert._encoded import key_in
from zarrix.convert._file_store import FileStore, reopened
from zarrix.convert._formats import check_known
from zarrix.convert._import import Conversion
from zarrix.convert._regions import count
from zarrix.convert._source import SourceArray

__all__ = ["virtual"]


def virtual(
    source: str | os.PathLike[str],
    dest: str | os.PathLike[str],
    *,
    format: str | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    **options: Any,
) -> Conversion:
    """Write references to the chunks of a file, so that it opens as Zarr without a copy.

    A chunk that is not encoded as Zarr has it (`filter_mask` in HDF5) is in the references
    themselves, encoded anew.

    Parameters
    ----------
    source : str or Path
    dest : str or Path
        A file whose name ends in ``.json``; `zarrix.open`, kerchunk and fsspec read it.
    format : str, optional
        What the name of the file says if omitted.
    overwrite, dry_run : bool
    **options
        Of the format.

    Returns
    -------
    Conversion

    Raises
    ------
    ConversionError
        An array has bytes that are not chunks of Zarr, such as a TIFF with a predictor.
    ContainsArrayError
        ``dest`` exists.

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
    target = Path(dest)
    if target.suffix != ".json":
        raise ConversionError(f"{target} is a file of references, whose name ends in .json")
    if target.exists() and not overwrite:
        raise ContainsArrayError(f"{target} exists; replace it with overwrite=True (--overwrite)")
    store = reopened(os.fspath(source), format, options)
    try:
        result = Conversion(store.source.name, str(target), dry_run=dry_run)
        result.left_out += store.source.left_out
        result.notes += [*store.source.notes, *store.source.left_out]
        # Chunks that are missing have no references, and so need the fill value that they read as.
        documents = FileStore(store.source).documents
        refs: dict[str, Any] = {key: value.decode() for key, value in documents.items()}
        for name, (_, one) in store._arrays.items():
            if not _lacks_chunks(one):
                key = key_of(name, ZARRAY)
                refs[key] = store.documents[key].decode()
        for name, (array, one) in store._arrays.items():
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
        if not dry_run:
            with whole_file(target, overwrite=overwrite) as written:
                written.write(json.dumps({"version": 1, "refs": refs}).encode())
            result.stored_bytes = target.stat().st_size
    finally:
        store.close()
    return result


def _lacks_chunks(one: SourceArray) -> bool:
    if one.stored is None:
        return False
    return len([*one.stored()]) < count(one.shape, one.extent)


virtual.__module__ = "zarrix.convert"
