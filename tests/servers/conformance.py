"""The engine's own store suite on every server that is installed: `python -m servers.conformance`.

Run from `tests/`, with cargo at hand; names of servers as arguments run those alone.
"""

import contextlib
import os
import subprocess
import sys

from zarrix._stores import as_store

from servers import SERVERS, new_bucket, running


def main() -> int:
    wanted = sys.argv[1:] or [name for name, server in SERVERS.items() if not server.missing]
    lines = []
    with contextlib.ExitStack() as stack:
        for name in wanted:
            found = stack.enter_context(running(SERVERS[name]))
            if found.scheme == "http":
                continue
            url = new_bucket(found, "conformance")
            there = as_store(url, found.options).address  # type: ignore[attr-defined]
            options = " ".join(f"{key}={value}" for key, value in there.options.items())
            lines.append(f"{there.service} {there.bucket} {options}")
        command = [
            "cargo",
            "test",
            "-q",
            "-p",
            "zarrix-store",
            "--test",
            "object",
            "--",
            "--nocapture",
        ]
        environment = {**os.environ, "ZARRIX_TEST_BUCKETS": "\n".join(lines)}
        done = subprocess.run(command, env=environment, check=False)
    print("ran on", ", ".join(wanted))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
