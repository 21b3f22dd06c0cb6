"""The planner against the simulation: what it chooses is about the best of its candidates."""

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cluster(monkeypatch):
    """The simulation, which is beside the tests and not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import cluster

    return cluster


@pytest.mark.parametrize("count", [4, pytest.param(1000, marks=pytest.mark.long)])
def test_the_chosen_plan_is_within_a_fifth_of_the_best(cluster, count):
    jobs = cluster.ratios(count)
    found = np.array([one[0] for one in jobs])
    print(f"{count} jobs: median {np.median(found):.3f}, most {found.max():.3f}")
    worst, *of_worst = jobs[int(found.argmax())]
    assert worst <= 1.2, of_worst


def test_a_simulation_has_the_costs_of_its_plan(cluster):
    random = np.random.default_rng(0)
    setting = cluster.Cluster(workers=10, losses_an_hour=0.0, slow_share=0.0)
    problem = cluster.random_problem(np.random.default_rng(4), setting)
    for plan in cluster.candidates(problem):
        found = cluster.simulate(plan, problem.shape, setting, random)
        assert found.gets == sum(one.gets for one in plan.passes)
        assert found.puts == sum(one.puts for one in plan.passes)
        assert found.hours * 3600 == pytest.approx(plan.seconds, rel=0.7)


def test_what_is_asked_beside_data_is_little_of_all(cluster):
    setting = cluster.Cluster()
    problem = cluster.large_problem(setting, 1 << 30)
    plan = min(cluster.candidates(problem), key=lambda one: one.seconds)
    found = cluster.simulate(plan, problem.shape, setting, np.random.default_rng(0))
    tasks = sum(one.tasks for one in plan.passes)
    assert 0 < found.documents <= tasks
    # A listing and 999 requests of each of 1,000 parts, twice a second, were two million.
    waited = found.listings / (found.hours * 3600)
    assert waited < 500, "requests a second for waiting, of all parts together"
    assert found.documents + found.listings < 0.1 * (found.gets + found.puts)
