"""What an operation is: the interface between jobs and what they do.

An operation is made from its `Setting` in every process that has tasks, and from nothing else. It
says how many tasks each stage has, and does one of them. Jobs do the rest: executors, windows,
journals, retries, progress, interruptions.

The invariant, which no lock replaces: **a task writes whole stored values (chunks or shards) of its
destination and nothing else, each value is written by exactly one task, and a task reads nothing
that a task of the same stage writes.** Then a task may be killed, repeated, or run twice at once,
and the stored bytes are equal.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from zarrix._array.access import ArrayOptions, metadata_of, opened_at
from zarrix._array.array import Array
from zarrix._errors import JobError, SourceChangedError
from zarrix._metadata.json import json_dumps
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._stores.keys import JOB_FOLDER, key_of
from zarrix._stores.overlap import Named
from zarrix._stores.zip import ZipStore
from zarrix.jobs._running.folder import Fence, Folder, Gate
from zarrix.jobs._running.places import Place, digest_of
from zarrix.jobs._running.sent import Sent
from zarrix.jobs._running.sources import Source, source_at
from zarrix.jobs._running.tiling import Region

__all__ = [
    "Done",
    "Operation",
    "Setting",
    "Stage",
    "array_at",
    "check_sources",
    "class_of",
    "operation_of",
    "source_array",
]

# By kind: the module and the class. A saved job names its kind only.
_KINDS = {
    "copy": ("zarrix.jobs._operations.copy", "Copy"),
    "verify": ("zarrix.jobs._operations.verify", "Verify"),
    "rechunk": ("zarrix.jobs._operations.rechunk", "Rechunk"),
    "map": ("zarrix.jobs._operations.map", "MapChunks"),
    "statistics": ("zarrix.jobs._operations.statistics", "Summarize"),
    "stack": ("zarrix.jobs._operations.stack", "StackFiles"),
    "pyramid": ("zarrix.jobs._operations.pyramid", "Pyramid"),
    "update-pyramid": ("zarrix.jobs._operations.update_pyramid", "UpdatePyramid"),
    "along": ("zarrix.jobs._operations.along", "Along"),
}


class Done(NamedTuple):
    """What a task gives back: a value, and how much it moved.

    The ``value`` is JSON, or None. It is kept in the journal until the job is finished, so that it
    should be small: what is large belongs into an array in the temporary place.
    """

    value: Any = None
    bytes_in: int = 0
    bytes_out: int = 0


@dataclass(frozen=True)
class Setting:
    """Everything that an operation is made from.

    Attributes
    ----------
    parameters : Mapping
        JSON values: what was asked, and what the planner chose. Nothing in it grows with the
        number of tasks.
    places : Mapping of str to Place
        By the names that the operation gives them, such as ``source`` and ``destination``.
    objects : Mapping
        What JSON cannot hold, such as a user's function. A job with objects cannot be saved.
    """

    parameters: Mapping[str, Any]
    places: Mapping[str, Place]
    objects: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """Tasks without an order among them; all of a stage are done before the next one begins.

    Attributes
    ----------
    name : str
        For people: ``copy``, ``pass 1 of 2``.
    count : int
        The number of tasks.
    region : callable, optional
        The region that a task writes, for people.
    shape : tuple of int
        The shape of the largest region.
    memory : int
        The bytes that a task needs at most, as planned.
    bytes_in, bytes_out : int
        Decoded bytes that all tasks together read and write, as planned.
    gets, puts : int
        Requests of all tasks together, as planned.
    """

    name: str
    count: int
    region: Callable[[int], Region | None] = lambda number: None
    shape: tuple[int, ...] = ()
    memory: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    gets: int = 0
    puts: int = 0


class Operation(ABC):
    """What a job does. Subclasses define `stages` and `run`, and what else they need.

    An instance belongs to a process and may be used by several of its threads at once. It opens
    arrays when it first needs them.
    """

    kind: ClassVar[str]
    # The place with the marker and the journal of the job; None for a job that writes nothing.
    destination: ClassVar[str | None] = "destination"
    # Whether the result would be wrong if the sources changed before its end.
    needs_still_sources: ClassVar[bool] = True

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.parameters = setting.parameters
        self.places = setting.places
        # The run that the tasks belong to, and what is asked before something is written.
        self.run_name = ""
        self._gate: Gate | None = None

    def belong_to(self, run: str, fence: Fence | None) -> None:
        """Do tasks of a run only, and write only while it goes on."""
        self.run_name = run
        folder = self.folder
        if fence is not None and folder is not None:
            self._gate = Gate(folder, fence)

    @property
    def folder(self) -> Folder | None:
        """The folder at the destination; None without one, or in an archive, which cannot replace
        its members.
        """
        if self.destination is None or self.destination not in self.places:
            return None
        store, path, _ = self.places[self.destination]
        return None if isinstance(store, ZipStore) else Folder(store, key_of(path, JOB_FOLDER))

    def before_writing(self) -> None:
        """Called by every task immediately before it writes.

        Raises
        ------
        JobError
            The run has ended: the destination is that of its user again.
        """
        if self._gate is not None:
            self._gate.pass_through()

    def kept(self) -> Iterable[Named]:
        """What the job reads, which nothing that it writes or removes may overlap."""
        written = (self.destination, "temporary")
        read = (name for name in self.places if name not in written)
        return [*(self.places[name] for name in read), *self.read_places().values()]

    def sources(self) -> Iterable[Source]:
        """What the job reads, whose stored values may not change before its end."""
        return [source_at(name, place) for name, place in self.read_places().items()]

    def read_places(self) -> Mapping[str, Place]:
        """The arrays that the job reads, by the names that errors give them."""
        return {}

    def intermediates(self, run: str) -> Place | None:
        """Where a run has intermediates outside of its folder, and nothing else is."""
        found = self.places.get("temporary")
        if found is None:
            return None
        return found._replace(path=key_of(found.path, f"zarrix-job-{run}"))

    def remove_temporary(self, run: str) -> None:
        """Remove these intermediates. It may be called again after a crash."""
        found = self.intermediates(run)
        if found is not None:
            found.store.rmdir(found.path)

    @property
    @abstractmethod
    def stages(self) -> Sequence[Stage]:
        """The stages, from the parameters alone: nothing is read for them."""

    def check(self) -> None:  # noqa: B027  (a hook that some do not need)
        """Before the end of the job: whether the sources are those that it was planned for.

        Raises
        ------
        SourceChangedError
        """

    def check_task(self, stage: int, number: int) -> None:
        """In every process after its first task, and again from time to time: whether what a task
        has read is of those sources. A task of many arrays asks for its own.

        Raises
        ------
        SourceChangedError
        """
        self.check()

    def check_plan(self) -> None:  # noqa: B027  (a hook that some do not need)
        """In the driver of a job that was loaded: whether the plan fits what is stored.

        Raises
        ------
        JobError
            It declares more.
        """

    def begin(self) -> None:  # noqa: B027  (a hook that some do not need)
        """In the driver, before the first task. It may be called again after a crash."""

    @abstractmethod
    def run(self, stage: int, number: int) -> Done:
        """Do one task, in any process."""

    @abstractmethod
    def finish(self, values: Sequence[Mapping[int, Any]]) -> Any:
        """In the driver, after the last task: store the documents, which make the result visible.

        ``values`` has the values of the tasks of each stage by their numbers, in ascending order.
        What it returns is the result of the job. After a crash it is called again.
        """

    @property
    def new_places(self) -> Sequence[Place]:
        """Where nothing may be before the job; an abandoned job removes all that is there."""
        return [] if self.destination is None else [self.places[self.destination]]

    @property
    def marked(self) -> Place | None:
        """The array of the result that tells which job has made it; None if there is none."""
        return None if self.destination is None else self.places[self.destination]

    @property
    def is_named(self) -> bool:
        """Whether another run of the program can tell that its job is the same.

        A function of this program has no name that is seen to be that of the same function.
        """
        version = self.parameters.get("version")
        objects = self.setting.objects.values()
        return all(isinstance(one, Sent) and (one.name or version) for one in objects)

    @classmethod
    def objects_of(
        cls, parameters: Mapping[str, Any], function: Any, modules: Sequence[str]
    ) -> dict[str, Any]:
        """What a document cannot hold, from what the caller gives for it.

        Raises
        ------
        JobError
            The job needs something else, or nothing.
        """
        if function is not None:
            raise JobError(f"a job of the kind {cls.kind!r} calls no function; leave out function=")
        return {}

    def explain(self) -> Iterator[str]:
        """Sentences about the plan, for people."""
        return iter(())


def operation_of(kind: str, setting: Setting) -> Operation:
    """The operation of a job.

    Raises
    ------
    JobError
        This version has no such kind.
    """
    return class_of(kind)(setting)


def class_of(kind: str) -> type[Operation]:
    """The class of a kind.

    Raises
    ------
    JobError
        This version has no such kind.
    """
    if kind not in _KINDS:
        raise JobError(f"this version of zarrix has no jobs of the kind {kind!r}")
    module, name = _KINDS[kind]
    found: type[Operation] = getattr(importlib.import_module(module), name)
    return found


def check_sources(root: Place, planned: Mapping[str, str]) -> None:
    """Check arrays below a place by their digests, by one request to a server.

    Raises
    ------
    SourceChangedError
        One of them is another.
    """
    places = {
        path: root._replace(path=key_of(root.path, path)) if path else root for path in planned
    }
    found = nodes.find_all(root.store, [place.path for place in places.values()])
    for path, place in places.items():
        _source(place, found[place.path], planned[path])


def array_at(
    place: Place,
    document: Mapping[str, Any],
    *,
    write_empty_chunks: bool | None = None,
    read_missing_chunks: bool = True,
) -> Array:
    """The array of a document that is not stored yet: a destination, or an intermediate."""
    zarr_format: Format = 2 if document.get("zarr_format") == 2 else 3
    node = nodes.Node(zarr_format, "array", json_dumps(dict(document), sort_keys=False))
    location = Location(place.store, place.path, zarr_format, place.chunk_store)
    options = ArrayOptions(
        is_detached=True,
        write_empty_chunks=write_empty_chunks,
        read_missing_chunks=read_missing_chunks,
    )
    return opened_at(location, node, options)


def source_array(place: Place, digest: str, *, read_only: bool = True, names: bool = True) -> Array:
    """The array that a job reads, if it is the one that the job was planned for.

    With ``names=False`` it may have got other dimension names.

    Raises
    ------
    SourceChangedError
        Its shape, its data type or its codecs are others.
    """
    location = Location(place.store, place.path, None, place.chunk_store)
    return _source(place, location.find(), digest, read_only=read_only, names=names)


def _source(
    place: Place,
    node: nodes.Node | None,
    digest: str,
    *,
    read_only: bool = True,
    names: bool = True,
) -> Array:
    location = Location(place.store, place.path, None, place.chunk_store)
    if node is not None and node.kind == "array":
        found = opened_at(location, node, ArrayOptions(read_only=read_only))
        if digest_of(metadata_of(found), names=names) == digest:
            return found
    where = location.describe()
    state = "is gone" if node is None else "has another shape, data type or codecs"
    raise SourceChangedError(
        f"the source {where} {state} since the job was planned; call abandon(), and plan it again, "
        "or pass overwrite=True"
    )
