"""Errors for codecs of numcodecs that would lose elements.

This is checked when an array is created, never when one is opened: an existing array is read as its
writer reads it. Losing values silently is an error with a way out in a new array.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zarrix._codecs.bound import UINT8, Config, DType
from zarrix._codecs.domains import Fault
from zarrix._codecs.native import dtype_after
from zarrix._codecs.table import BY_ID, BY_NAME
from zarrix._dtypes.variable import data_type_name, is_variable
from zarrix._errors import BadCompressorError

__all__ = ["check_domains"]


def check_domains(codecs: Iterable[Config], dtype: DType) -> None:
    """Raise an error if a codec of numcodecs in the chain would lose elements.

    Parameters
    ----------
    codecs : iterable of dict
        The chain of a new array of either format.
    dtype : dtype
        Data type of the array.

    Raises
    ------
    BadCompressorError
        The message names the codec, its input data type, and the way out.
    """
    varies = is_variable(dtype)
    has_size = not varies
    for codec in codecs:
        name, configuration = codec["name"], codec.get("configuration", {})
        codec_id = name.removeprefix("numcodecs.")
        domain = BY_ID[codec_id].domain if codec_id in BY_ID else None
        if name == "sharding_indexed":
            check_domains(configuration["codecs"], dtype)
            return
        if varies:
            if domain is not None:
                _check_objects(codec_id, configuration, dtype)
            if name not in ("transpose", "bytes"):
                dtype, varies = UINT8, False
            continue
        if name in ("transpose", "bytes"):
            continue
        of_numcodecs = name.startswith("numcodecs.")
        fault = domain(configuration, dtype, has_size) if of_numcodecs and domain else None
        if fault is not None:
            raise _refused(codec_id, fault, str(dtype))
        known = of_numcodecs or (name in BY_NAME and BY_NAME[name].bind is not None)
        dtype = dtype_after(codec, dtype) if known else UINT8


def _check_objects(codec_id: str, config: Config, dtype: DType) -> None:
    """Among the typed filters, only categorize is also for variable-length elements: text, as
    objects.
    """
    word = data_type_name(dtype) or "object"
    if codec_id != "categorize":
        raise _refused(codec_id, ("fixed-size elements", "leave it out"), word)
    if np.dtype(config["dtype"]) != object:
        fault = (f"elements of data type {config['dtype']}", "pass it dtype=object")
        raise _refused(codec_id, fault, word)


def _refused(codec_id: str, fault: Fault, dtype: str) -> BadCompressorError:
    keeps, instead = fault
    return BadCompressorError(
        f"codec {codec_id!r} preserves {keeps}, and would lose elements of data type "
        f"{dtype}, its input; {instead}"
    )
