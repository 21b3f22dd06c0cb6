"""Augmentations that a batch is read with: sizes, mirrors and quarter turns of its windows.

A turn costs no pass over a window: the engine copies what it decodes to other places of the batch.
What is drawn for a sample depends on seed, epoch and item, and is the same for all of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._errors import suggestion
from zarrix.ml._datasets.dataset import Draws
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import Column

__all__ = ["Augmentation", "Flip", "Resize", "Rot90", "augmented"]

METHODS = ("nearest", "bilinear", "area")

# For each window and each of its axes twice the axis of the batch, and one more if it is mirrored.
Turns = npt.NDArray[np.uint8]


class Flip:
    """Mirror samples along a dimension, as `numpy.flip` does.

    Parameters
    ----------
    dim : str
        The dimension. Fields without it stay as they are.
    p : float
        The probability of a sample; 1 mirrors all.

    Raises
    ------
    ValueError
        ``p`` is not a probability.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.arange(6).reshape(2, 3))
    >>> ml.Rows({"x": ml.Field(z, dims="nx")}).augment(ml.Flip("x", p=1))[0]["x"]
    array([2, 1, 0])
    """

    __module__ = "zarrix.ml"

    def __init__(self, dim: str, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"p={p}; a probability is needed")
        self.dims, self.p = (str(dim),), float(p)

    def _draw(self, visits: Visits, number: int) -> Ints:
        words = visits.draw("augment", number)[0]
        drawn: Ints = ((words >> np.uint64(11)) * 2.0**-53 < self.p).astype(np.int64)
        return drawn

    def _identity(self) -> list[Any]:
        return ["flip", *self.dims, self.p]

    def __repr__(self) -> str:
        return f"Flip({self.dims[0]!r}, p={self.p:g})"


class Rot90:
    """Rotate samples by quarter turns, as `numpy.rot90` does.

    Parameters
    ----------
    dims : str or sequence of str
        Two dimensions; a turn goes from the first towards the second one. Fields that lack one stay
        as they are. Samples that are not as long along both have half turns only.
    turns : int or sequence of int
        How many quarter turns, or what that is drawn from.

    Raises
    ------
    ValueError
        There are not two different dimensions, or no turns.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.array([[[1, 2], [3, 4]]]))
    >>> ml.Rows({"x": ml.Field(z, dims="nyx")}).augment(ml.Rot90("yx", 1))[0]["x"]
    array([[2, 4],
           [1, 3]])
    """

    __module__ = "zarrix.ml"

    def __init__(
        self, dims: str | Sequence[str] = "yx", turns: int | Sequence[int] = (0, 1, 2, 3)
    ) -> None:
        self.dims = tuple(map(str, dims))
        if len(self.dims) != 2 or self.dims[0] == self.dims[1]:
            raise ValueError(f"dims={dims!r}; two different dimensions are needed")
        every = np.atleast_1d(np.asarray(turns))
        if every.ndim != 1 or not every.size or every.dtype.kind not in "iu":
            raise ValueError(f"turns={turns!r}; an integer or a list of integers is needed")
        self.turns: Ints = every.astype(np.int64) % 4

    def _draw(self, visits: Visits, number: int) -> Ints:
        words = visits.draw("augment", number)[0]
        drawn: Ints = self.turns[(words % np.uint64(len(self.turns))).astype(np.int64)]
        return drawn

    def _identity(self) -> list[Any]:
        return ["rot90", *self.dims, self.turns.tolist()]

    def __repr__(self) -> str:
        return f"Rot90({self.dims!r}, turns={self.turns.tolist()})"


class Resize:
    """Give samples another size, before they are flipped and rotated.

    Parameters
    ----------
    size : mapping of str to int
        The length along each dimension that changes, on the grid of the first field. A field of
        another resolution gets its share, which must be a whole number.
    method : {"nearest", "bilinear", "area"} or mapping of str to these
        One for all fields, or one for each that has one of the dimensions. "nearest" is for labels,
        and takes the element in which the centre of a new one lies. "bilinear" is Pillow's and that
        of torchvision with ``antialias=True``: a triangle as wide as two new elements where the
        size shrinks. "area" is the mean of what a new element covers. Integers are rounded to the
        nearest one, ties to the even one.

    Raises
    ------
    ValueError
        A length is not positive, or a method is not one of these.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.array([[0.0, 2.0, 4.0, 8.0]]))
    >>> ml.Rows({"x": ml.Field(z, dims="nx")}).augment(ml.Resize({"x": 2}, "area"))[0]["x"]
    array([1., 6.])
    """

    __module__ = "zarrix.ml"

    def __init__(self, size: Mapping[str, int], method: str | Mapping[str, str]) -> None:
        self.size = {str(dim): int(length) for dim, length in size.items()}
        self.dims = tuple(self.size)
        if not self.size or min(self.size.values()) < 1:
            raise ValueError(f"size={size!r}; a positive length for each dimension is needed")
        self.method = method if isinstance(method, str) else dict(method)
        for name in [method] if isinstance(method, str) else method.values():
            if name not in METHODS:
                raise ValueError(
                    f"method={name!r}; allowed are {', '.join(METHODS)}"
                    f"{suggestion(str(name), METHODS)}"
                )

    def _of_field(self, name: str) -> str:
        if isinstance(self.method, str):
            return self.method
        if name not in self.method:
            raise ValueError(
                f"method= has none for field {name!r}, which is resized: it has "
                f"{', '.join(map(repr, self.method))}"
            )
        return self.method[name]

    def _identity(self) -> list[Any]:
        return ["resize", sorted(self.size.items()), self.method]

    def __repr__(self) -> str:
        return f"Resize({self.size!r}, {self.method!r})"


class _Step(NamedTuple):
    """A step that turns windows, and its two axes, or its one, in each column; None without."""

    turning: Flip | Rot90
    axes: list[tuple[int, ...] | None]


class Augmentation:
    """The turns of a dataset, of whose columns and batches it knows."""

    def __init__(self, steps: Sequence[Flip | Rot90], columns: Sequence[Column]) -> None:
        self._counts = [len(column.window) for column in columns]
        self._steps = [
            _Step(step, [_axes_of(step, column) for column in columns]) for step in steps
        ]
        self.flips = any(isinstance(step, Flip) for step in steps)
        self.rotates = any(isinstance(step, Rot90) for step in steps)

    def add(self, draws: Draws) -> None:
        """Draw for all samples; batches say what was drawn, as ``flips`` and ``turns``."""
        drawn = [step.turning._draw(draws.visits, n) for n, step in enumerate(self._steps)]
        by_kind = {
            kind: [
                of_step
                for step, of_step in zip(self._steps, drawn, strict=True)
                if isinstance(step.turning, kind)
            ]
            for kind in (Flip, Rot90)
        }
        if by_kind[Flip]:
            draws.extras["flips"] = np.stack(by_kind[Flip], axis=1).astype(np.bool_)
        if by_kind[Rot90]:
            draws.extras["turns"] = np.stack(by_kind[Rot90], axis=1)
        draws.turns = [self._of_column(number, drawn) for number in range(len(self._counts))]

    def _of_column(self, number: int, drawn: list[Ints]) -> Turns | None:
        """How each sample of a column lies in the batch; None if all lie as they are stored."""
        if all(step.axes[number] is None for step in self._steps):
            return None
        shape = (len(drawn[0]), self._counts[number])
        axes = np.broadcast_to(np.arange(self._counts[number]), shape).copy()
        mirrored = np.zeros(shape, np.int64)
        for step, counts in zip(self._steps, drawn, strict=True):
            of_step = step.axes[number]
            if of_step is None:
                continue
            if isinstance(step.turning, Flip):
                mirrored ^= (axes == of_step[0]) & counts[:, None]
                continue
            first, second = of_step
            # A quarter turn mirrors the second axis, and then exchanges both.
            for turn in range(1, 4):
                turns = (counts >= turn)[:, None]
                mirrored ^= (axes == second) & turns
                other = np.where(axes == first, second, np.where(axes == second, first, axes))
                axes = np.where(turns, other, axes)
        return (2 * axes + mirrored).astype(np.uint8)


def _axes_of(step: Flip | Rot90, column: Column) -> tuple[int, ...] | None:
    """The axes of a column that a step turns; None if it lacks one of them."""
    if not set(step.dims) <= set(column.dims):
        return None
    axes = tuple(column.dims.index(dim) for dim in step.dims)
    lengths = [column.landing[axis] for axis in axes]
    if isinstance(step, Rot90) and lengths[0] != lengths[1] and (step.turns % 2).any():
        raise ValueError(
            f"samples of {column.name!r} have {lengths[0]} along {step.dims[0]!r} and {lengths[1]} "
            f"along {step.dims[1]!r}: they have half turns only, such as turns=(0, 2)"
        )
    return axes


def resized(columns: Sequence[Column], resize: Resize) -> list[Column]:
    """The columns with windows of another size."""
    reference = columns[0]
    for dim in resize.size:
        if not any(dim in column.dims for column in columns):
            raise ValueError(f"size= has {dim!r}, which is not a dimension of a field")
    if isinstance(resize.method, dict):
        names = [column.name for column in columns]
        for name in resize.method:
            if name not in names:
                raise ValueError(
                    f"method= has {name!r}, which is not a field{suggestion(name, names)}"
                )
    made = []
    for column in columns:
        landing = list(column.landing)
        for axis, dim in enumerate(column.dims):
            if dim in resize.size:
                landing[axis] = _length_of(resize.size[dim], column, axis, dim, reference)
        if tuple(landing) == column.landing:
            made.append(column)
            continue
        made.append(_landed(column, tuple(landing), resize._of_field(column.name)))
    return made


def _length_of(length: int, column: Column, axis: int, dim: str, reference: Column) -> int:
    """The new length of a column along an axis, by that of the reference."""
    if dim not in reference.dims or column.axes[axis] < 0:
        return length
    up, down = int(column.up[axis]), int(column.down[axis])
    if length * up % down:
        raise ValueError(
            f"size {length} along {dim!r} is not a multiple of {down}, by which field "
            f"{column.name!r} is coarser"
        )
    return length * up // down


def _landed(column: Column, landing: tuple[int, ...], method: str) -> Column:
    """The column whose windows become those of another shape."""
    kind = column.dtype.kind
    if kind not in "biuf" or (kind == "b" and method != "nearest"):
        raise ValueError(f"field {column.name!r} of {column.dtype} is not resized by {method!r}")
    if method != "nearest" and not column.dtype.isnative:
        raise ValueError(f"field {column.name!r} is {column.dtype.str}: pass dtype= to resize it")
    if len(column.sample) != len(column.sampled):
        raise ValueError(f"samples of {column.name!r} are not resized")
    sample = tuple(
        landing[axis] if landing[axis] != column.window[axis] else length
        for axis, length in zip(column.sampled, column.sample, strict=True)
    )
    shape = list(sample)
    if column.order is not None:
        for place, length in zip(column.order[1:], sample, strict=True):
            shape[place - 1] = length
    name = "bfloat16" if column.target == "bfloat16" else column.dtype.str
    return replace(
        column, landing=landing, sample=sample, shape=tuple(shape), resizing=(method, name)
    )


def augmented(columns: Sequence[Column], steps: Sequence[Any]) -> tuple[list[Column], Any, Any]:
    """The columns, the turns and the identity of a dataset with these steps."""
    for step in steps:
        if not isinstance(step, Flip | Rot90 | Resize):
            raise TypeError(f"augment takes Flip, Rot90 and Resize, not {type(step).__name__}")
    made = list(columns)
    sizes = [step for step in steps if isinstance(step, Resize)]
    if len(sizes) > 1:
        raise ValueError("augment has two sizes: pass one Resize, for all dimensions")
    for resize in sizes:
        made = resized(made, resize)
    turning = [step for step in steps if not isinstance(step, Resize)]
    for step in turning:
        _check_turned(step, made)
    augmentation = Augmentation(turning, made) if turning else None
    return made, augmentation, [step._identity() for step in steps]


def _check_turned(step: Flip | Rot90, columns: Sequence[Column]) -> None:
    """Refuse what samples do not have along the dimensions of a step."""
    turned = [column for column in columns if set(step.dims) <= set(column.dims)]
    if not turned:
        raise ValueError(f"{step!r}: no field has {' and '.join(map(repr, step.dims))}")
    for column in turned:
        for dim in step.dims:
            axis = column.dims.index(dim)
            if (
                axis not in column.sampled
                or column.sample[column.sampled.index(axis)] != (column.landing[axis])
            ):
                raise ValueError(
                    f"{step!r}: windows of {column.name!r} have one index along {dim!r}, which "
                    "items or frames are counted by"
                )
            if column.scale.size > 1 and axis == column.channel:
                raise ValueError(
                    f"{step!r}: field {column.name!r} has values of scale= or mean= along {dim!r}"
                )
