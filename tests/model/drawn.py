"""How often each thing was drawn: a model test that never drew a case says nothing about it."""

from collections import Counter

KINDS = (
    *("format", "elements", "codec", "order", "grid", "store", "axes"),
    *("selection", "out", "value", "step"),
)
drawn: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}


def count(**names: str) -> None:
    for kind, name in names.items():
        drawn[kind][name] += 1


def table(title: str) -> str:
    """One line a kind, the most frequent first."""
    lines = [title]
    for kind, counts in drawn.items():
        row = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        lines.append(f"  {kind} ({counts.total()}): {row}")
    return "\n".join(lines)
