"""`sync_store` from disk to S3 beside rclone: time and peak memory.

    python -m benchmarks.sync                    # 2000 keys; versitygw where it is installed
    python -m benchmarks.sync --keys 100000

Each call is a process of its own. rclone copies the same folder to another prefix of the bucket,
with as many transfers, and compares by size and time, which it keeps with each object. It is left
out where it is not installed (``apt-get install rclone``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from servers import KEY, REGION, SECRET, SERVERS, new_bucket, running

WORKERS = 32

_CALL = """
import json, sys
import zarrix as zarr
source, url, options, workers = json.loads(sys.argv[1])
from zarrix._stores.open import as_store
dest = as_store(url, options)
counts = zarr.sync_store(source, dest, workers=workers, delete=True)
assert counts.is_complete
print(counts)
"""


def make(folder: Path, keys: int) -> None:
    """Chunks of 200 bytes in folders of a thousand, and the documents of an array."""
    import zarrix as zarr

    zarr.create_array(folder, shape=(keys, 25), chunks=(1, 25), dtype="f8")
    for number in range(keys):
        (folder / "c" / str(number)).mkdir(parents=True)
        (folder / "c" / str(number) / "0").write_bytes(number.to_bytes(8, "little") * 25)
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (1e9, 1e9))


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds, and MiB at the peak, of a process."""
    begin, peak = time.monotonic(), 0
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        # What `wait4` tells includes the memory of this process, from before the program began.
        status = Path(f"/proc/{process.pid}/status").read_text()
        told = [line for line in status.splitlines() if line.startswith("VmHWM")]
        peak = max(peak, int(told[0].split()[1]) if told else 0)
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with status {process.returncode}")
    return time.monotonic() - begin, peak / 1024


def rclone(folder: Path, bucket: str, endpoint: str, environment: dict[str, str]) -> list[str]:
    """The command, whose configuration is in the environment."""
    prefix = "RCLONE_CONFIG_HERE_"
    environment.update(
        {
            f"{prefix}TYPE": "s3", f"{prefix}PROVIDER": "Other", f"{prefix}ENDPOINT": endpoint,
            f"{prefix}ACCESS_KEY_ID": KEY, f"{prefix}SECRET_ACCESS_KEY": SECRET,
            f"{prefix}REGION": REGION, "RCLONE_CONFIG": "",
        }
    )  # fmt: skip
    # rclone does not start with one.
    environment.pop("AWS_CA_BUNDLE", None)
    name = bucket.removeprefix("s3://")
    options = ["--transfers", str(WORKERS), "--checkers", str(WORKERS), "--s3-no-check-bucket"]
    return ["rclone", "sync", *options, str(folder), f"here:{name}/rclone"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", type=int, default=2000)
    parser.add_argument("--server", choices=("moto", "versitygw", "seaweedfs"))
    arguments = parser.parse_args()
    name = arguments.server or ("moto" if SERVERS["versitygw"].missing else "versitygw")
    with tempfile.TemporaryDirectory() as top, running(SERVERS[name]) as server:
        folder = Path(top) / "a.zarr"
        make(folder, arguments.keys)
        bucket = new_bucket(server, "sync-benchmark")
        environment = {**os.environ, "XDG_CACHE_HOME": f"{top}/cache"}
        peer = dict(environment)
        peer_command = rclone(folder, bucket, server.endpoint, peer)
        print(f"{arguments.keys:,} keys of 200 bytes, disk to {name}")
        for what in ("all is new", "nothing changed"):
            asked = [str(folder), f"{bucket}/zarrix", server.options, WORKERS]
            command = [sys.executable, "-c", _CALL, json.dumps(asked)]
            seconds, mebibytes = run(command, environment)
            told = f"{what}: zarrix {seconds:.1f} s, {mebibytes:.0f} MiB"
            if shutil.which("rclone"):
                other, memory = run(peer_command, peer)
                told += f"; rclone {other:.1f} s, {memory:.0f} MiB; ratio {seconds / other:.2f}"
            print(told, flush=True)


if __name__ == "__main__":
    main()
