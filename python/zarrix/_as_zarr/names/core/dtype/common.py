"""Names of ``zarr.core.dtype.common``: the warning that programs filter, and types."""

__all__ = ["ENDIANNESS_STR", "SPECIAL_FLOAT_STRINGS", "UnstableSpecificationWarning"]

ENDIANNESS_STR = ("little", "big")
SPECIAL_FLOAT_STRINGS = ("NaN", "Infinity", "-Infinity")


class UnstableSpecificationWarning(FutureWarning):
    """A data type has no specification in v3; zarrix does not warn of it."""
