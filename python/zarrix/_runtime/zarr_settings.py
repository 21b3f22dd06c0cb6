"""Settings of zarr-python 3: what each means here.

Some have a setting of zarrix under another name. Those that would change results or documents take
one value; those about how zarr-python does its work are kept with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = [
    "DEFAULT_CODECS",
    "FIXED",
    "OF_PARTS",
    "ORDER",
    "OUR_NAMES",
    "SHARD_BYTES",
    "WITHOUT_EFFECT",
    "flat",
    "is_of_zarr",
    "refuse_or_warn",
    "zarr_names",
]

OUR_NAMES = {
    "threading.max_workers": "threads",
    "async.concurrency": "concurrent_requests",
    "array.write_empty_chunks": "write_empty_chunks",
    "array.read_missing_chunks": "read_missing_chunks",
    "array.allow_unsafe_pickle_decode": "allow_pickle",
}
# What would change results or what is stored: the one value that is in effect here, and what to do
# instead of setting another one.
FIXED: dict[str, tuple[Any, str]] = {
    "array.rectilinear_chunks": (True, "leave it out: chunks of any lengths are always allowed"),
}
# The order in memory of what is read, and in v2 of new chunks.
ORDER = "array.order"
# Bytes of a shard with ``shards="auto"``, at most; None is the choice of zarrix.
SHARD_BYTES = "array.target_shard_size_bytes"
# How zarr-python does its work, which changes no result: another value warns.
WITHOUT_EFFECT: dict[str, Any] = {
    "array.sharding_coalesce_max_bytes": 16 << 20,
    "array.sharding_coalesce_max_gap_bytes": 4 << 10,
    "async.timeout": None,
    "buffer": "zarr.buffer.cpu.Buffer",
    "codec_pipeline.batch_size": 1,
    "codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "json_indent": 2,
    "ndbuffer": "zarr.buffer.cpu.NDBuffer",
}


# Prefixes of settings that zarr-python has given up: they would change what is stored.
DEFAULT_CODECS = ("array.v2_default_", "array.v3_default_")
# Prefixes of the other settings of zarr-python, for parts of it that do not exist here.
OF_PARTS = (
    "buffer",
    "ndbuffer",
    "codecs.",
    "codec_pipeline.",
)


def is_of_zarr(key: str) -> bool:
    """Whether zarr-python has a setting of that name."""
    return key in zarr_names() or _of_part(key)


def zarr_names() -> list[str]:
    """The settings of zarr-python that are known by name."""
    return [*OUR_NAMES, *FIXED, ORDER, SHARD_BYTES, *WITHOUT_EFFECT]


def refuse_or_warn(key: str, value: Any) -> None:
    """Tell that a setting of zarr-python has no effect here, unless it is what is in effect."""
    if key == ORDER:
        if value not in ("C", "F"):
            raise ValueError(f"config {key!r} is 'C' or 'F', not {value!r}")
    elif key == SHARD_BYTES:
        if value is not None:
            # Import time: few programs set it.
            from zarrix._runtime.sizes import parse_size

            parse_size(value, key)
    elif key in FIXED:
        fixed, instead = FIXED[key]
        if value != fixed:
            raise ValueError(f"config {key!r} is {fixed!r} here and not {value!r}: {instead}")
    elif key.startswith(DEFAULT_CODECS):
        raise ValueError(
            f"config {key!r}: pass filters=, serializer= or compressors= where the array is created"
        )
    elif value != WITHOUT_EFFECT.get(key):
        # Import time: few settings warn.
        from zarrix._runtime.caller import warn_caller

        warn_caller(f"config {key!r} of zarr-python has no effect in zarrix", UserWarning)


def _of_part(key: str) -> bool:
    return any(key == one or (one[-1] in "._" and key.startswith(one)) for one in OF_PARTS)


def flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten settings that may be nested as in zarr-python to names with dots."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and not _of_part(f"{above}{name}"):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
