"""xarray's store of variables in a group, on arrays of zarrix.

`Store` is a subclass of xarray's own `ZarrStore`, which defines the conventions: names of
dimensions, encodings, CF fill values, the rules of append and region. It replaces what calls
zarr-python, so that both write the same documents, and each reads what the other wrote. We rejected
a store of our own: it would be a second copy of these conventions, which change with xarray.

`Store._create_new_array` has more than six parameters: those of xarray's own store.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from xarray import Variable, conventions
from xarray.backends import ZarrStore
from xarray.backends.common import _encode_variable_name
from xarray.backends.zarr import (
    FillValueCoder,
    _validate_and_transpose_existing_dims,
    _validate_datatypes_for_zarr_append,
)
from xarray.core import indexing

from zarrix._array.access import snapshot_of
from zarrix._array.array import Array
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import consolidate_metadata
from zarrix._hierarchy.state import first_attributes
from zarrix._nodes.attributes import require_json
from zarrix.xarray._encoding import codecs_of, dimensions_of, new_array_options, take_unlimited
from zarrix.xarray._open import groups_below, only_consolidated, open_root
from zarrix.xarray._variable import StoredVariable, sizes

__all__ = ["Store", "variable_of"]


class Store(ZarrStore):
    """The variables of a group, for xarray; the options are those of `ZarrStore`."""

    __slots__ = ("_codecs", "_unlimited")

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        self._codecs: dict[bytes | None, dict[str, Any]] = {}
        self._unlimited: set[Any] = set()

    @classmethod
    def open_group(  # type: ignore[override]  # The same options, by name.
        cls, store: Any, mode: Any = "r", group: str | None = None, **options: Any
    ) -> Store:
        """The store of the group at ``group``."""
        root = open_root(store, mode, group, options)
        new = cls._over(root, store, mode, options)
        if options.get("consolidated", False) is None and not new.members:
            copied = only_consolidated(root, mode)
            return new if copied is None else cls._over(copied, store, mode, options)
        return new

    @classmethod
    def open_store(  # type: ignore[override]  # The same options, by name.
        cls, store: Any, mode: Any = "r", group: str | None = None, **options: Any
    ) -> dict[str, Store]:
        """The stores of the group at ``group`` and of all groups below it, by absolute path."""
        top = open_root(store, mode, group, options)
        found = groups_below(top, "/" + (group or "").strip("/"))
        return {path: cls._over(one, store, mode, options, members) for path, one, members in found}

    @classmethod
    def _over(
        cls,
        group: Group,
        store: Any,
        mode: Any,
        options: Mapping[str, Any],
        members: dict[str, Any] | None = None,
    ) -> Store:
        """The store of ``group``, whose ``members`` are listed unless they are passed."""
        as_mask = options.get("use_zarr_fill_value_as_mask")
        is_cached = options.get("cache_members", True)
        if group is not store:
            # It was opened just now.
            group.attrs._as_opened(first_attributes(group))
        new = cls(
            group,
            mode,
            options.get("consolidate_on_close", False),
            options.get("append_dim"),
            options.get("write_region"),
            options.get("safe_chunks", False),
            options.get("write_empty"),
            close_store_on_close=not isinstance(store, Group) and group.store is not store,
            use_zarr_fill_value_as_mask=group.zarr_format == 2 if as_mask is None else as_mask,
            align_chunks=options.get("align_chunks", False),
            cache_members=is_cached and members is None,
        )
        if members is not None:
            new._cache_members, new._members = is_cached, members
        return new

    # Reading

    def _fetch_members(self) -> dict[str, Any]:
        group: Group = self.zarr_group
        return group._read_members() if self._cache_members else dict(group.members())

    def array_keys(self) -> tuple[str, ...]:
        """Names of the arrays of the group."""
        return tuple(name for name, _ in self.arrays())

    def arrays(self) -> tuple[tuple[str, Any], ...]:
        """Names and arrays of the group."""
        return tuple((name, one) for name, one in self.members.items() if isinstance(one, Array))

    def open_store_variable(self, name: str) -> Variable:
        """The variable of an array; its elements are read when they are used."""
        array = self.members[name]
        dimensions, attributes = dimensions_of(array, nczarr=self._mode == "r")
        self._unlimited |= take_unlimited(dimensions, attributes)
        as_mask = self._use_zarr_fill_value_as_mask
        return variable_of(array, dimensions, attributes, self._codecs_of(array), as_mask=as_mask)

    def _codecs_of(self, array: Array) -> dict[str, Any]:
        """As `codecs_of`; arrays with equal documents, of which a dataset has many, share them."""
        document = snapshot_of(array).document
        found = self._codecs.get(document)
        if found is None or document is None:
            found = self._codecs[document] = codecs_of(array)
        return found

    def get_encoding(self) -> dict[str, Any]:
        """The dimensions without a limit of the variables that were opened."""
        return {"unlimited_dims": set(self._unlimited)} if self._unlimited else {}

    def get_dimensions(self) -> dict[Any, int]:
        """Names and lengths of the dimensions of all arrays."""
        lengths: dict[Any, int] = {}
        for name, array in self.arrays():
            dimensions, _ = dimensions_of(array, nczarr=self._mode == "r")
            for dimension, length in zip(dimensions, array.shape, strict=True):
                if lengths.setdefault(dimension, length) != length:
                    raise ValueError(
                        f"found conflicting lengths for dimension {dimension} "
                        f"({length} in the array {name!r}, {lengths[dimension]} in others)"
                    )
        return lengths

    # Writing

    def store(
        self,
        variables: Mapping[Any, Variable],
        attributes: Mapping[Any, Any],
        check_encoding_set: Any = frozenset(),
        writer: Any = None,
        unlimited_dims: Any = None,
    ) -> None:
        """Create or extend the arrays of ``variables``, and hand their elements to ``writer``."""
        stored = set() if self._mode == "w" else set(self.array_keys())
        old = {name for name in variables if _encode_variable_name(name) in stored}
        self._check_names(variables, stored)
        encoded, attributes = self.encode(
            {name: one for name, one in variables.items() if name not in old}, attributes
        )
        if old:
            encoded.update(self._encoded_as_stored({name: variables[name] for name in old}))
        if self._mode not in ("r", "r+"):
            self.set_attributes(attributes)
            self.set_dimensions(encoded, unlimited_dims=unlimited_dims)
        if self._mode == "a-" and self._append_dim is not None:
            encoded = {
                name: one
                for name, one in encoded.items()
                if name not in old or self._append_dim in one.dims
            }
        self.set_variables(encoded, check_encoding_set, writer, unlimited_dims=unlimited_dims)
        if self._consolidate_on_close:
            group = self.zarr_group
            consolidate_metadata(group.store, zarr_format=group.zarr_format)

    def _check_names(self, variables: Mapping[Any, Variable], stored: set[str]) -> None:
        """Raise an error for new variables in mode "r+", and for an unknown dimension."""
        if self._mode == "r+" and (new := [name for name in variables if name not in stored]):
            raise ValueError(
                f"dataset contains non-pre-existing variables {new!r}, which is not allowed with "
                "mode='r+'. To allow writing new variables, set mode='a'."
            )
        append = self._append_dim
        if append is not None and append not in stored:
            existing = self.get_dimensions()
            if append not in existing:
                raise ValueError(
                    f"append_dim={append!r} does not match any existing dataset dimensions "
                    f"{existing}"
                )

    def _encoded_as_stored(self, variables: Mapping[Any, Variable]) -> dict[Any, Variable]:
        """The variables with the encoding, and the order of dimensions, of the stored ones."""
        stored, _, _ = conventions.decode_cf_variables(
            variables={name: self.open_store_variable(name) for name in variables}, attributes={}
        )
        copies = {}
        for name, variable in variables.items():
            _validate_datatypes_for_zarr_append(name, stored[name], variable)
            copies[name] = variable.copy(deep=False)
            copies[name].encoding = stored[name].encoding
        encoded, _ = self.encode(copies, {})
        return {
            name: _validate_and_transpose_existing_dims(
                name, encoded[name], stored[name], self._write_region, self._append_dim
            )
            for name in variables
        }

    def set_variables(
        self,
        variables: Mapping[Any, Variable],
        check_encoding_set: Any,
        writer: Any,
        unlimited_dims: Any = None,
    ) -> None:
        """Create or extend the arrays of encoded ``variables``."""
        if not self._safe_chunks:
            variables = {name: _with_regular_chunks(one) for name, one in variables.items()}
        super().set_variables(dict(variables), check_encoding_set, writer, unlimited_dims)

    def _open_existing_array(self, *, name: str) -> Array:
        array: Array = self.zarr_group[name]
        # As for a new array, where v2 has another default in zarrix.
        wanted = bool(self._write_empty)
        if array.write_empty_chunks == wanted:
            return array
        return array.with_config({"write_empty_chunks": wanted})

    def _create_new_array(
        self,
        *,
        name: str,
        shape: tuple[int, ...],
        dtype: Any,
        fill_value: Any,
        encoding: dict[str, Any],
        attrs: Mapping[str, Any],
    ) -> Array:
        try:
            require_json(attrs)
        except TypeError as error:
            raise TypeError(f"Invalid attribute in Dataset.attrs. {name!r}: {error}") from error
        options = new_array_options(dtype, encoding, self._write_empty, self.zarr_group.zarr_format)
        array: Array = self.zarr_group.create_array(
            name, shape=shape, fill_value=fill_value, attributes=dict(attrs), **options
        )
        return array


def variable_of(
    array: Array,
    dimensions: tuple[Any, ...],
    attributes: dict[str, Any],
    codecs: Mapping[str, Any],
    *,
    as_mask: bool,
) -> Variable:
    """The variable of an array before decoding; ``as_mask`` makes its fill value CF's."""
    data = StoredVariable(array)
    chunks, shards = sizes(array)
    encoding: dict[str, Any] = {
        "chunks": chunks,
        "preferred_chunks": dict(zip(dimensions, chunks, strict=True)),
    }
    if data.dtype.kind == "T":
        encoding["dtype"] = data.dtype
    encoding.update(codecs, shards=shards)
    fill_value = array.fill_value
    if as_mask:
        if fill_value is not None:
            attributes["_FillValue"] = fill_value
    else:
        if array.zarr_format == 3:
            encoding["fill_value"] = fill_value
        if "_FillValue" in attributes:
            attributes["_FillValue"] = FillValueCoder.decode(attributes["_FillValue"], array.dtype)
    lazy = indexing.LazilyIndexedArray(data, _whole(len(data.shape)))
    return Variable(dimensions, lazy, attributes, encoding)


@lru_cache(maxsize=64)
def _whole(axes: int) -> indexing.BasicIndexer:
    """The key of a whole array; xarray would check and create one for each variable."""
    return indexing.BasicIndexer((slice(None),) * axes)


def _with_regular_chunks(variable: Variable) -> Variable:
    """The variable with chunks as long as its longest blocks, if these are irregular.

    xarray refuses such blocks, because with zarr-python blocks that share chunks lose data.
    """
    blocks = variable.chunks
    wanted = variable.encoding.get("chunks")
    is_chosen = isinstance(wanted, int) or (wanted and len(wanted) == variable.ndim)
    if not blocks or is_chosen:
        return variable
    changed = variable.copy(deep=False)
    changed.encoding = {
        **variable.encoding,
        "chunks": tuple(max(1, *lengths) for lengths in blocks),
    }
    return changed
