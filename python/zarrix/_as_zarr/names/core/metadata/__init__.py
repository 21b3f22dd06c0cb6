"""Names of ``zarr.core.metadata`` that zarrix lacks: documents, for annotations."""

from typing import Any

__all__ = ["ArrayMetadataDict", "ArrayMetadataJSON_V3", "ArrayV2MetadataDict"]

ArrayMetadataDict = ArrayMetadataJSON_V3 = ArrayV2MetadataDict = dict[str, Any]
