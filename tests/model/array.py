"""What may be done to a stored array, done to a NumPy array too; they stay equal, bit by bit."""

import pickle
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

from model.drawn import count
from model.elements import Values, assert_same_elements
from model.layouts import Layout, draw_layout
from model.selections import Selection, draw_selection

MOST_ELEMENTS = 10_000


class StoredArray:
    """A stored array beside its model.

    The methods whose names are in `steps` are what may be done; each takes a ``Random``.
    """

    steps: tuple[str, ...] = (
        *("read", "read", "read", "read_into", "read_into", "write", "write", "write", "write"),
        *("write_all", "write_the_fill_value"),
        *("resize", "append", "stream", "reopen", "read_by_a_second_handle", "iterate"),
        *("refuse_what_does_not_fit", "migrate", "start_again"),
    )

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.made = 0
        self.store: Any = None
        self.story: list[str] = []

    def run(self, seeds: Sequence[int]) -> None:
        """Make an array of the first number, and do one thing for each of the others.

        A number of 0 is not a step: Hypothesis shrinks unneeded steps to it.
        """
        try:
            self.start_again(Random(seeds[0]))
            for place, seed in enumerate(seeds):
                if not (place and seed):
                    continue
                random = Random(f"{seed} at {place}")
                step = random.choice(self.steps)
                self.tell(f"  {step}")
                getattr(self, step)(random)
                self.check()
            self.leave()
        except BaseException as error:
            error.add_note("\n".join([f"{type(self).__name__}().run({list(seeds)})", *self.story]))
            raise
        finally:
            self.close()

    def tell(self, text: str) -> None:
        self.story.append(text if len(text) < 500 else f"{text[:500]}...")

    def check(self) -> None:
        """The array holds what the model holds."""
        self.same(self.do(lambda z: z[...]), self.model)

    def leave(self) -> None:
        """Close the store; what an archive holds is on disk then, and is what the model holds."""
        if isinstance(self.store, zarr.ZipStore):
            self.store.close()
            self.store = zarr.ZipStore(self.store.path, mode="r")
            self.same(self.open("r")[...], self.model)
            self.store.close()

    def close(self) -> None:
        self.folder.cleanup()

    # Handles: one here, two of them elsewhere

    def do(self, work: Callable[..., Any], *args: Any) -> Any:
        """Call ``work`` with the array."""
        return work(self.z, *args)

    def use(self, array: Any) -> None:
        self.z = array

    # The arrays

    def start_again(self, random: Random) -> None:
        self.leave()
        self.layout: Layout = draw_layout(random)
        self.story = [str(self.layout)]
        self.made += 1
        folder = Path(self.folder.name) / f"{self.made}.zarr"
        self.store, self.path, array = self.layout.create(folder)
        self.dtype: np.dtype[Any] = array.dtype
        self.expect_dtype()
        self.second: Any = None
        self.model: Values = self.layout.empty(self.dtype, self.layout.shape)
        self.fill: Any = self.layout.empty(self.dtype, (1,))[0]
        self.use(array)
        layout = self.layout
        count(
            format=str(layout.zarr_format),
            grid=layout.grid if layout.zarr_format == 3 else "v2",
            elements=layout.elements,
            codec=layout.codec,
            order=layout.order,
            store=layout.store,
            axes=str(len(layout.shape)),
            step="start again",
        )

    def expect_dtype(self) -> None:
        """In v3 the byte order is a codec's, and what is read is native."""
        given = self.layout.of.dtype
        if self.layout.zarr_format == 3:
            given = given.newbyteorder("=")
        texts = self.layout.elements == "text" and self.layout.zarr_format == 3
        assert self.dtype.kind in "OT" if texts else self.dtype == given

    def same(self, got: Any, want: Values) -> None:
        assert_same_elements(got, want, self.dtype)

    def values(self, random: Random, shape: tuple[int, ...]) -> Values:
        return self.layout.of.values(self.dtype, shape, random.getrandbits(31))

    # Reading

    def draw(self, random: Random) -> Selection:
        found = self.do(lambda z: draw_selection(random, z, self.model.shape))
        self.tell(f"    {found.kind}: {found.key!r}")
        count(selection=found.kind)
        return found

    def selected(self, numbers: Values) -> Values:
        """What the model has there; the fill value where a number is none."""
        found = np.full(numbers.size, self.fill, self.dtype)
        inside = numbers.reshape(-1) >= 0
        found[inside] = self.model.reshape(-1)[numbers.reshape(-1)[inside]]
        return found.reshape(numbers.shape)

    def read(self, random: Random) -> None:
        found = self.draw(random)
        if self.dtype.names and found.method and random.random() < 0.4:
            self.read_fields(random, found, self.dtype.names)
            return
        count(step="read")
        self.same(self.do(random.choice(found.readers)), self.selected(found.numbers))

    def read_into(self, random: Random) -> None:
        found = self.draw(random)
        if not found.into:
            return
        count(step="read into")
        out = out_of_any_strides(random, found.numbers.shape, self.dtype)
        assert self.do(random.choice(found.into), out) is out
        # As a part of an array, because an element is not an array.
        self.same(out[None], self.selected(found.numbers)[None])

    def read_fields(self, random: Random, found: Selection, names: tuple[str, ...]) -> None:
        count(step="read fields")
        fields = self.draw_fields(random, names)
        got = self.do(lambda z: _getter(z, found)(found.key, fields=fields))
        want = self.selected(found.numbers)
        if isinstance(fields, str):
            assert_same_elements(got, want[fields], self.dtype[fields].base)
            return
        assert np.asarray(got).dtype.names == tuple(fields)
        for name in fields:
            assert_same_elements(np.asarray(got)[name], want[name], self.dtype[name].base)

    def draw_fields(self, random: Random, names: tuple[str, ...]) -> Any:
        fields: Any = random.choice((*names, random.sample(names, random.randint(1, len(names)))))
        self.tell(f"    fields {fields}")
        return fields

    def read_by_a_second_handle(self, random: Random) -> None:
        count(step="second handle")
        if self.second is None:
            self.second = self.open("r")
        self.same(self.second[...], self.model)
        assert self.second.nchunks_initialized <= self.second.nchunks

    def iterate(self, random: Random) -> None:
        if not self.model.ndim or len(self.model) > 100:
            return
        count(step="iterate")
        rows = self.do(list)
        assert len(rows) == len(self.model)
        for number, row in enumerate(rows):
            self.same(row, self.model[number : number + 1].reshape(self.model.shape[1:]))

    # Writing

    def put(self, numbers: Values, value: Any) -> None:
        values: Any = np.empty(numbers.shape, self.dtype)
        values[...] = value
        self.model.reshape(-1)[numbers.reshape(-1)] = values.reshape(-1)

    def write(self, random: Random) -> None:
        found = self.draw(random)
        if self.dtype.names and found.method and random.random() < 0.4:
            self.write_fields(random, found, self.dtype.names)
            return
        if not found.writers:
            return
        count(step="write")
        value = self.value_for(random, found.numbers.shape)
        self.do(random.choice(found.writers), value)
        self.put(found.numbers, value)

    def value_for(self, random: Random, shape: tuple[int, ...]) -> Any:
        """Something that broadcasts to ``shape``: whole, one row, one element, a Python number."""
        forms = ["whole", "whole", "some axes of 1", "of Fortran's order", "strided"]
        # An array is an element of one place that holds objects.
        if shape or not self.dtype.hasobject:
            forms.append("one axis more")
        if shape:
            forms.append("last axes")
        if self.dtype.kind in "biufc":
            forms.append("number")
        if not self.dtype.hasobject or self.layout.elements in ("text", "bytes", "categories"):
            forms.append("element")
        form = random.choice(forms)
        count(value=form)
        if form == "element":
            return self.values(random, (1,))[0]
        if form == "number":
            return random.randint(0, 1)
        if form == "some axes of 1":
            return self.values(random, tuple(random.choice((1, n)) for n in shape))
        if form == "one axis more":
            return self.values(random, (1, *shape))
        if form == "last axes":
            return self.values(random, shape[random.randint(1, len(shape)) :])
        if form == "of Fortran's order":
            return np.array(self.values(random, shape), order="F")
        value = self.values(random, shape)
        if form == "strided":
            strided = out_of_any_strides(random, shape, self.dtype)
            strided[...] = value
            return strided
        return value

    def write_fields(self, random: Random, found: Selection, names: tuple[str, ...]) -> None:
        count(step="write fields")
        fields = self.draw_fields(random, names)
        new = self.selected(found.numbers)
        value = self.values(random, found.numbers.shape)
        if isinstance(fields, str):
            value = value[fields]
            new[fields] = value
        else:
            value = np.array(value[fields])
            for name in fields:
                new[name] = value[name]
        self.do(lambda z: _setter(z, found)(found.key, value, fields=fields))
        self.put(found.numbers, new)

    def write_all(self, random: Random) -> None:
        count(step="write all")
        self.model = self.values(random, self.model.shape)
        self.do(_assign_all, self.model)

    def write_the_fill_value(self, random: Random) -> None:
        found = self.draw(random)
        if not found.writers:
            return
        count(step="write the fill value")
        self.do(random.choice(found.writers), self.fill)
        self.put(found.numbers, self.fill)

    # Growing and shrinking

    def resize(self, random: Random) -> None:
        shape = tuple(random.randint(0, size + 5) for size in self.model.shape)
        if not shape or np.prod(shape) > MOST_ELEMENTS:
            return
        count(step="resize")
        self.tell(f"    {shape}")
        kept = tuple(slice(min(old, new)) for old, new in zip(self.model.shape, shape, strict=True))
        grown = self.layout.empty(self.dtype, shape)
        grown[kept] = self.model[kept]
        self.model = grown
        self.do(lambda z: z.resize(*shape))
        self.second = None
        assert self.do(lambda z: z.shape) == shape

    def append(self, random: Random) -> None:
        if not self.model.ndim or self.model.size > MOST_ELEMENTS:
            return
        count(step="append")
        axis, rows = self.draw_rows(random, 0, 4)
        self.model = np.concatenate([self.model, rows], axis=axis).astype(self.dtype)
        assert self.do(lambda z: z.append(rows, axis=axis)) == self.model.shape
        self.second = None

    def stream(self, random: Random) -> None:
        """Rows through a writer, some of them one by one."""
        if not self.model.ndim or self.model.size > MOST_ELEMENTS:
            return
        count(step="stream")
        axis, rows = self.draw_rows(random, 0, 6)
        cut = random.randint(0, rows.shape[axis])
        before = (slice(None),) * axis

        def write(z: Any) -> None:
            with z.writer(axis=axis) as stream:
                for i in range(cut):
                    stream.append(rows[(*before, slice(i, i + 1))])
                stream.append(rows[(*before, slice(cut, None))])

        self.do(write)
        self.model = np.concatenate([self.model, rows], axis=axis).astype(self.dtype)
        self.second = None

    def draw_rows(self, random: Random, least: int, most: int) -> tuple[int, Values]:
        axis = random.randint(0, self.model.ndim - 1)
        shape = list(self.model.shape)
        shape[axis] = random.randint(least, most)
        self.tell(f"    axis {axis}, {shape}")
        return axis, self.values(random, tuple(shape))

    # Opening, and what is refused

    def open(self, mode: str, **keywords: Any) -> Any:
        keywords["allow_pickle"] = self.layout.elements == "pickle"
        return zarr.open_array(self.store, mode=mode, path=self.path or None, **keywords)

    def reopen(self, random: Random) -> None:
        count(step="reopen")
        how = random.choice(("r+", "a", "pickle"))
        if how != "pickle":
            self.use(self.open(how))
        elif self.layout.store not in ("memory", "dict", "zip"):
            self.use(self.do(lambda z: pickle.loads(pickle.dumps(z))))
        assert self.do(lambda z: z.shape) == self.model.shape
        assert self.do(lambda z: z.dtype) == self.dtype

    def migrate(self, random: Random) -> None:
        """To the other format and back, where the other one has words for the array."""
        formats = [5 - self.layout.zarr_format, self.layout.zarr_format]
        for to in formats:
            there = zarr.migrate(self.store, to=to, rewrite=True, dry_run=True)
            if there.obstacles:
                assert to == formats[0], there
                return
            zarr.migrate(self.store, to=to, rewrite=True)
            found = self.open("r+")
            assert found.zarr_format == to
            assert_same_elements(found[...].astype(self.dtype), self.model, self.dtype)
        count(step="migrate")
        assert found.dtype == self.dtype
        self.use(found)
        self.second = None

    def refuse_what_does_not_fit(self, random: Random) -> None:
        """What fails leaves everything as it was, as `check` sees."""
        shape = self.model.shape
        if not shape:
            return
        count(step="refuse")
        axis = random.randint(0, len(shape) - 1)
        size = shape[axis]
        before = (slice(None),) * axis
        index = random.choice((size, size + 9, -size - 1))
        one = self.values(random, (1,))
        for key in ((*before, index), (*before, [index, 0])):
            with pytest.raises(IndexError, match=f"axis {axis}"):
                self.do(lambda z, key=key: z[key])
            with pytest.raises(IndexError, match=f"axis {axis}"):
                self.do(lambda z, key=key: z.set_orthogonal_selection(key, one))
        wrong = self.values(random, (*shape[:-1], shape[-1] + 2))
        with pytest.raises(ValueError, match="does not broadcast"):
            self.do(_assign_all, wrong)
        with pytest.raises(ValueError, match="out has shape"):
            self.do(lambda z: z.get_basic_selection(out=np.empty(wrong.shape, self.dtype)))
        with pytest.raises(IndexError, match="boolean array"):
            self.do(lambda z: z.set_orthogonal_selection((*before, np.ones(size + 1, bool)), one))


