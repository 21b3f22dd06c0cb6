"""Rechunking at the scale of a data centre, simulated.

    python -m benchmarks.cluster

8 TiB of time steps become columns of a few pixels, by 1000 workers that each have 75 MiB/s and
400 MiB/s of codecs, and 64 requests in flight that take 30 ms, two in a hundred ten times as long.
One worker in a hundred is four times as slow. The service allows 5500 GET and 3500 PUT a second for
each of 32 prefixes. Requests and CPU have the prices of a large provider.

Each plan is simulated task by task: which worker has it, how long its requests take, whether the
worker dies, and copies of the last tasks on idle workers. The planner sees none of that: it has
only the rates. The test of the planner (`tests/jobs/test_cluster.py`) compares its choice with the
best candidate of random jobs.
"""

from __future__ import annotations

import argparse
import heapq
import math
from dataclasses import dataclass, replace

import numpy as np
from zarrix.jobs._operations.planner import (
    REMOTE,
    Pass,
    Plan,
    Problem,
    _all_pieces,
    _evaluated,
    candidates,
)
from zarrix.jobs._running import parts as _parts

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40

# Prices in dollars: a million requests, and an hour of a virtual CPU.
GET_PRICE, PUT_PRICE, CPU_PRICE = 0.4, 5.0, 0.05
# More tasks than these are simulated in equal groups.
MOST_SIMULATED = 1_000_000


@dataclass(frozen=True)
class Cluster:
    """Workers, and the service that they use."""

    workers: int = 1000
    bandwidth: float = 75 * MIB
    codecs: float = 400 * MIB
    latency: float = 0.03
    concurrency: int = 64
    prefixes: int = 32
    slow_share: float = 0.01
    slow_factor: float = 4.0
    losses_an_hour: float = 0.02
    tasks_a_second: float = 2000

    @property
    def mean_latency(self):
        """Seconds of a request: two in a hundred take ten times as long."""
        return self.latency * (0.98 + 0.02 * 10)

    @property
    def rates(self):
        """What the planner is told."""
        return replace(
            REMOTE,
            bandwidth=self.bandwidth,
            codecs=self.codecs,
            latency=self.mean_latency,
            concurrency=self.concurrency,
            gets=5500 * self.prefixes,
            puts=3500 * self.prefixes,
            workers=self.workers,
        )


@dataclass(frozen=True)
class Result:
    """What a simulated plan takes."""

    hours: float
    gets: int
    puts: int
    cpu_hours: float
    wasted: float
    # Beside data: documents of sources, and listings of the parts of a job array that wait.
    documents: int = 0
    listings: int = 0

    @property
    def requests_price(self):
        """Dollars for requests; a listing has the price of a PUT."""
        gets, puts = self.gets + self.documents, self.puts + self.listings
        return (gets * GET_PRICE + puts * PUT_PRICE) / 1e6

    @property
    def cpu_price(self):
        """Dollars for CPUs."""
        return self.cpu_hours * CPU_PRICE


