"""The conformance suite of stores, and the pytest plugin that runs a project's tests on zarrix."""

from zarrix.testing._check_store import check_store

__all__ = ["check_store"]

check_store.__module__ = __name__
