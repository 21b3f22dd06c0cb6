"""The ``.zarray`` of zarr 2.18, without the members that TensorStore does not read."""

import base64
import json
from typing import Any


def as_written(document: str | bytes) -> str:
    """A ``.zarray`` of zarr 2.18 with full bytes as fill value, and no ``"checksum": false``."""
    members = json.loads(document)
    dtype, fill = members["dtype"], members["fill_value"]
    if isinstance(dtype, str) and dtype[1] == "S" and isinstance(fill, str):
        whole = base64.standard_b64decode(fill).ljust(int(dtype[2:]), b"\0")
        members["fill_value"] = base64.standard_b64encode(whole).decode()
    for codec in (members["compressor"], *(members["filters"] or ())):
        _without_checksum(codec or {})
    return json.dumps(members, indent=4, sort_keys=True, separators=(",", ": "))


def _without_checksum(codec: dict[str, Any]) -> None:
    if codec.get("id") == "zstd" and codec.get("checksum") is False:
        del codec["checksum"]
