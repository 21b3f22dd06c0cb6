"""Every error that zarrix raises on purpose, in one tree.

Each class is also the builtin that callers catch, so that code written for zarr 2.18, for ``dict``
or for ``open`` keeps its ``except`` clauses. Every class takes one message. The name in the last
column is the stable ``kind`` of the class, for programs that must not parse messages.

    ZarrixError(Exception)                                          error
        MetadataError(ValueError)                                   metadata
            JSONDecodeError(JSONDecodeError)                        not-json
        UnknownCodecError(ValueError)                               unknown-codec
        BadCompressorError(ValueError)                              bad-compressor
        CodecError(ValueError, RuntimeError)                        codec
        CorruptChunkError(ValueError, RuntimeError)                 corrupt-chunk
        LossyWriteError(ValueError)                                 lossy-write
        CorruptStoreError(ValueError, RuntimeError)                 corrupt-store
        ChunkNotFoundError(ValueError)                              chunk-not-found
        InvalidKeyError(ValueError, KeyError)                       invalid-key
        ContainsArrayError(FileExistsError, ValueError, TypeError)  contains-array
        ContainsGroupError(FileExistsError, ValueError, TypeError)  contains-group
        PathNotFoundError(FileNotFoundError, KeyError, ValueError)  path-not-found
            ArrayNotFoundError                                      array-not-found
                ArrayReplacedError                                  array-replaced
                    ChunksMovedError                                chunks-moved
            GroupNotFoundError                                      group-not-found
                FSPathExistNotDir(NotADirectoryError)               not-a-directory
        MemberNotFoundError(KeyError)                               member-not-found
        VersionNotFoundError(FileNotFoundError, KeyError)           version-not-found
        VersionExistsError(FileExistsError)                         version-exists
        VersionLostError(OSError)                                   version-lost
        ReadOnlyError(PermissionError, ValueError)                  read-only
        StoreBusyError(BlockingIOError)                             store-busy
        CopyError(RuntimeError)                                     copy
        ConversionError(ValueError)                                 conversion
            OptionError(TypeError)                                  option
        WriterError(RuntimeError)                                   writer
        StateError(ValueError)                                      state
        JobError(RuntimeError)                                      job
            JobFailed                                               job-failed
            JobInterrupted                                          job-interrupted
            SourceChangedError                                      source-changed
            OverlapError(CopyError, ConversionError)                overlap
        CommitConflictError(RuntimeError)                           commit-conflict
        CommitBusyError(TimeoutError)                               commit-busy
        CommitLostError(RuntimeError)                               commit-lost
        CommitVisibleError(RuntimeError)                            commit-visible
        NotAtomicError(ValueError)                                  not-atomic
        AppendError(ValueError)                                     append
        CallCancelledError(RuntimeError)                            call-cancelled
        SelectionError(ValueError)                                  selection
        VirtualError(ValueError)                                    virtual
            PieceChangedError                                       piece-changed
        PieceNotFoundError(FileNotFoundError)                       piece-not-found
        DownloadLimitError(OSError)                                 download-limit
        LabelError(KeyError, ValueError)                            label
        DataTypeError(TypeError)                                    data-type
        ArrayIndexError(IndexError)                                 array-index
            BoundsCheckError                                        out-of-bounds
            NegativeStepError                                       negative-step
            VindexInvalidSelectionError                             invalid-vindex

The engine raises by name from this module, with the message as the only argument.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterable
from typing import ClassVar

__all__ = [
    "ZarrixError",
    "MetadataError",
    "JSONDecodeError",
    "UnknownCodecError",
    "BadCompressorError",
    "CodecError",
    "CorruptChunkError",
    "LossyWriteError",
    "CorruptStoreError",
    "ChunkNotFoundError",
    "InvalidKeyError",
    "ContainsArrayError",
    "ContainsGroupError",
    "PathNotFoundError",
    "ArrayNotFoundError",
    "ArrayReplacedError",
    "ChunksMovedError",
    "GroupNotFoundError",
    "FSPathExistNotDir",
    "MemberNotFoundError",
    "VersionNotFoundError",
    "VersionExistsError",
    "VersionLostError",
    "ReadOnlyError",
    "StoreBusyError",
    "CopyError",
    "ConversionError",
    "OptionError",
    "WriterError",
    "StateError",
    "JobError",
    "JobFailed",
    "JobInterrupted",
    "SourceChangedError",
    "OverlapError",
    "CommitConflictError",
    "CommitBusyError",
    "CommitLostError",
    "CommitVisibleError",
    "NotAtomicError",
    "AppendError",
    "CallCancelledError",
    "SelectionError",
    "VirtualError",
    "PieceChangedError",
    "PieceNotFoundError",
    "DownloadLimitError",
    "LabelError",
    "DataTypeError",
    "ArrayIndexError",
    "BoundsCheckError",
    "NegativeStepError",
    "VindexInvalidSelectionError",
]


class ZarrixError(Exception):
    """Base class: ``except ZarrixError`` catches everything that zarrix raises on purpose."""

    kind: ClassVar[str] = "error"

    def __str__(self) -> str:
        # KeyError prints the repr of its argument; the message should print as a sentence.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class MetadataError(ZarrixError, ValueError):
    """A metadata document, or the arguments for one, cannot describe an array or group."""

    kind = "metadata"


class JSONDecodeError(MetadataError, json.JSONDecodeError):
    """A metadata document is not JSON; ``doc``, ``pos``, ``lineno`` and ``colno`` say where."""

    kind = "not-json"

    def __init__(self, message: str, doc: str = "", pos: int = 0) -> None:
        super().__init__(message, doc, pos)
        # JSONDecodeError adds the place to the message, which names it already.
        self.args = (message,)


class UnknownCodecError(ZarrixError, ValueError):
    """Neither the engine nor the numcodecs registry has the codec."""

    kind = "unknown-codec"


class BadCompressorError(ZarrixError, ValueError):
    """A compressor or filter is not a codec, or is not defined for the elements."""

    kind = "bad-compressor"


class CodecError(ZarrixError, ValueError, RuntimeError):
    """A codec could not encode a chunk."""

    kind = "codec"


class CorruptChunkError(ZarrixError, ValueError, RuntimeError):
    """The stored bytes of a chunk do not decode to what the metadata declares."""

    kind = "corrupt-chunk"


class LossyWriteError(ZarrixError, ValueError):
    """A write of a part of a chunk would change its other elements, because its codec is lossy."""

    kind = "lossy-write"


class CorruptStoreError(ZarrixError, ValueError, RuntimeError):
    """The file with a store's values, such as a zip archive, is damaged or of another kind."""

    kind = "corrupt-store"


