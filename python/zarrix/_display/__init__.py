"""Output for people: info, trees, HTML, progress bars."""

from typing import Any

from zarrix._runtime.former_modules import former_name


def __getattr__(name: str) -> Any:
    return former_name(__name__, name)
