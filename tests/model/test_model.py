"""A stored array behaves like a NumPy array under any sequence of operations.

Arrays are drawn (format, elements, shape, chunk grid, shards, order, codec, fill value, separator,
store), then read, written, grown, cut and reopened next to a NumPy model, and every result is
compared bit by bit: payloads of NaN, signs of zero and padding included. All of it runs twice: with
one handle, and with two that two threads use in turn and at once; every second example with a cache
of decoded chunks that is too small for all of them.

By default the examples are those of the numbers 0, 1, 2, ..., the same everywhere; ``--long`` takes
twice as many, of twice as many steps. The long run

    ZARRIX_MODEL_EXAMPLES=500 ZARRIX_MODEL_STEPS=50 pytest -s tests/model

lets Hypothesis draw others each time and cut a failing one short. Either prints how often each
thing was drawn.
"""

import os
from random import Random

import pytest
import zarrix
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from model.array import StoredArray
from model.drawn import drawn, table
from model.elements import ELEMENTS
from model.layouts import CODECS, GRIDS, STORES
from model.selections import SELECTIONS
from model.two_handles import TwoHandles

LONG = "ZARRIX_MODEL_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("ZARRIX_MODEL_EXAMPLES", "150"))
STEPS = int(os.environ.get("ZARRIX_MODEL_STEPS", "10"))
# Not st.integers, which prefers small ones and so would draw the same examples again and again.
NUMBERS = st.binary(min_size=4, max_size=4).map(int.from_bytes)


def run(machine: type[StoredArray], numbers: list[int]) -> None:
    with zarrix.config(chunk_cache_bytes=numbers[0] % 2 * 20_000):
        machine().run(numbers)


def explore(machine: type[StoredArray]) -> None:
    """Run examples that Hypothesis draws."""

    @settings(
        max_examples=EXAMPLES,
        derandomize=False,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(NUMBERS, st.lists(NUMBERS, min_size=STEPS, max_size=STEPS))
    def example(first: int, rest: list[int]) -> None:
        run(machine, [first, *rest])

    example()


@pytest.mark.parametrize("machine", [StoredArray, TwoHandles])
def test_a_stored_array_behaves_as_the_numpy_array_beside_it(
    machine: type[StoredArray], capsys: pytest.CaptureFixture[str], is_long: bool
) -> None:
    for counts in drawn.values():
        counts.clear()
    longer = 2 if is_long and not LONG else 1
    examples, steps = EXAMPLES * longer, STEPS * longer
    if LONG:
        explore(machine)
    else:
        for number in range(examples):
            random = Random(number)
            run(machine, [random.getrandbits(32) for _ in range(steps + 1)])
    with capsys.disabled():
        print(f"\n{table(f'{examples} examples of {steps} steps; drawn:')}")
    if LONG:
        return  # What is drawn is chance; the table is there to be read.
    assert drawn["selection"].keys() == set(SELECTIONS)
    assert {"read fields", "write fields", "stream", "resize"} < drawn["step"].keys()
    assert drawn["order"].keys() == {"C", "F"}
    assert drawn["format"].keys() == {"2", "3"}
    assert drawn["grid"].keys() == {"v2", *GRIDS}
    assert drawn["store"].keys() == set(STORES)
    assert drawn["elements"].keys() == ELEMENTS.keys()
    assert drawn["codec"].keys() == {*CODECS, "zstd alone"}
