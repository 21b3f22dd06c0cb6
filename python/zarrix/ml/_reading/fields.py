"""Fields: arrays as the entries of a sample, on grids that may differ by whole ratios.

The first field of a dataset is the reference: corners are counted on its grid. A dimension is
shared if a field and the reference have it under one name. Along a shared dimension that is
windowed or visited, the lengths of both have a whole ratio; any other one is taken whole.

`Field` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.reduced import has_reduced
from zarrix._errors import suggestion
from zarrix._hierarchy.group import Group
from zarrix.ml._order.random import Ints
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.files import Files
from zarrix.ml._reading.nan import NanRule, nan_rule

__all__ = [
    "Column",
    "Field",
    "MaskGrid",
    "as_fields",
    "columns_of",
    "grid_of",
    "reduced_fields",
    "required_names",
]

_FLOATS = ("float16", "bfloat16", "float32")
_INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
_TARGETS = (*_FLOATS, *_INTEGERS)
_SHORT = {
    "f2": "float16",
    "f4": "float32",
    "bf16": "bfloat16",
    **{np.dtype(name).str[1:]: name for name in _INTEGERS},
}


class Field:
    """An array as one entry of each sample, with what happens to its values.

    Without options values arrive as they are stored. With ``dtype`` each becomes
    ``value * scale + offset``, then ``(value - mean) / std``, limited to ``clip``. Integers are
    rounded to the nearest one, ties to the even one; beyond those of the dtype, the nearest of it.

    Parameters
    ----------
    array : Array, ndarray, CSR or Files
    dims : str or sequence of str, optional
        Names of the axes, such as "tcyx"; those of the array or of the dataset when omitted.
    dtype : {"float16", "bfloat16", "float32"} or an integer dtype, optional
        What values are converted to. Floats become integers with a number for ``nan``.
    scale, offset, mean, std : float or sequence of float, optional
        A sequence has a value for each index of the first axis of a sample, such as a channel.
    clip : (float, float), optional
        The least and the largest converted value.
    nan : float or str, optional
        What NaN becomes: a number, or "fill:NUMBER"; "raise" makes it an error; "mask" makes it 0,
        and ``batch["<name>_nan"]`` says where it was; "reject:SHARE" replaces samples of which more
        is NaN by other items, which depend on seed, epoch and item alone. The last two count:
        ``batch["nan"]`` is the share of each sample. It stays NaN when omitted, or "keep".
    layout : str or sequence of str, optional
        The order of axes in a sample, such as "yxc"; the array's when omitted.
    rate : int, optional
        How many entries of this field one step of the reference has along time; found from the
        lengths when omitted.

    Raises
    ------
    TypeError
        ``array`` is neither an array of zarrix nor of NumPy.
    ValueError
        An option is not one of those above, or needs ``dtype``.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.array([0, 255], "u1"))
    >>> rows = ml.Rows({"x": ml.Field(z, dtype="float32", scale=1 / 255)})
    >>> rows[1]["x"]
    np.float32(1.0)
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        array: Any,
        *,
        dims: str | Sequence[str] | None = None,
        dtype: Any = None,
        scale: Any = None,
        offset: Any = None,
        mean: Any = None,
        std: Any = None,
        clip: tuple[float, float] | None = None,
        nan: float | str | None = None,
        layout: str | Sequence[str] | None = None,
        rate: int | None = None,
    ) -> None:
        known = isinstance(array, Array | CSR | Files | np.ndarray)
        if not known or isinstance(array, np.ma.MaskedArray):
            # Others have a shape and a data type, too, and fail or lose their mask when read.
            raise TypeError(
                f"a field is an array of zarrix or of NumPy, not {type(array).__name__}"
                f"{_hint(array)}"
            )
        name = None if dtype is None else _target(dtype)
        rule = nan_rule(nan)
        fills = nan if rule.kind == "fill" else None
        if name is None and any(
            option is not None for option in (scale, offset, mean, std, clip, fills)
        ):
            raise ValueError("scale=, offset=, mean=, std=, clip= and a number of nan= need dtype=")
        if rule.counts and np.dtype(array.dtype).kind != "f":
            raise ValueError(f"nan={nan!r}: values of {array.dtype} are never NaN")
        if name is not None and np.dtype(array.dtype).kind not in "iufb":
            raise ValueError(f"values of {array.dtype} are not converted to {name}")
        if name in _INTEGERS and np.dtype(array.dtype).kind == "f" and fills is None:
            raise ValueError(f"values of {array.dtype} become {name} with a number for NaN: nan=")
        self.array: Any = array
        self.dims = None if dims is None else tuple(dims)
        self.dtype = name
        self.layout = None if layout is None else tuple(layout)
        self.rate = rate
        self.nan = rule
        self.clip = None if clip is None else (float(clip[0]), float(clip[1]))
        self.scale, self.offset = _affine(scale, offset, mean, std)

    def _of(self, array: Any) -> Field:
        """The field of another array, with the same options."""
        other = object.__new__(Field)
        other.__dict__.update(self.__dict__, array=array)
        return other

    def __repr__(self) -> str:
        converted = f" -> {self.dtype}" if self.dtype else ""
        return f"Field({self.array.shape} {self.array.dtype}{converted})"


