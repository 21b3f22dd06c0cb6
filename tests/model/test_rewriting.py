"""Rewriting an array by commits on servers: all orders of requests of committers that stop or rest.

The model is that of `zarrix.commits`. An array has a few key spaces. Its document names one, and so
does the root's document, which has the claim, too. A committer takes a key space that is free, or
deletes what is in one that an earlier commit has left, stores its two chunks there, replaces the
root's document, and then that of the array. It may rest between any two requests for as long as it
likes, or for ever, and another may take its claim over at any time.

Chunks are put under conditions, and a deletion has none. What keeps it from harm is that the claim
names it before, and that a committer which takes the claim over does not use that key space again.
Tags are those of contents, as on S3, so that the document of the array can have a tag again: the
key space which an overtaken commit has left is not used again either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

CHUNKS = 2
FIRST = -1
"""The owner of what is stored before the first commit."""


@dataclass(frozen=True)
class Rules:
    """Which fences there are."""

    root_by_tag: bool = True
    chunks_by_tag: bool = True
    names_deletions: bool = True
    keeps_left_space: bool = True
    spaces: int = 2


@dataclass(frozen=True)
class Claim:
    """What the claim in the root says: the key space that is stored to, and the one deleted."""

    owner: int
    fills: int = -1
    deletes: int = -1


@dataclass(frozen=True)
class Stored:
    """What is on the server."""

    tag: int = 1
    claim: Claim | None = None
    space: int = 0
    owner: int = FIRST
    before: int = -1
    document: int = 0
    left: frozenset[int] = frozenset()
    late: frozenset[int] = frozenset()
    # Owner and number of the put of each chunk, by key space and number.
    chunks: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()
    puts: int = 0

    def chunk(self, key: tuple[int, int]) -> tuple[int, int] | None:
        """Owner and number of a chunk."""
        return dict(self.chunks).get(key)

    def with_chunk(self, key: tuple[int, int], owner: int) -> Stored:
        """The same after a put."""
        chunks = {**dict(self.chunks), key: (owner, self.puts)}
        return replace(self, chunks=tuple(sorted(chunks.items())), puts=self.puts + 1)

    def without(self, key: tuple[int, int]) -> Stored:
        """The same after a deletion."""
        return replace(self, chunks=tuple(pair for pair in self.chunks if pair[0] != key))

    def is_empty(self, space: int) -> bool:
        """Whether a key space has no chunk."""
        return all(key[0] != space for key, _ in self.chunks)


@dataclass(frozen=True)
class Committer:
    """What one knows, and what it does next."""

    step: str = "read root"
    tag: int = 0
    space: int = -1
    chunk: int = 0
    chunk_tag: tuple[int, int] | None = None
    seen: int = -1


State = tuple[Stored, tuple[Committer, ...]]


def taken_over(stored: Stored, rules: Rules) -> Stored:
    """What the root notes when the claim of another is replaced."""
    old = stored.claim
    if old is None:
        return stored
    left, late = set(stored.left), set(stored.late)
    has_happened = stored.owner == old.owner
    if old.fills >= 0 and not has_happened:
        left.add(old.fills)
    if old.deletes >= 0 and rules.names_deletions:
        late.add(old.deletes)
    if has_happened and rules.keeps_left_space:
        late.add(stored.before)
    return replace(stored, left=frozenset(left), late=frozenset(late))


def put_root(
    stored: Stored, one: Committer, rules: Rules, then: str, **changes: Any
) -> tuple[Stored, Committer]:
    """A put of the root's document under the condition that it is still the one that was read."""
    if rules.root_by_tag and one.tag != stored.tag:
        return stored, replace(one, step="lost")
    tag = stored.tag + 1
    return replace(stored, tag=tag, **changes), replace(one, tag=tag, step=then)


def choices(stored: Stored, one: Committer, rules: Rules) -> Iterator[Committer]:
    """The key spaces that a committer may take."""
    for space in range(rules.spaces):
        if space == stored.space or space in stored.late:
            continue
        if space in stored.left:
            yield replace(one, step="announce deletion", space=space)
        elif stored.is_empty(space):
            yield replace(one, step="announce", space=space)