class ChunkNotFoundError(ZarrixError, ValueError):
    """A chunk is missing, and the array was opened with ``read_missing_chunks`` off."""

    kind = "chunk-not-found"


class InvalidKeyError(ZarrixError, ValueError, KeyError):
    """No store accepts the key or path: ``..``, absolute, empty names, NUL."""

    kind = "invalid-key"


class ContainsArrayError(ZarrixError, FileExistsError, ValueError, TypeError):
    """An array already exists at the path of a new node."""

    kind = "contains-array"


class ContainsGroupError(ZarrixError, FileExistsError, ValueError, TypeError):
    """A group already exists at the path of a new node."""

    kind = "contains-group"


class PathNotFoundError(ZarrixError, FileNotFoundError, KeyError, ValueError):
    """Neither an array nor a group exists at a path."""

    kind = "path-not-found"


class ArrayNotFoundError(PathNotFoundError):
    """No array exists at a path."""

    kind = "array-not-found"


class ArrayReplacedError(ArrayNotFoundError):
    """Another array has replaced the one that was opened; open it again."""

    kind = "array-replaced"


class ChunksMovedError(ArrayReplacedError):
    """A commit has put the chunks of an open array under other keys.

    The array reads its metadata again and repeats the call; only a view of consolidated metadata,
    which shows one state of all arrays, raises this.
    """

    kind = "chunks-moved"


