"""What a batch becomes: anything that ``transform`` and ``to`` return reaches the caller."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml
from zarrix.ml._reading.arrays import with_arrays


class Pair(NamedTuple):
    x: Any
    more: Any


def loader(prefetch: int = 2, **options: Any) -> ml.Loader:
    rows = ml.Rows({"x": zarr.array(np.arange(10.0), chunks=3)})
    return ml.Loader(rows, 4, shuffle=False, prefetch=prefetch, **options)


SHAPES: dict[str, Any] = {
    "a dict without item": lambda batch: {"x": batch["x"]},
    "a tuple": lambda batch: (batch["x"], batch["item"]),
    "a named tuple": lambda batch: Pair(batch["x"], batch["item"]),
    "a list": lambda batch: [batch["x"]],
    "an array": lambda batch: batch["x"],
    "a nest": lambda batch: {"in": {"x": batch["x"]}, "ids": [batch["item"], (batch["x"],)]},
    "text": lambda batch: "text",
    "zero": lambda batch: 0,
}


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_a_transform_may_return_anything(name: str, prefetch: int) -> None:
    one = loader(prefetch, transform=lambda batch, rng: SHAPES[name](batch))
    wanted = [SHAPES[name](batch) for batch in loader(prefetch)]
    found = list(one)
    assert len(found) == 3
    assert repr(found) == repr(wanted)
    assert (one.stats().samples, one.stats().batches) == (10, 3)
    assert one.state_dict()["seen"] == 10


@pytest.mark.parametrize("name", SHAPES)
def test_a_function_for_to_may_return_anything(name: str) -> None:
    one = loader(to=SHAPES[name])
    assert repr(list(one)) == repr([SHAPES[name](batch) for batch in loader()])
    assert one.stats().samples == 10


def numbers(batch: Any) -> Any:
    """The nest with each array of numbers as a marked value."""
    return with_arrays(batch, {}, lambda value, is_bfloat16: ("made", is_bfloat16, value.tolist()))


def test_arrays_are_converted_wherever_they_are() -> None:
    x, text = np.array([1, 2]), np.array(["a"], object)
    nest = {"a": x, "b": {"c": [x, (x, "text")], "d": Pair(x, None)}, "e": text, 5: x}
    made = ("made", False, [1, 2])
    found = numbers(nest)
    assert found["a"] == found[5] == made
    assert found["b"] == {"c": [made, (made, "text")], "d": Pair(made, None)}
    assert type(found["b"]["d"]) is Pair
    assert found["e"] is text
    assert nest["a"] is x, "a nest that the caller keeps is not changed"
    assert numbers((x,)) == (made,)
    assert numbers(x) == made


def test_only_the_bits_of_a_field_become_bfloat16() -> None:
    """A transform may have put other values under the name of a field."""
    bits, halves = np.zeros(2, np.uint16), np.zeros(2, np.float32)
    kinds = {"x": "bfloat16"}
    told: list[bool] = []
    with_arrays(
        {"x": bits, "y": bits, "z": {"x": halves}}, kinds, lambda _, is_b: told.append(is_b)
    )
    assert told == [True, False, False]


@pytest.mark.parametrize("name", SHAPES)
def test_torch_tensors_of_anything(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    found = list(loader(to="torch", transform=lambda batch, rng: SHAPES[name](batch)))
    plain = list(loader(transform=lambda batch, rng: SHAPES[name](batch)))

    def same(one: Any, other: Any) -> None:
        if isinstance(other, np.ndarray):
            assert isinstance(one, torch.Tensor)
            assert one.tolist() == other.tolist()
        elif isinstance(other, dict):
            assert one.keys() == other.keys()
            for key in other:
                same(one[key], other[key])
        elif isinstance(other, tuple | list):
            assert type(one) is type(other)
            for first, second in zip(one, other, strict=True):
                same(first, second)
        else:
            assert one == other

    same(found, plain)


def test_torch_takes_flips_text_and_other_byte_orders(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rows = ml.Rows(
        {
            "x": zarr.array(np.arange(12).reshape(4, 3).astype(">i4")),
            "name": zarr.array(np.array(["a", "b", "c", "d"], object), dtype=str),
        }
    )

    def flip(batch: ml.Batch, rng: np.random.Generator) -> None:
        batch["x"] = batch["x"][:, ::-1]

    for device in (None, "cpu"):
        batch = next(
            iter(ml.Loader(rows, 4, shuffle=False, to="torch", transform=flip, device=device))
        )
        assert torch.equal(batch["x"], torch.arange(12).reshape(4, 3).flip(1))
        assert batch["name"].tolist() == ["a", "b", "c", "d"]
