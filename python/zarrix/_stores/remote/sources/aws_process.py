"""Credentials of the program that a profile of AWS names: ``credential_process``."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import Any

from zarrix._stores.remote.credential_values import UnusableCredentials
from zarrix._stores.remote.sources.aws_files import Profile

__all__ = ["credentials_of_process"]

# Longest time of the program.
_LIMIT_S = 60


def credentials_of_process(profile: Profile) -> dict[str, Any]:
    """What the program prints.

    Raises
    ------
    UnusableCredentials
        Another user could have named the program, or it fails, or prints something else.
    """
    unsafe = profile.unsafe.get("credential_process")
    if unsafe is not None:
        raise UnusableCredentials(
            f"is not asked: {unsafe} names its program, and other users can change that file; "
            f"its owner must be you, and chmod go-w {unsafe} keeps others out"
        )
    command = profile.values["credential_process"]
    try:
        # Not a shell: the words are the program and its arguments, as for AWS' own tools.
        words = shlex.split(command) if os.name == "posix" else command
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnusableCredentials(f"has a program that took more than {_LIMIT_S} s") from None
    except (OSError, ValueError) as error:
        raise UnusableCredentials(f"has a program that does not start: {error}") from None
    if done.returncode:
        raise UnusableCredentials(
            f"has a program that failed with status {done.returncode}; run it to see why"
        )
    return _printed(done.stdout)


def _printed(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UnusableCredentials("has a program that did not print a JSON object")
    if found.get("Version") != 1:
        raise UnusableCredentials("has a program that did not print credentials of Version 1")
    return {name: value for name, value in found.items() if name != "Version"}
