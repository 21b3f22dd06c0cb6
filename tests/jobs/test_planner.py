"""The planner, for any shape and grids: every element once, within memory, and never outside."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix.errors import JobError
from zarrix.jobs._operations import planner as _planner
from zarrix.jobs._operations.planner import LOCAL, REMOTE, Problem, candidates, choose
from zarrix.jobs._running.tiling import Tiling, extent


@st.composite
def problems(draw):
    """Small arrays with any two grids, and a memory that is sometimes too small."""
    axes = draw(st.integers(0, 3))
    lengths = st.integers(1, 40)
    shape = tuple(draw(st.integers(0, 60)) for _ in range(axes))
    read, write = (tuple(draw(lengths) for _ in range(axes)) for _ in range(2))
    stored = tuple(n * draw(st.integers(1, 3)) for n in read)
    memory = draw(st.sampled_from([1 << 8, 1 << 12, 1 << 16, 1 << 22]))
    rates = draw(st.sampled_from([LOCAL, REMOTE]))
    return Problem(shape, draw(st.sampled_from([1, 8])), read, stored, write, memory, 2, rates)


def tiling_of(problem, region, unit):
    grid = tuple(AxisGrid(even=n) for n in unit)
    units = tuple(-(-r // u) for r, u in zip(region, unit, strict=True))
    return Tiling(problem.shape, grid, units)


@settings(max_examples=150)
@given(problems())
def test_every_pass_writes_every_element_once(problem):
    try:
        plan, others = choose(problem)
    except JobError:
        return
    assert plan in others
    for at, one in enumerate(plan.passes):
        is_last = at == len(plan.passes) - 1
        assert all(r % u == 0 for r, u in zip(one.region, one.inner or problem.write, strict=True))
        tiling = tiling_of(problem, one.region, problem.write if is_last else one.region)
        written = np.zeros(problem.shape, int)
        values = set()
        for number in range(len(tiling)):
            region = tiling.region(number)
            assert all(
                0 <= s.start < s.stop <= n for s, n in zip(region, problem.shape, strict=True)
            )
            written[region] += 1
            own = set(tiling.coords(number))
            assert own
            assert not own & values
            values |= own
        assert (written == 1).all()
        assert one.memory <= problem.memory or 0 in problem.shape
        if 0 not in problem.shape:
            assert one.tasks == len(tiling)


@settings(max_examples=100)
@given(problems())
def test_reads_are_as_many_as_planned(problem):
    """The amplification of a pass over plain chunks, by counting."""
    problem = replace(problem, stored=problem.read)
    if 0 in problem.shape:
        return
    for plan in candidates(problem, max_passes=1):
        (one,) = plan.passes
        tiling = tiling_of(problem, one.region, problem.write)
        touched = 0
        for number in range(len(tiling)):
            touched += math.prod(
                -(-s.stop // u) - s.start // u
                for s, u in zip(tiling.region(number), problem.clipped(problem.read), strict=True)
            )
        assert one.gets == touched


def test_coprime_chunks_are_planned():
    problem = Problem((10**5, 10**5), 8, (1000,) * 2, (1000,) * 2, (999,) * 2, 2**28, 2, LOCAL)
    plan, others = choose(problem)
    assert len(others) == 4
    assert all(one.memory <= 2**28 for one in plan.passes)
    assert plan.passes[0].amplification < 2


def test_an_index_of_a_shard_is_short():
    problem = Problem((2**20, 2**11, 2**10), 4, (1, 2**10, 2**10), (1, 2**10, 2**10),
                      (2**20, 1, 1), 2**30, 2, REMOTE)  # fmt: skip
    for plan in candidates(problem):
        for one in plan.passes[:-1]:
            assert math.prod(r // c for r, c in zip(one.region, one.inner, strict=True)) <= 1000


def test_passes_that_do_not_fit_are_named():
    problem = Problem((100, 100), 8, (100, 1), (100, 1), (1, 100), 2000, 1, LOCAL)
    with pytest.raises(JobError, match="at least"):
        choose(problem)


@pytest.mark.parametrize("zeros", [(0,), (0, 5), (3, 0, 2)])
def test_an_array_without_elements_has_no_tasks(zeros):
    ones = (1,) * len(zeros)
    plan, _ = choose(Problem(zeros, 8, ones, ones, ones, 1000, 2, LOCAL))
    assert len(plan.passes) == 1
    assert len(tiling_of(plan_problem(zeros), plan.passes[0].region, ones)) == 0


def plan_problem(shape):
    ones = (1,) * len(shape)
    return Problem(shape, 8, ones, ones, ones, 1000, 2, LOCAL)


def test_uneven_grids_have_regions_of_whole_chunks():
    grid = (AxisGrid(runs=((10, 2), (5, 3))), AxisGrid(even=4))
    tiling = Tiling((33, 9), grid, (2, 2))
    regions = [tiling.region(n) for n in range(len(tiling))]
    assert [extent(one) for one in regions] == [(20, 8), (20, 1), (10, 8), (10, 1), (3, 8), (3, 1)]
    coords = [c for n in range(len(tiling)) for c in tiling.coords(n)]
    assert sorted(coords) == list(itertools.product(range(5), range(3)))


def _lengths(n, unit, read):
    """All lengths of regions that can be the best along an axis."""
    whole = -(-n // unit)
    counts = {-(-whole // parts) for parts in range(1, whole + 1)}
    aligned = math.lcm(unit, read)
    return sorted({unit * one for one in counts} | set(range(aligned, n + 1, aligned)))


def test_regions_of_one_pass_are_about_as_good_as_any():
    random = np.random.default_rng(0)
    ratios = []
    while len(ratios) < 60:
        shape = tuple(
            int(random.integers(low, high)) for low, high in ((500, 9000), (20, 400), (20, 800))
        )
        read = (
            16,
            int(random.integers(5, min(shape[1], 128))),
            int(random.integers(5, min(shape[2], 600))),
        )
        write = (shape[0], *(int(random.choice([4, 8, 10, 16, 32])) for _ in range(2)))
        problem = Problem(shape, 4, read, read, write, int(2 ** random.uniform(27, 31)), 1, LOCAL)
        axes = [_lengths(*one) for one in zip(shape, write, read, strict=True)]
        plans = (_planner._evaluated(problem, [one]) for one in itertools.product(*axes))
        fitting = [plan.seconds for plan in plans if plan.memory <= problem.memory]
        if fitting:
            ratios.append(candidates(problem, 1)[0].seconds / min(fitting))
    assert np.mean(ratios) < 1.02, "1.08 with multiples alone"
    assert max(ratios) < 1.3


def test_regions_divide_what_has_no_common_multiple():
    problem = Problem(
        (8192, 720, 1440), 4, (100, 40, 500), (100, 40, 500), (8192, 8, 32), 1 << 30, 1, LOCAL
    )
    (one,) = candidates(problem, 1)[0].passes
    assert one.region == (8192, 40, 736)
    assert one.amplification < 1.34, "1.67 with regions of 512"
