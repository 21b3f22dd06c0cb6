"""What a user says about a stage: where it is, how chunks are stored in it, and how many bytes."""

from __future__ import annotations

import os

from zarrix._errors import suggestion
from zarrix._runtime.sizes import parse_size

__all__ = ["Stage"]

_CODECS = ("lz4", "raw")


class Stage:
    """A folder on a local disk that keeps decoded chunks for later epochs and other runs.

    A chunk that a `Loader` needs is decoded once, and stored in a form of which only the needed
    rows are read: in blocks of about 32 KiB, each with a checksum. It is used only while the stored
    chunk that it was decoded from is unchanged. Any number of loaders and processes of one user may
    use a folder at the same time, and a kill at any moment leaves nothing wrong in it.

    Parameters
    ----------
    path : path
        An existing folder. Everything is in its folder ``zarrix-stage``, which may be removed at
        any time.
    codec : {"lz4", "raw"}
        "lz4" compresses blocks by LZ4, fast to decode; "raw" stores them as they are.
    max_bytes : int or str, optional
        How many bytes the folder may have, such as "200 GB"; half of what is free on the disk, and
        what the folder has already, when omitted. A full stage keeps what it has, except chunks of
        arrays that no running loader uses: a random order of all chunks gains nothing from
        replacing one by another.

    Raises
    ------
    ValueError
        An option is not one of those above.

    Examples
    --------
    Values that are younger than a tick of the file system's clock are staged in a later epoch.

    >>> import tempfile, time, numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> folder = tempfile.mkdtemp()
    >>> z = zarr.save_array(f"{folder}/x.zarr", np.arange(20).reshape(10, 2), chunks=(5, 2))
    >>> time.sleep(0.1)
    >>> rows = ml.Rows({"x": zarr.open_array(f"{folder}/x.zarr", mode="r")})
    >>> loader = ml.Loader(rows, 4, frozen=True, stage=ml.Stage(folder, max_bytes="1 MB"))
    >>> sum(len(batch["x"]) for batch in loader)
    10
    >>> loader.stats().staged
    10
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        codec: str = "lz4",
        max_bytes: int | str | None = None,
    ) -> None:
        if codec not in _CODECS:
            raise ValueError(
                f"codec={codec!r}; allowed are {', '.join(_CODECS)}"
                f"{suggestion(str(codec), _CODECS)}"
            )
        self.path, self.codec = os.path.abspath(os.fspath(path)), codec
        self.max_bytes = None if max_bytes is None else parse_size(max_bytes, "max_bytes")

    def __repr__(self) -> str:
        bound = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        return f"Stage({self.path!r}, codec={self.codec!r}{bound})"