def steps(
    stored: Stored, one: Committer, owner: int, rules: Rules
) -> Iterator[tuple[Stored, Committer]]:
    """What the next request of a committer may lead to."""
    key = (one.space, one.chunk)
    last = one.chunk == CHUNKS - 1
    following = replace(one, step="create", chunk=one.chunk + 1, chunk_tag=None)
    put = replace(one, step="commit") if last else following
    match one.step:
        case "read root":
            yield stored, replace(one, step="claim", tag=stored.tag)
        case "claim":
            if one.tag != stored.tag:
                yield stored, replace(one, step="read root")
                return
            noted = taken_over(stored, rules)
            # A commit that has happened is finished first.
            step = "read document" if stored.claim is not None else "choose"
            yield put_root(noted, replace(one, seen=0), rules, step, claim=Claim(owner))
        case "choose":
            for chosen in choices(stored, one, rules):
                yield stored, chosen
        case "announce deletion":
            claim = Claim(owner, deletes=one.space)
            yield put_root(stored, replace(one, chunk=0), rules, "delete", claim=claim)
        case "delete":
            then = replace(one, step="deleted") if last else replace(one, chunk=one.chunk + 1)
            yield stored.without(key), then
        case "deleted":
            left = stored.left - {one.space}
            yield put_root(
                stored, replace(one, chunk=0), rules, "choose", left=left, claim=Claim(owner)
            )
        case "announce":
            claim = Claim(owner, fills=one.space)
            yield put_root(stored, replace(one, chunk=0), rules, "create", claim=claim)
        case "create":
            if not rules.chunks_by_tag or stored.chunk(key) is None:
                yield stored.with_chunk(key, owner), put
            else:
                yield stored, replace(one, step="read chunk")
        case "read chunk":
            found = stored.chunk(key)
            then = "create" if found is None else "read claim"
            yield stored, replace(one, step=then, chunk_tag=found)
        case "read claim":
            is_ours = stored.claim is not None and stored.claim.owner == owner
            yield stored, replace(one, step="replace" if is_ours else "lost")
        case "replace":
            if stored.chunk(key) == one.chunk_tag:
                yield stored.with_chunk(key, owner), put
            else:
                yield stored, replace(one, step="read chunk")
        case "commit":
            yield put_root(
                stored,
                replace(one, seen=1),
                rules,
                "read document",
                space=one.space,
                owner=owner,
                before=stored.space,
                left=stored.left | {stored.space},
            )
        case "read document":
            # One that has taken over stores what the root says; the owner what it has committed.
            wanted = one.space if one.seen else stored.space
            begun = stored.before if stored.before >= 0 else stored.space
            if stored.document != begun:
                yield stored, replace(one, step="end" if one.seen else "choose")
            else:
                told = replace(one, step="put document", space=wanted, chunk=stored.document)
                yield stored, told
        case "put document":
            # The tag of the document is that of its content.
            after = stored
            if stored.document == one.chunk:
                after = replace(stored, document=one.space)
            yield after, replace(one, step="end" if one.seen else "choose", chunk=0)
        case "end":
            yield put_root(stored, one, rules, "done", claim=None)


def harm(stored: Stored) -> str | None:
    """What is wrong with what readers see."""
    for chunk in range(CHUNKS):
        found = stored.chunk((stored.space, chunk))
        if found is None or found[0] != stored.owner:
            return f"key space {stored.space} of {stored.owner} holds {found}"
    owners = {(stored.chunk((stored.document, chunk)) or (None,))[0] for chunk in range(CHUNKS)}
    if len(owners) != 1 or None in owners:
        return f"the document names key space {stored.document} with chunks of {owners}"
    if stored.claim is None and stored.document != stored.space:
        return f"the document names {stored.document}, and the root {stored.space}"
    return None


def same(state: State) -> State:
    """The state with the numbers of puts and tags replaced by their order."""
    stored, committers = state
    known = {number for _, (_, number) in stored.chunks}
    known |= {one.chunk_tag[1] for one in committers if one.chunk_tag is not None}
    order = {number: index for index, number in enumerate(sorted(known))}
    ranks = {
        tag: at + 1 for at, tag in enumerate(sorted({stored.tag, *(c.tag for c in committers)}))
    }

    def renamed(one: Committer) -> Committer:
        tag = one.chunk_tag
        told = None if tag is None else (tag[0], order[tag[1]])
        return replace(one, tag=ranks[one.tag], chunk_tag=told)

    chunks = tuple((key, (owner, order[number])) for key, (owner, number) in stored.chunks)
    told = replace(stored, tag=ranks[stored.tag], chunks=chunks, puts=len(order))
    return told, tuple(map(renamed, committers))


def first_state(rules: Rules, is_used: bool) -> Stored:
    """An array in its first key space; ``is_used``: another one has what a commit has left."""
    stored = Stored()
    for chunk in range(CHUNKS):
        stored = stored.with_chunk((0, chunk), FIRST)
        if is_used:
            stored = stored.with_chunk((1, chunk), FIRST)
    return replace(stored, left=frozenset({1} if is_used else ()))


def search(count: int, rules: Rules, *, is_used: bool) -> tuple[int, set[int], str | None]:
    """All states that ``count`` committers reach: how many, who owned what readers saw, and the
    first harm."""
    begin: State = (first_state(rules, is_used), (Committer(),) * count)
    seen, waiting, owners = {begin}, deque([begin]), set()
    while waiting:
        stored, committers = waiting.popleft()
        found = harm(stored)
        if found is not None:
            return len(seen), owners, found
        owners.add(stored.owner)
        for owner, one in enumerate(committers):
            for changed, after in steps(stored, one, owner, rules):
                state = same((changed, (*committers[:owner], after, *committers[owner + 1 :])))
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
    return len(seen), owners, None


@pytest.mark.parametrize("is_used", [False, True])
@pytest.mark.parametrize("spaces", [2, 3])
def test_no_order_of_requests_harms_a_reader(spaces: int, is_used: bool) -> None:
    states, owners, found = search(2, Rules(spaces=spaces), is_used=is_used)
    assert found is None
    assert owners == {FIRST, 0, 1}
    assert states > 500


@pytest.mark.parametrize(
    "rules",
    [
        Rules(root_by_tag=False),
        Rules(chunks_by_tag=False),
        Rules(names_deletions=False),
        Rules(keeps_left_space=False),
    ],
    ids=[
        "root without its tag",
        "chunks without conditions",
        "deletions without a claim that names them",
        "key spaces used again that documents may name",
    ],
)
def test_without_any_one_fence_there_is_harm(rules: Rules) -> None:
    assert any(search(2, rules, is_used=is_used)[2] is not None for is_used in (False, True))


def test_three_committers_are_apart(is_long: bool) -> None:
    if not is_long:
        pytest.skip("60,000 states: by --long")
    states, owners, found = search(3, Rules(), is_used=True)
    assert found is None
    assert owners == {FIRST, 0, 1, 2}
    assert states > 50_000