class GroupNotFoundError(PathNotFoundError):
    """No group exists at a path."""

    kind = "group-not-found"


class FSPathExistNotDir(GroupNotFoundError, NotADirectoryError):
    """The path of a directory store exists and is a file."""

    kind = "not-a-directory"


class MemberNotFoundError(ZarrixError, KeyError):
    """A group has no member of that name."""

    kind = "member-not-found"


class VersionNotFoundError(ZarrixError, FileNotFoundError, KeyError):
    """A hierarchy has no version of that name."""

    kind = "version-not-found"


class VersionExistsError(ZarrixError, FileExistsError):
    """A hierarchy has a version of that name already; versions are never written again."""

    kind = "version-exists"


class VersionLostError(ZarrixError, OSError):
    """A page, a file or an object that a version consists of is gone."""

    kind = "version-lost"


class ReadOnlyError(ZarrixError, PermissionError, ValueError):
    """A write through a handle that was opened for reading."""

    kind = "read-only"

    def __init__(self, message: str = "object is read-only") -> None:
        super().__init__(message)


class StoreBusyError(ZarrixError, BlockingIOError):
    """Another process writes to a store that allows one writer at a time."""

    kind = "store-busy"


class CopyError(ZarrixError, RuntimeError):
    """A copy stopped, because the destination exists or cannot hold the source."""

    kind = "copy"


class ConversionError(ZarrixError, ValueError):
    """A file of another format cannot be imported, or an array cannot be exported to it."""

    kind = "conversion"


class OptionError(ConversionError, TypeError):
    """A format of files does not have an option of that name, or not with that kind of value."""

    kind = "option"


class WriterError(ZarrixError, RuntimeError):
    """Another call would change the length of an array while a stream writer is open."""

    kind = "writer"


class StateError(ZarrixError, ValueError):
    """A mapping is not the state of a loader, or that of another dataset, order or release."""

    kind = "state"


class JobError(ZarrixError, RuntimeError):
    """A job cannot begin or go on: its destination, its document or its version is another."""

    kind = "job"


class JobFailed(JobError):
    """Tasks of a job failed; the others are done, and the same call goes on with these."""

    kind = "job-failed"


class JobInterrupted(JobError):
    """A job stopped before its end, because workers are gone; the same call goes on."""

    kind = "job-interrupted"


class SourceChangedError(JobError):
    """The source of a job is not that which the job began with: its metadata or its elements."""

    kind = "source-changed"


class OverlapError(JobError, CopyError, ConversionError):
    """A destination is its source, lies in it, or contains it; nothing was changed.

    Copies, jobs and converters raise it, and each promises its own error; it is all three.
    """

    kind = "overlap"


class CommitConflictError(ZarrixError, RuntimeError):
    """Another writer has changed what a commit changes; nothing of the commit is visible.

    ``path`` is the node, ``key`` the document, and ``what`` the member or attribute.
    """

    kind = "commit-conflict"

    def __init__(self, message: str, path: str = "", key: str = "", what: str = "") -> None:
        super().__init__(message)
        self.path, self.key, self.what = path, key, what


class CommitBusyError(ZarrixError, TimeoutError):
    """Another commit of the hierarchy, or a writer of one of its arrays, is still open."""

    kind = "commit-busy"


class CommitLostError(ZarrixError, RuntimeError):
    """Another commit took over, because this one did not answer; nothing of this one is visible."""

    kind = "commit-lost"


class CommitVisibleError(ZarrixError, RuntimeError):
    """An error came after the commit had become visible: it must not be made again.

    ``is_complete`` is whether all is stored; else the next commit, or `recover`, completes it.
    """

    kind = "commit-visible"

    def __init__(self, message: str, *, is_complete: bool = False) -> None:
        super().__init__(message)
        self.is_complete = is_complete


class NotAtomicError(ZarrixError, ValueError):
    """A change cannot become visible at once, so a commit does not make it."""

    kind = "not-atomic"