def _assign_all(z: Any, value: Any) -> None:
    z[...] = value


def _getter(z: Any, found: Selection) -> Any:
    return getattr(z, f"get_{found.method}_selection")


def _setter(z: Any, found: Selection) -> Any:
    return getattr(z, f"set_{found.method}_selection")


def out_of_any_strides(random: Random, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Values:
    """A part of a larger array: axes in any order, with any steps, in either direction."""
    order = random.sample(range(len(shape)), len(shape))
    steps = [random.choice((1, 1, 2, 3)) for _ in shape]
    if random.random() < 0.3:
        order, steps = sorted(order), [1] * len(shape)
    ends = [shape[axis] * steps[axis] + random.choice((0, 0, 2)) for axis in order]
    wide = np.zeros(tuple(ends), dtype)
    part = wide[tuple(slice(0, shape[axis] * steps[axis], steps[axis]) for axis in order) or ...]
    part = part.transpose(np.argsort(order)) if shape else part
    turned = tuple(slice(None, None, random.choice((1, 1, -1))) for _ in shape)
    part = part[(*turned, ...)]
    assert part.shape == shape
    kind = "contiguous" if part.flags.c_contiguous else "reversed" if min(part.strides) < 0 else ""
    count(out=kind or ("in another order" if order != sorted(order) else "strided"))
    return part