def _sizes(shape, region):
    """The part of a pass that each of its tasks is, in their order."""
    sizes = np.ones(1)
    for n, length in zip(shape, region, strict=True):
        lengths = np.full(-(-n // length), min(length, n), float)
        lengths[-1] = n - (len(lengths) - 1) * length
        sizes = np.outer(sizes, lengths / n).ravel()
    return sizes


def _durations(cluster, one, is_first, shape, random):
    """The seconds of each task of a pass on a worker of full speed."""
    tasks, more = one.tasks, 1.0
    if tasks > MOST_SIMULATED:
        tasks, more = MOST_SIMULATED, one.tasks / MOST_SIMULATED
        sizes = np.full(tasks, 1 / one.tasks)
    else:
        sizes = _sizes(shape, one.region)
    decoded = one.bytes_in * (1.0 if is_first else 0.3)
    decoded += one.bytes_out * (1.0 if one.inner is None else 0.3)
    working = max((one.bytes_in + one.bytes_out) / cluster.bandwidth, decoded / cluster.codecs)
    waves = np.maximum(1.0, sizes * (one.gets + one.puts) / cluster.concurrency)
    # The scatter of a wave, which many waves level out.
    scatter = cluster.latency * math.sqrt(0.98 * 0.1 + 0.02 * 81)
    waits = random.normal(waves * cluster.mean_latency, np.sqrt(waves) * scatter)
    found = working * sizes * random.lognormal(0, 0.1, tasks) + np.maximum(waits, cluster.latency)
    return found * more


def simulate(plan, shape, cluster, random):
    """The `Result` of a plan for an array of a shape."""
    seconds = busy = wasted = documents = listings = 0.0
    speeds = np.ones(cluster.workers)
    slow = random.random(cluster.workers) < cluster.slow_share
    speeds[slow] = cluster.slow_factor
    for at, one in enumerate(plan.passes):
        durations = _durations(cluster, one, at == 0, shape, random)
        # Requests of all workers share what the service allows.
        least = one.gets / (5500 * cluster.prefixes) + one.puts / (3500 * cluster.prefixes)
        least = max(least, one.tasks / cluster.tasks_a_second)
        ends, used, lost, idle = _scheduled(durations, speeds, cluster, random)
        # A worker asks for the document of a task's array at its end, and at most each second.
        documents += min(one.tasks, used)
        if at + 1 < len(plan.passes):
            listings += _listings(idle, cluster)
        seconds += max(ends, least) + 1.0
        busy += max(used, least * min(cluster.workers, one.tasks))
        wasted += lost
    gets = sum(one.gets for one in plan.passes)
    puts = sum(one.puts for one in plan.passes)
    share = wasted / max(busy, 1e-9)
    return Result(
        seconds / 3600, gets, puts, busy / 3600, share, int(documents), math.ceil(listings)
    )


def _listings(idle, cluster):
    """Requests of the parts of a job array that wait: each lists the names that all have told."""
    longest = min(_parts._LONGEST_PAUSE_S, max(1.0, _parts._PAUSE_OF_A_PART_S * cluster.workers))
    # A part has begun and has done a share of each pass: some names for each, a thousand a request.
    pages = math.ceil(3 * cluster.workers / 1000)
    # The first pauses are short; a dozen listings reach the longest one.
    return (idle / longest + 12 * cluster.workers) * pages


def _scheduled(durations, speeds, cluster, random):
    """When the last task ends, the seconds of all workers, those wasted, and those without a task.

    Each task goes to the first worker that is free. Far from the end, where it does not matter
    which one that is, runs of tasks are given: an eighth of what each worker has to expect.
    """
    workers = min(len(speeds), len(durations))
    # Half done on average when its worker is lost, and done again.
    dies = random.random(len(durations)) < -np.expm1(-cluster.losses_an_hour * durations / 3600)
    wasted = float(durations[dies].sum()) / 2
    own = durations * (1 + 0.5 * dies)
    at, begins = 0, []
    while at < len(own):
        begins.append(at)
        at += max(1, (len(own) - at) // (8 * workers))
    free = [(0.0, worker) for worker in range(workers)]
    last = [0.0] * workers
    slowness = speeds.tolist()
    for seconds in np.add.reduceat(own, begins).tolist():
        begun, worker = free[0]
        last[worker] = seconds
        heapq.heapreplace(free, (begun + seconds * slowness[worker], worker))
    used = sum(end for end, _ in free)
    # Idle workers do copies of the last tasks.
    first = min(free)[0] if workers == len(speeds) else 1.0
    latest = 0.0
    for end, worker in free:
        copied = first + last[worker]
        if end > copied * 1.5:
            used += last[worker]
            wasted += last[worker]
            end = copied
        latest = max(latest, end)
    idle = sum(max(0.0, latest - end) for end, _ in free)
    return latest, used, wasted, idle


def loop(problem):
    """One pass with a task for each stored value, as a loop over the destination has."""
    return _evaluated(replace(problem, memory=1 << 60), [tuple(problem.write)])


def object_per_piece(plan, problem):
    """The same passes with an object for each piece instead of shards."""
    passes = list(plan.passes)
    for at in range(len(passes) - 1):
        pieces = _all_pieces(problem.shape, passes[at].region, passes[at + 1].region)
        passes[at] = replace(passes[at], puts=pieces)
        passes[at + 1] = replace(passes[at + 1], gets=pieces)
    return Plan(tuple(passes), plan.seconds)


def large_problem(cluster, memory):
    """8 TiB of float32 time steps in 10^6 chunks, to columns."""
    shape = (2**14, 2**13, 2**14)
    read, write = (16, 256, 512), (2**14, 8, 16)
    return Problem(shape, 4, read, read, write, memory, 1, cluster.rates)


def random_problem(random, cluster):
    """A job of any size between arrays of any chunks, and any memory."""
    axes = int(random.integers(1, 5))
    total = 2 ** random.uniform(24, 42)
    shares = random.dirichlet(np.ones(axes))
    shape = tuple(max(1, int(total**share)) for share in shares)

    def chunks():
        bytes_of_one = 2 ** random.uniform(18, 24)
        lengths = [1] * axes
        for axis in random.permutation(axes):
            left = bytes_of_one / 4 / math.prod(lengths)
            lengths[axis] = int(min(shape[axis], max(1, left ** random.choice([0.3, 0.6, 1.0]))))
        return tuple(lengths)

    read, write = chunks(), chunks()
    stored = tuple(n * int(random.choice([1, 1, 4])) for n in read)
    memory = int(2 ** random.uniform(28, 33))
    return Problem(shape, 4, read, stored, write, memory, 1, cluster.rates)


def rows():
    """The table: plan, memory, and what it takes with 32 prefixes and with one."""
    many = Cluster()
    yield "a task per chunk, one pass", None, loop(large_problem(many, GIB))
    for memory in (1, 2, 4):
        problem = large_problem(many, memory * GIB)
        for plan in candidates(problem):
            count = len(plan.passes)
            if count == 2:
                yield (
                    "two passes, an object per piece",
                    memory,
                    object_per_piece(plan, problem),
                )
            if 1 < count < 4:
                name = {2: "two", 3: "three"}[count]
                yield f"{name} passes, a shard per task", memory, plan


def table():
    """The table of the documentation."""
    random = np.random.default_rng(1)
    shape = large_problem(Cluster(), GIB).shape
    print("| plan | memory | hours (1 prefix) | GET | PUT | $ requests | $ CPU |")
    print("|---|---|---|---|---|---|---|")
    for name, memory, plan in rows():
        found = simulate(plan, shape, Cluster(), random)
        narrow = simulate(plan, shape, Cluster(prefixes=1), random)
        size = "" if memory is None else f"{memory} GiB"
        print(
            f"| {name} | {size} | {found.hours:.2f} ({narrow.hours:.2f}) | {_count(found.gets)} | "
            f"{_count(found.puts)} | {found.requests_price:,.0f} | {found.cpu_price:,.0f} |"
        )
    problem = large_problem(Cluster(), GIB)
    plan = min(candidates(problem), key=lambda one: one.seconds)
    found = simulate(plan, shape, Cluster(), random)
    print(
        f"beside data: {_count(found.documents)} documents of the source, and "
        f"{_count(found.listings)} listings of waiting parts"
    )
    for losses in (0.02, 0.5, 2.0):
        found = simulate(plan, shape, Cluster(losses_an_hour=losses), random)
        print(
            f"{losses} losses per worker and hour: {found.hours:.2f} h, "
            f"{100 * found.wasted:.2f} % of the work is wasted"
        )


def ratios(count, seed=0):
    """For random jobs, the simulated time of the chosen plan over that of the best candidate."""
    random = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        cluster = Cluster(
            workers=int(random.choice([1, 16, 200, 1000])),
            prefixes=int(random.choice([1, 4, 32])),
            losses_an_hour=0.0,
        )
        problem = random_problem(random, cluster)
        plans = candidates(problem)
        if not plans:
            continue
        best = min(one.seconds for one in plans)
        chosen = next(one for one in plans if one.seconds <= best * 1.05)
        # The same workers for all plans.
        seed_of_one = int(random.integers(2**31))
        hours = {
            id(one): simulate(one, problem.shape, cluster, np.random.default_rng(seed_of_one)).hours
            for one in plans
        }
        found.append((hours[id(chosen)] / min(hours.values()), problem, chosen, plans))
    return found


def _count(number):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return str(number)


def main():
    """Print the table, and how good the planner's choices are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=100, help="random jobs for the planner")
    jobs = parser.parse_args().jobs
    table()
    found = np.array([one[0] for one in ratios(jobs)])
    print(
        f"{jobs} random jobs: the chosen plan takes {np.median(found):.3f} times as long as the "
        f"best candidate (median), {np.percentile(found, 99):.3f} (99 %), {found.max():.3f} (most)"
    )


__all__ = ["Cluster", "Pass", "candidates", "ratios", "simulate"]


if __name__ == "__main__":
    main()
