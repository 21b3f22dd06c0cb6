"""Live peers read what zarrix writes, and zarrix reads what they write, equal to the last bit.

`tests/interop/setup` makes their environments; what is not there is skipped. `cases.py` has the
arrays, `peers.py` runs the peers and knows what they cannot do. A test is one data type and layout
with all of its codec chains. With several workers, each runs the peers that its tests need.
"""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@cache
def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"interop_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PEERS = load("peers")


@cache
def groups() -> dict[str, list[str]]:
    """Names of cases by layout and data type."""
    grouped: dict[str, list[str]] = {}
    for case in load("cases").cases().values():
        grouped.setdefault(case.group, []).append(case.name)
    return grouped


def parameters() -> list[Any]:
    """Peer, way and group; for a peer that is not there, one test that says so."""
    listed = []
    for peer in PEERS.PEERS:
        reason = PEERS.missing(peer)
        if reason is not None:
            skipped = pytest.mark.skip(reason=reason)
            listed.append(pytest.param(peer, "", "", marks=skipped, id=peer))
            continue
        named = [group for group in groups() if PEERS.cases_for(peer, {f"{group}/": 0})]
        for way in PEERS.WAYS:
            listed += [pytest.param(peer, way, one, id=f"{peer}-{way}-{one}") for one in named]
    return listed


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What became of the cases of a peer, which is run when first asked for."""

    @cache
    def run(peer: str) -> Any:
        table = PEERS.cases_for(peer, load("cases").cases())
        return PEERS.run(peer, table, tmp_path_factory.mktemp(peer))

    return run


@pytest.mark.parametrize(("peer", "way", "group"), parameters())
def test_values_are_the_same_after_an_exchange(
    peer: str, way: str, group: str, outcome_of: Any, record_property: Any
) -> None:
    outcome = outcome_of(peer)
    equal, limited, wrong = 0, 0, {}
    for name in groups()[group]:
        fault = outcome.faults[way, name]
        if fault is None:
            equal += 1
        elif PEERS.limit_of(peer, way, name, fault):
            limited += 1
        else:
            wrong[name] = fault
    counts = (f"{peer} {outcome.version}", way, equal, limited, len(wrong))
    record_property("interop", counts)
    assert wrong == {}
