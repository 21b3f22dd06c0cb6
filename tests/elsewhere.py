"""A process that was not there when secrets were given, made of this one."""

import weakref
from collections import OrderedDict

import pytest
from zarrix._stores import secrets


def forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets what is unpickled from now on find none of the secrets of this process."""
    monkeypatch.setattr(secrets, "_held", weakref.WeakValueDictionary())
    monkeypatch.setattr(secrets, "_pickled", OrderedDict())