def _hint(array: Any) -> str:
    if isinstance(array, Group):
        return "; ml.CSR(group) reads a sparse matrix" if "indptr" in array else ""
    if isinstance(array, np.ma.MaskedArray):
        return "; array.filled(value) says what masked elements are"
    if isinstance(array, np.generic) or not hasattr(array, "shape"):
        return ""
    return "; np.asarray(array) reads it into memory"


def _target(dtype: Any) -> str:
    name = dtype if isinstance(dtype, str) else str(getattr(dtype, "__name__", dtype))
    name = name.removeprefix("torch.")
    short = name.lstrip("<=|")
    if short in _SHORT:
        name = _SHORT[short]
    if name not in _TARGETS:
        raise ValueError(
            f"dtype={dtype!r}; values are converted to one of {', '.join(_TARGETS)}"
            f"{suggestion(name, _TARGETS)}"
        )
    return name


def _affine(scale: Any, offset: Any, mean: Any, std: Any) -> tuple[Any, Any]:
    """One multiplication and one addition, in float64, for all four options."""
    a = np.asarray(1.0 if scale is None else scale, np.float64)
    b = np.asarray(0.0 if offset is None else offset, np.float64)
    m = np.asarray(0.0 if mean is None else mean, np.float64)
    s = np.asarray(1.0 if std is None else std, np.float64)
    if (s == 0).any():
        raise ValueError("std= is 0")
    scale, offset = np.broadcast_arrays(a / s, (b - m) / s)
    if scale.ndim > 1:
        raise ValueError("scale=, offset=, mean= and std= are numbers, or sequences of them")
    return scale, offset


