"""The errors of zarrix, under the module name of zarr-python.

Classes of zarr-python 3 that zarrix does not distinguish are aliases.
"""

from zarrix._errors import (
    ArrayIndexError,
    ArrayNotFoundError,
    ArrayReplacedError,
    BadCompressorError,
    BoundsCheckError,
    BrokenMemberWarning,
    CallCancelledError,
    ChunkNotFoundError,
    CodecError,
    ContainsArrayError,
    ContainsGroupError,
    ConversionError,
    CopyError,
    CorruptChunkError,
    CorruptStoreError,
    DataTypeError,
    FSPathExistNotDir,
    GroupNotFoundError,
    InvalidKeyError,
    JobError,
    JobFailed,
    JobInterrupted,
    JSONDecodeError,
    LabelError,
    LockWaitWarning,
    LostUpdateWarning,
    MemberNotFoundError,
    MetadataError,
    NegativeStepError,
    OptionError,
    OverlapError,
    PathNotFoundError,
    ReadOnlyError,
    SelectionError,
    SourceChangedError,
    StaleMetadataWarning,
    StateError,
    StoreBusyError,
    UnknownCodecError,
    VindexInvalidSelectionError,
    WriterError,
    ZarrixError,
)

BaseZarrError = ZarrixError
ContainsArrayAndGroupError = ContainsArrayError
DataTypeValidationError = MetadataError
MetadataValidationError = MetadataError
NodeNotFoundError = PathNotFoundError
NodeTypeValidationError = MetadataError
PickleCodecDisabledError = MetadataError
UnstableSpecificationWarning = FutureWarning
ZarrDeprecationWarning = DeprecationWarning
ZarrFutureWarning = FutureWarning
ZarrRuntimeWarning = RuntimeWarning
ZarrUserWarning = UserWarning

__all__ = [
    "ArrayIndexError",
    "ArrayNotFoundError",
    "ArrayReplacedError",
    "BadCompressorError",
    "BaseZarrError",
    "BoundsCheckError",
    "BrokenMemberWarning",
    "CallCancelledError",
    "ChunkNotFoundError",
    "CodecError",
    "ContainsArrayAndGroupError",
    "ContainsArrayError",
    "ContainsGroupError",
    "ConversionError",
    "CopyError",
    "CorruptChunkError",
    "CorruptStoreError",
    "DataTypeError",
    "DataTypeValidationError",
    "FSPathExistNotDir",
    "GroupNotFoundError",
    "InvalidKeyError",
    "JSONDecodeError",
    "LockWaitWarning",
    "MemberNotFoundError",
    "LostUpdateWarning",
    "MetadataError",
    "MetadataValidationError",
    "NegativeStepError",
    "NodeNotFoundError",
    "NodeTypeValidationError",
    "PathNotFoundError",
    "PickleCodecDisabledError",
    "ReadOnlyError",
    "SelectionError",
    "LabelError",
    "StoreBusyError",
    "UnknownCodecError",
    "StaleMetadataWarning",
    "UnstableSpecificationWarning",
    "VindexInvalidSelectionError",
    "WriterError",
    "StateError",
    "JobError",
    "OptionError",
    "OverlapError",
    "JobFailed",
    "JobInterrupted",
    "SourceChangedError",
    "ZarrDeprecationWarning",
    "ZarrFutureWarning",
    "ZarrRuntimeWarning",
    "ZarrUserWarning",
    "ZarrixError",
]
