"""Profiles in the two files of AWS."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO

__all__ = ["VARIABLES", "Profile", "profile_of"]

# Environment variables that say which files these are.
VARIABLES = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
_USUAL = ("~/.aws/config", "~/.aws/credentials")


@dataclass
class Profile:
    """The values of a profile; ``is_named`` if the user asked for it, ``unsafe`` are values from a
    file that another user can change.
    """

    name: str
    is_named: bool = False
    values: dict[str, str] = field(default_factory=dict, repr=False)
    # The file of each unsafe value.
    unsafe: dict[str, str] = field(default_factory=dict)
    # The values of its ``sso_session``.
    session: dict[str, str] = field(default_factory=dict, repr=False)

    def get(self, name: str) -> str | None:
        """The value of ``name``; None if it has none."""
        return self.values.get(name)


def profile_of(name: str | None, environment: Mapping[str, str]) -> Profile:
    """The profile ``name``, or that of the environment, or the default one.

    Raises
    ------
    ValueError
        The user asked for a profile that is in neither file.
    """
    named = name or environment.get("AWS_PROFILE")
    name = named or environment.get("AWS_DEFAULT_PROFILE") or "default"
    found = Profile(name, is_named=bool(named))
    is_there = False
    sections = (name if name == "default" else f"profile {name}", name)
    for variable, usual, section in zip(VARIABLES, _USUAL, sections, strict=True):
        path = os.path.expanduser(environment.get(variable) or usual)
        parser, is_safe = _parsed(path)
        if not parser.has_section(section):
            continue
        is_there = True
        values = dict(parser.items(section))
        found.values |= values
        found.unsafe = {key: file for key, file in found.unsafe.items() if key not in values}
        if not is_safe:
            found.unsafe |= dict.fromkeys(values, path)
        session = f"sso-session {values.get('sso_session')}"
        if parser.has_section(session):
            found.session = dict(parser.items(session))
    if named and not is_there:
        raise ValueError(f"AWS' configuration has no profile {named!r}")
    return found


def _parsed(path: str) -> tuple[configparser.RawConfigParser, bool]:
    parser = configparser.RawConfigParser()
    try:
        # Looked at as it is read, so that it cannot be exchanged in between.
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
            return parser, _is_own(file)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return parser, True


def _is_own(file: TextIO) -> bool:
    """Whether only this user and the administrator can change a file."""
    if not hasattr(os, "getuid"):
        return True
    status = os.fstat(file.fileno())
    return status.st_uid in (0, os.getuid()) and not status.st_mode & 0o022