@dataclass(frozen=True)
class Column:
    """A field of every group of a dataset: its window, and where that begins for a corner.

    Attributes
    ----------
    axes : array of int
        For each axis of the field that of the reference, or -1.
    up, down : array of int
        A corner times ``up`` over ``down`` is where the window begins.
    window : tuple of int
        The shape that is read; 1 along axes that items are counted along.
    sample : tuple of int
        The shape in a sample, which has no axes that items are counted along.
    shape : tuple of int
        The shape of an entry as users see it, in its layout.
    channel : int
        The axis of the window that is the first one of a sample, along which a scale may differ.
    order : tuple of int, or None
        The axes of a batch in the order of ``sample``, if the layout is another one.
    sampled : tuple of int
        The axis of the window that each axis of ``sample`` is; time comes first if it has a window
        for each frame.
    landing : tuple of int
        The shape of a window in a batch.
    resizing : (str, str), or None
        How windows get that shape, and the type of their elements.
    """

    name: str
    dims: tuple[str, ...]
    axes: Ints
    up: Ints
    down: Ints
    window: tuple[int, ...]
    sample: tuple[int, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...] | None
    source: np.dtype[Any]
    dtype: np.dtype[Any]
    target: str | None
    channel: int
    scale: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    clip: tuple[float, float] | None
    nan: NanRule
    sampled: tuple[int, ...]
    landing: tuple[int, ...]
    resizing: tuple[str, str] | None = None

    def identity(self) -> dict[str, Any]:
        """All that determines an entry of a sample, in terms of JSON; names of axes do not."""
        values = {}
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            # Sizes that others become, and their methods, are those of a dataset.
            if attribute.name not in ("dims", "sampled", "landing", "resizing"):
                values[attribute.name] = str(value) if isinstance(value, np.dtype) else value
        return values

    def starts(self, corners: Ints) -> Ints:
        """Where the window of each corner begins."""
        # Contiguous for the engine: NumPy keeps the memory order of an array that it indexes.
        return np.ascontiguousarray(corners[..., self.axes] * self.up // self.down)


def as_fields(mappings: Any, kind: str) -> list[dict[str, Field]]:
    """The groups of a dataset, each with the same names of fields."""
    groups = [mappings] if isinstance(mappings, Mapping) else list(mappings)
    if not groups or not all(isinstance(group, Mapping) and group for group in groups):
        raise ValueError(f"{kind} needs a mapping of names to arrays, or a list of such mappings")
    groups_of_fields = [
        {str(n): a if isinstance(a, Field) else Field(a) for n, a in g.items()} for g in groups
    ]
    sparse = [n for g in groups_of_fields for n, field in g.items() if isinstance(field.array, CSR)]
    if sparse and kind != "Rows":
        raise TypeError(f"field {sparse[0]!r} is a sparse matrix, which {kind} does not take: Rows")
    files = [n for g in groups_of_fields for n, f in g.items() if isinstance(f.array, Files)]
    if files and kind not in ("Rows", "rows="):
        raise TypeError(f"field {files[0]!r} has files, which {kind} does not take: Rows does")
    first = groups_of_fields[0]
    for number, group in enumerate(groups_of_fields):
        if group.keys() != first.keys():
            raise ValueError(
                f"group {number} has the fields {sorted(group)}, and group 0 {sorted(first)}"
            )
    taken = {"item", "start", "valid", "inside", "nan", "group"} & first.keys()
    taken |= {f"{n}_nan" for n, f in first.items() if f.nan.kind == "mask"} & first.keys()
    if taken:
        raise ValueError(f"a batch has an entry {sorted(taken)[0]!r} of its own: rename the field")
    return [{name: group[name] for name in first} for group in groups_of_fields]


def reduced_fields(groups: list[dict[str, Field]], factor: int) -> list[dict[str, Field]]:
    """The groups with smaller pictures: the first field, and all others that are JPEG."""
    return [
        {
            name: field._of(field.array.reduced(factor))
            if _has_smaller(name, field, is_first=name == next(iter(group)))
            else field
            for name, field in group.items()
        }
        for group in groups
    ]


def _has_smaller(name: str, field: Field, is_first: bool) -> bool:
    """Whether a field is read in a smaller size; an error if the first one has none."""
    if isinstance(field.array, Array):
        return is_first or has_reduced(metadata_of(field.array))
    if is_first:
        raise ValueError(
            f"reduce= is for fields of JPEG pictures, and {name!r}, the first field, is of "
            f"{type(field.array).__name__}"
        )
    return False


def names_of_axes(name: str, field: Field, dims: Any) -> tuple[str, ...] | None:
    """The names of a field's axes: its own, those given for it, or those that are stored."""
    own: Any = field.dims
    if own is None and isinstance(dims, Mapping):
        own = dims.get(name)
    elif own is None and dims is not None and len(tuple(dims)) == len(field.array.shape):
        own = dims
    if own is None:
        metadata = getattr(field.array, "metadata", None)
        own = getattr(metadata, "dimension_names", None)
        if own is None and metadata is not None:
            own = field.array.attrs.get("_ARRAY_DIMENSIONS")
    if own is None or None in tuple(own):
        return None
    names = tuple(str(dim) for dim in own)
    if len(names) != len(field.array.shape) or len(set(names)) != len(names):
        raise ValueError(
            f"field {name!r} has the shape {field.array.shape}; dims={names!r} does not name each "
            "axis once"
        )
    return names


def required_names(name: str, field: Field, dims: Any) -> tuple[str, ...]:
    """The names of a field's axes; an error if they have none."""
    names = names_of_axes(name, field, dims)
    if names is None:
        shape = field.array.shape
        raise ValueError(
            f"the axes of field {name!r}, of shape {shape}, have no names: pass dims=, such as "
            f"dims={'tcyx'[-len(shape) :]!r}, or dims={{{name!r}: ...}}"
        )
    return names


def columns_of(
    groups: list[dict[str, Field]],
    dims: Any,
    size: Mapping[str, int],
    items: Sequence[str],
) -> list[Column]:
    """The columns of a dataset, the same for all its groups.

    ``size`` has the window along dimensions of the reference, and ``items`` names the dimensions
    that items are counted along.
    """
    columns = [_column(n, groups[0], dims, size, items) for n in groups[0]]
    for number, group in enumerate(groups[1:], 1):
        for column in columns:
            other = _column(column.name, group, dims, size, items)
            same = (other.window, other.dtype, other.source, other.dims, other.order)
            if same != (column.window, column.dtype, column.source, column.dims, column.order) or (
                (other.up != column.up).any() or (other.down != column.down).any()
            ):
                raise ValueError(
                    f"field {column.name!r} of group {number} has samples of {other.shape} "
                    f"{other.dtype}, and that of group 0 {column.shape} {column.dtype}, or another "
                    "grid: a batch could not hold both"
                )
    return columns


def _column(
    name: str, group: dict[str, Field], dims: Any, size: Mapping[str, int], items: Sequence[str]
) -> Column:
    field, first = group[name], next(iter(group))
    own = required_names(name, field, dims)
    theirs = required_names(first, group[first], dims)
    base = dict(zip(theirs, group[first].array.shape, strict=True))
    ratios, window = [], []
    for dim, length in zip(own, field.array.shape, strict=True):
        ratio = None
        if dim in base and (dim in size or dim in items):
            ratio = _ratio(name, dim, int(length), int(base[dim]), field.rate)
        ratios.append(ratio)
        whole = int(length) if dim not in items else 1 if ratio is None else ratio[0]
        window.append(_scaled(name, dim, size[dim], ratio) if dim in size else whole)
    counted = [i for i, dim in enumerate(own) if dim in items and dim not in size]
    sampled = [i for i in range(len(own)) if i not in counted or window[i] > 1]
    sample, names = tuple(window[i] for i in sampled), [own[i] for i in sampled]
    layout = _layout_of(name, field, sample, names)
    source = np.dtype(field.array.dtype)
    return Column(
        name=name,
        dims=own,
        axes=np.array(
            [theirs.index(d) if r else -1 for d, r in zip(own, ratios, strict=True)], np.int64
        ),
        up=np.array([ratio[0] if ratio else 0 for ratio in ratios], np.int64),
        down=np.array([ratio[1] if ratio else 1 for ratio in ratios], np.int64),
        window=tuple(window),
        sample=sample,
        shape=tuple(sample[names.index(dim)] for dim in layout),
        order=None if layout == names else (0, *(1 + layout.index(dim) for dim in names)),
        source=source,
        dtype=_numpy_dtype(field.dtype) if field.dtype else source,
        target=field.dtype,
        channel=sampled[0] if sampled else -1,
        scale=field.scale,
        offset=field.offset,
        clip=field.clip,
        nan=field.nan,
        sampled=tuple(sampled),
        landing=tuple(window),
    )


def _scaled(name: str, dim: str, length: int, ratio: tuple[int, int] | None) -> int:
    """The window of a field for one of ``length`` on the grid of the reference."""
    up, down = ratio or (1, 1)
    if length * up % down:
        raise ValueError(
            f"size {length} along {dim!r} is not a multiple of {down}, by which field {name!r} is "
            "coarser"
        )
    return length * up // down


def _layout_of(name: str, field: Field, sample: tuple[int, ...], names: list[str]) -> list[str]:
    """The order of axes in a sample; an error if the options of the field are for other axes."""
    layout = list(field.layout or names)
    if sorted(layout) != sorted(names):
        raise ValueError(
            f"layout={''.join(layout)!r} of field {name!r}, whose samples have {names}"
        )
    if field.scale.ndim and (not sample or len(field.scale) not in (1, sample[0])):
        raise ValueError(
            f"field {name!r} has {len(field.scale)} values of scale= or mean=, and "
            f"samples of {sample}"
        )
    return layout


def _numpy_dtype(name: str) -> np.dtype[Any]:
    # NumPy has no bfloat16 of its own: 16 bits, which torch takes as they are.
    return np.dtype("uint16" if name == "bfloat16" else name)


def _ratio(name: str, dim: str, length: int, base: int, rate: int | None) -> tuple[int, int]:
    if rate is not None and dim in ("t", "time"):
        return rate, 1
    if not length or not base:
        return 1, 1
    shared = math.gcd(length, base)
    up, down = length // shared, base // shared
    if up != 1 and down != 1:
        raise ValueError(
            f"field {name!r} has {length} along {dim!r}, and the first field {base}: neither is a "
            "multiple of the other, so that one place has no whole window in both"
        )
    return up, down


class MaskGrid(NamedTuple):
    """How a mask lies on the grid of the reference, along the dimensions that are cropped.

    ``frames`` has the axis of the mask for each dimension that frames are counted along, or -1, and
    ``cropped`` for each that is cropped; ``up`` over ``down`` is the ratio along the latter.
    """

    frames: tuple[int, ...]
    cropped: tuple[int, ...]
    frame_up: tuple[int, ...]
    frame_down: tuple[int, ...]
    up: Ints
    down: Ints

    def identity(self) -> list[list[int]]:
        """The same in terms of JSON."""
        return [[int(number) for number in part] for part in self]

    def read(self, mask: Any, frame: Sequence[int]) -> Any:
        """The cropped dimensions of one frame; a dimension beyond these must have one element."""
        index: list[Any] = [0] * len(mask.shape)
        for axis, number, up, down in zip(
            self.frames, frame, self.frame_up, self.frame_down, strict=True
        ):
            if axis >= 0:
                index[axis] = number * up // down
        for axis in self.cropped:
            index[axis] = slice(None)
        values = np.asarray(mask[tuple(index)])
        order = np.argsort(np.argsort(self.cropped))
        return values.transpose(tuple(int(axis) for axis in order))


def grid_of(
    mask: Field,
    group: dict[str, Field],
    dims: Any,
    own_dims: Any,
    over: Sequence[str],
    cropped: Sequence[int],
) -> MaskGrid:
    """How a mask lies on the grid of a group's first field."""
    name, reference = next(iter(group.items()))
    theirs = names_of_axes(name, reference, dims) or ()
    needed = [*over, *(theirs[axis] for axis in cropped)]
    names = tuple(own_dims) if own_dims is not None else names_of_axes("where", mask, None)
    if names is None:
        count = len(mask.array.shape)
        in_order = tuple(dim for dim in theirs if dim in needed)
        names = theirs if count == len(theirs) else in_order if count == len(in_order) else None
    if names is None or not {theirs[axis] for axis in cropped} <= set(names):
        raise ValueError(f"a mask of shape {mask.array.shape} for {', '.join(needed)}: pass dims=")
    shape, base = mask.array.shape, reference.array.shape

    def ratios(dims: Sequence[str]) -> list[tuple[int, int]]:
        return [
            _ratio("where", dim, int(shape[names.index(dim)]), int(base[theirs.index(dim)]), None)
            if dim in names
            else (1, 1)
            for dim in dims
        ]

    spatial, counted = ratios([theirs[axis] for axis in cropped]), ratios(over)
    for axis, dim in enumerate(names):
        if dim not in needed and shape[axis] != 1:
            raise ValueError(f"the mask has {shape[axis]} along {dim!r}, which is not cropped")
    return MaskGrid(
        tuple(names.index(dim) if dim in names else -1 for dim in over),
        tuple(names.index(theirs[axis]) for axis in cropped),
        tuple(up for up, _ in counted),
        tuple(down for _, down in counted),
        np.array([up for up, _ in spatial], np.int64),
        np.array([down for _, down in spatial], np.int64),
    )
