"""One append: what is planned from labels and metadata, and what is written inside a commit."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._display.progress import Progress
from zarrix._errors import LabelError, OverlapError, ZarrixError
from zarrix._hierarchy.group import Group
from zarrix.ingest._appended import Appended
from zarrix.ingest._compare import differing
from zarrix.ingest._fit import Judgement, check_fit
from zarrix.ingest._labels import (
    in_units_near,
    in_units_of,
    require_sorted,
    require_unique,
    stored_labels,
    with_bounds,
)
from zarrix.ingest._merge import STORED, Merged, merge
from zarrix.ingest._repack import repacked
from zarrix.ingest._sources import Source
from zarrix.ingest._target import create_variables, template
from zarrix.ingest._variables import Labelled, Variable, labelled, variables_of
from zarrix.ingest._write import write_rows

__all__ = ["AppendJob", "Choices"]

# The number of labels that an error names.
_MOST_NAMED = 5


class Choices(NamedTuple):
    """What the caller has chosen, as in `append`."""

    along: str
    overlap: str
    keeps_attributes: bool
    chunks: Mapping[str, int]
    budget: int
    dry_run: bool
    tolerance: Mapping[str, Any] = {}
    repacks: bool = False


@dataclasses.dataclass
class _Plan:
    """What is stored, and where the rows of the sources go.

    Attributes
    ----------
    stored : dict of str to Variable
    labels : Labelled
        Of what is stored.
    values : list of ndarray
        The labels of each source, in units of the destination.
    merged : Merged
    is_changed : ndarray of bool
        For each position of the result.
    """

    stored: Mapping[str, Variable]
    labels: Labelled
    values: list[npt.NDArray[Any]]
    merged: Merged
    is_changed: npt.NDArray[np.bool_]


class AppendJob:
    """One append.

    Parameters
    ----------
    sources : sequence of Source
    choices : Choices
    name : str
        Of the destination, for messages.
    tell : Progress
    """

    def __init__(
        self, sources: Sequence[Source], choices: Choices, name: str, tell: Progress
    ) -> None:
        self._sources, self._choices, self._name, self._tell = sources, choices, name, tell
        self._result = Appended(name, choices.along, len(sources), dry_run=choices.dry_run)

    def plan(self, group: Group | None) -> Appended:
        """What would be done with a group as it is now; None if there is none."""
        first = template(self._sources)
        stored = {} if group is None else self._variables(group)
        if not stored:
            stored = {
                name: one.without_rows(self._choices.along) for name, one in first.variables.items()
            }
            attributes = first.attributes
        else:
            assert group is not None
            attributes = group.attrs.asdict()
        self._planned(stored, attributes)
        return self._result

    def run(self, group: Group, before: Group | None) -> Appended:
        """Write into the group of a commit.

        Parameters
        ----------
        group : Group
        before : Group or None
            The same, as others see it until the commit is over.
        """
        try:
            self._run(group, before)
        except (ZarrixError, OSError):
            # What went wrong may be that a source has changed.
            self._check_sources()
            raise
        self._check_sources()
        return self._result

    def _check_sources(self) -> None:
        for source in self._sources:
            source.check()

    def _run(self, group: Group, before: Group | None) -> None:
        stored = self._variables(group)
        if not stored:
            first = template(self._sources)
            create_variables(group, first, self._choices.along, self._choices.chunks)
            if not group.attrs.asdict():
                group.attrs.update(first.attributes)
            stored = self._variables(group)
        plan = self._planned(stored, group.attrs.asdict())
        if plan.is_changed.any():
            old = {} if before is None else self._variables(before)
            self._write(group, plan, old)

    def _variables(self, group: Group) -> dict[str, Variable]:
        named = {name for source in self._sources for name in source.variables}
        return variables_of(group, self._name, required=named)

    def _planned(self, stored: Mapping[str, Variable], attributes: Mapping[str, Any]) -> _Plan:
        along, result = self._choices.along, self._result
        unknown = sorted({*self._choices.tolerance} - {*stored})
        if unknown:
            raise LabelError(f"tolerance= names {unknown[0]!r}, which {self._name} does not have")
        labels = labelled(stored, along, self._name)
        require_sorted(labels, self._name)
        for source in self._sources:
            source.fit(stored, along)
            mine = source.labels
            source.variables = with_bounds(source.variables, mine, stored, labels, source.name)
            if self._choices.repacks:
                source.variables = repacked(source.variables, stored, along, source.name)
            result.notes += check_fit(
                source,
                stored,
                attributes,
                labels,
                Judgement(self._name, self._choices.keeps_attributes, self._choices.tolerance),
            )
        values = self._values(labels, stored[along].dtype)
        for source, one in zip(self._sources, values, strict=True):
            require_unique(one, labels, source.name)
        merged = merge(
            labels.values,
            values,
            descends=labels.axis.direction < 0,
            last_counts=self._choices.overlap == "replace",
        )
        is_changed = np.zeros(merged.length, bool)
        if merged.added:
            is_changed[merged.first :] = True
        plan = _Plan(stored, labels, values, merged, is_changed)
        result.added, result.length = merged.added, merged.length
        result.same = len(merged.there)
        self._overlaps(plan)
        return plan

    def _values(self, labels: Labelled, dtype: np.dtype[Any]) -> list[npt.NDArray[Any]]:
        """The labels of each source, in units of the destination."""
        tolerance = self._choices.tolerance.get(self._choices.along)
        if tolerance is None:
            return [in_units_of(one.labels, labels, dtype, one.name) for one in self._sources]
        found: list[npt.NDArray[Any]] = []
        for source in self._sources:
            # What two new labels have in common does not depend on which call brings them.
            known = np.unique(np.concatenate([labels.values, *found]))
            found.append(in_units_near(source.labels, labels, dtype, source.name, known, tolerance))
        return found

    def _overlaps(self, plan: _Plan) -> None:
        """Decide about labels that are stored, or that two sources have."""
        merged, overlap = plan.merged, self._choices.overlap
        if overlap == "skip" or (self._choices.dry_run and overlap != "error"):
            return
        there = _pairs_with_stored(merged)
        if overlap == "error":
            for pairs, what in ((there, "stored already"), (merged.repeated, "in two sources")):
                if len(pairs):
                    self._refuse(plan, pairs, f"{what}")
            return
        differ = differing(there, self._readers(plan), self._choices.budget)
        if overlap == "same":
            if differ:
                name, rows = next(iter(differ.items()))
                self._refuse(plan, there[rows], f"stored already, with other values of {name!r}")
            differ = differing(merged.repeated, self._readers(plan), self._choices.budget)
            if differ:
                name, rows = next(iter(differ.items()))
                told = f"in two sources, with different values of {name!r}"
                self._refuse(plan, merged.repeated[rows], told)
            return
        rows = np.unique(np.concatenate([*differ.values(), np.arange(0)]))
        source, row, position = merged.there[rows].T
        merged.source[position], merged.row[position] = source, row
        plan.is_changed[position] = True
        self._result.replaced = len(rows)
        self._result.same -= len(rows)

    def _refuse(self, plan: _Plan, pairs: npt.NDArray[np.int64], what: str) -> None:
        named = pairs[:_MOST_NAMED]
        texts = [plan.labels.axis.shown(plan.values[pair[-2]][pair[-1]]) for pair in named]
        more = f" and {len(pairs) - len(named):,} more" if len(pairs) > len(named) else ""
        owner = self._sources[named[0][-2]].name
        raise OverlapError(
            f"{self._choices.along} {', '.join(texts)}{more} of {owner}: {what} in {self._name}; "
            "overlap='replace' (--overlap replace) stores the new values, and 'skip' keeps those "
            "that are stored"
        )

    def _write(self, group: Group, plan: _Plan, old: Mapping[str, Variable]) -> None:
        """Write changed rows: those of data first, and those of the coordinate last."""
        along, merged = self._choices.along, plan.merged
        dtype = plan.stored[along].dtype
        labels = [
            _of_values(
                plan.stored[along],
                stored_labels(one, plan.labels, dtype, source.name),
            )
            for source, one in zip(self._sources, plan.values, strict=True)
        ]
        work: dict[str, Any] = self._readers(plan, old)
        work[along] = (0, [*labels, old.get(along)])
        changed = int(plan.is_changed.sum())
        arrays: dict[str, Any] = {name: group[name] for name in work}
        for name, (axis, _) in work.items():
            shape = list(arrays[name].shape)
            shape[axis] = merged.length
            arrays[name].resize(shape)
        total = sum(
            changed * math.prod(n for at, n in enumerate(arrays[name].shape) if at != axis)
            for name, (axis, _) in work.items()
        )
        done = 0
        self._tell(done, total)
        for name, (axis, variables) in work.items():
            for count in write_rows(
                arrays[name], axis, merged, plan.is_changed, variables, self._choices.budget
            ):
                done += count
                self._tell(min(done, total), total)

    def _readers(self, plan: _Plan, old: Mapping[str, Variable] | None = None) -> Any:
        """By name, the variables with the dimension: of each source, and last of what is stored."""
        along = self._choices.along
        stored = plan.stored if old is None else old
        return {
            name: (one.axis(along), [*(s.variables[name] for s in self._sources), stored.get(name)])
            for name, one in plan.stored.items()
            if one.axis(along) is not None and name != along
        }


def _pairs_with_stored(merged: Merged) -> npt.NDArray[np.int64]:
    """The rows that are stored, each with the row of a source that has the same label."""
    source, row, position = merged.there.T
    return np.stack([np.full_like(source, STORED), merged.row[position], source, row], axis=1)


def _of_values(like: Variable, values: npt.NDArray[Any]) -> Variable:
    return like._replace(shape=values.shape, read=values.__getitem__, array=None)