class AppendError(ZarrixError, ValueError):
    """Sources of an append do not fit each other or what is stored; nothing was changed."""

    kind = "append"


class CallCancelledError(ZarrixError, RuntimeError):
    """A call was ended by its cancellation token."""

    kind = "call-cancelled"


class SelectionError(ZarrixError, ValueError):
    """The shape of a buffer differs from that of the selection."""

    kind = "selection"


class VirtualError(ZarrixError, ValueError):
    """Pieces do not make one virtual array or group as they are."""

    kind = "virtual"


class PieceChangedError(VirtualError):
    """A piece of a virtual array is not the one that was listed."""

    kind = "piece-changed"


class PieceNotFoundError(ZarrixError, FileNotFoundError):
    """A piece of a virtual array is gone."""

    kind = "piece-not-found"


class DownloadLimitError(ZarrixError, OSError):
    """A file at a URL has more bytes than downloads may take on the disk of this machine."""

    kind = "download-limit"


class LabelError(ZarrixError, KeyError, ValueError):
    """A label is not one of its dimension, or the coordinate of a dimension has no labels."""

    kind = "label"


class DataTypeError(ZarrixError, TypeError):
    """An operation is not defined for elements of this data type."""

    kind = "data-type"


class ArrayIndexError(ZarrixError, IndexError):
    """A selection does not fit the array, or is not of a supported kind."""

    kind = "array-index"


class BoundsCheckError(ArrayIndexError):
    """An index is out of range for its axis."""

    kind = "out-of-bounds"


class NegativeStepError(ArrayIndexError):
    """A slice has a negative step, and only positive steps are supported."""

    kind = "negative-step"


class VindexInvalidSelectionError(ArrayIndexError):
    """A coordinate or mask selection is of the wrong kind."""

    kind = "invalid-vindex"


class LostUpdateWarning(UserWarning):
    """Two processes that change one chunk at the same time could lose an update."""

    __module__ = "zarrix.errors"


class LockWaitWarning(UserWarning):
    """A call has waited for a lock for 10 seconds; Ctrl-C ends the wait."""

    __module__ = "zarrix.errors"


class StaleMetadataWarning(UserWarning):
    """Consolidated metadata differs from the metadata documents."""

    __module__ = "zarrix.errors"


class LateWriteWarning(UserWarning):
    """A chunk was written to an array after a commit had replaced its chunks; it is not seen."""

    __module__ = "zarrix.errors"


class BrokenMemberWarning(UserWarning):
    """A member of a group cannot be opened, and is left out of a listing."""

    __module__ = "zarrix.errors"


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 8
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def shorten(value: object) -> str:
    """``repr(value)`` for a message, however long or deep the value is.

    Examples
    --------
    >>> shorten(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, 6, 7, ...]'
    """
    text = _SHORT.repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


def suggestion(name: str, allowed: Iterable[str], *, least: float = 0.6) -> str:
    """``"; did you mean 'x'?"`` for the closest allowed name, or an empty string.

    ``least`` is the required similarity, from 0 to 1.
    """
    # Import time: only a mistake needs it.
    import difflib

    close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=least)
    return f"; did you mean {close[0]!r}?" if close else ""


class Suggesting:
    """A message that suggests a name. The suggestion is computed when the message is read.

    Most of these messages are never read, because programs use the errors for ``hasattr`` or
    ``dict.get``.

    Parameters
    ----------
    message : str
    name : str
        The name that does not exist.
    allowed : function
        Returns the names that exist; if it fails, nothing is suggested.
    """

    def __init__(self, message: str, name: str, allowed: Callable[[], Iterable[str]]) -> None:
        self._message = message
        self._name = name
        self._allowed = allowed

    def __str__(self) -> str:
        try:
            return f"{self._message}{suggestion(self._name, self._allowed())}"
        except (ZarrixError, OSError):
            # The names are in a store, which may not answer.
            return self._message

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


for _name in __all__:
    # Users meet these as zarrix.errors.<Name>; the private module is not theirs to know.
    globals()[_name].__module__ = "zarrix.errors"
del _name
