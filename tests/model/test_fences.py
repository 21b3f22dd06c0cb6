"""The fences of commits on servers: all orders of requests of committers that stop or come late.

The model is that of `zarrix.commits` on a store with conditional puts. Each committer appends one
row of two chunks, all or nothing. It may rest between any two requests for as long as it likes, or
for ever, and another may take its claim over at any time. So a search of all orders of their
requests has every kill, every pause and every takeover in it.

Three fences keep a committer that was overtaken from harm. A takeover changes the tag of the root,
so that the old holder cannot commit. Chunks are put under conditions, with the tag that was read
before the claim was looked at. Every chunk of the new row is stored, also one of the fill value, so
that no late holder can create it. A test leaves out each of them, and must find the harm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

CHUNKS = 2
FILL = -1


@dataclass(frozen=True)
class Rules:
    """Which fences there are; and what a tag is: of a version, or of a content."""

    root_by_tag: bool = True
    chunks_by_tag: bool = True
    stores_fill: bool = True
    tags_are_unique: bool = True
    # Whether every committer has other bytes in each chunk that is not of the fill value.
    others_differ: bool = True
    # Whether the server itself refuses a replacement from the moment on at which the claim may be
    # taken over: a signed put that ends then, by the server's clock.
    puts_end_with_claim: bool = False


@dataclass(frozen=True)
class Committer:
    """What one knows, and what it does next."""

    step: str = "read root"
    root_tag: int = 0
    row: int = 0
    chunk: int = 0
    chunk_tag: tuple[int, int] | int = 0


@dataclass(frozen=True)
class Stored:
    """The root's document, the chunks by (row, chunk), and the committed rows with their owners."""

    root_tag: int = 1
    claim: int = -1
    length: int = 0
    chunks: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()
    owners: tuple[int, ...] = ()
    puts: int = 0

    def chunk(self, key: tuple[int, int]) -> tuple[int, int] | None:
        """Value and version of a chunk."""
        return dict(self.chunks).get(key)

    def with_chunk(self, key: tuple[int, int], value: int) -> Stored:
        """The same after a put."""
        chunks = {**dict(self.chunks), key: (value, self.puts)}
        return replace(self, chunks=tuple(sorted(chunks.items())), puts=self.puts + 1)


State = tuple[Stored, tuple[Committer, ...]]


def value_of(owner: int, chunk: int, rules: Rules) -> int:
    """What a committer has in a chunk of its row: one of two is of the fill value."""
    if chunk == owner % CHUNKS:
        return FILL
    return owner if rules.others_differ else 0


def tag_of(found: tuple[int, int], rules: Rules) -> tuple[int, int] | int:
    """The tag of a chunk."""
    return found if rules.tags_are_unique else found[0]


def next_chunk(committer: Committer, owner: int, rules: Rules) -> Committer:
    """After a chunk is stored, or left out."""
    chunk = committer.chunk
    while True:
        chunk += 1
        if chunk == CHUNKS:
            return replace(committer, step="commit", chunk=0, chunk_tag=0)
        if rules.stores_fill or value_of(owner, chunk, rules) != FILL:
            return replace(committer, step="create", chunk=chunk, chunk_tag=0)


def steps(
    stored: Stored, committer: Committer, owner: int, rules: Rules
) -> Iterator[tuple[Stored, Committer]]:
    """What the next request of a committer may lead to."""
    key = (committer.row, committer.chunk)
    value = value_of(owner, committer.chunk, rules)
    match committer.step:
        case "read root":
            # With a claim of another in it: some wait and read again, some take it over.
            yield (
                stored,
                replace(committer, step="claim", root_tag=stored.root_tag, row=stored.length),
            )
        case "claim":
            if committer.root_tag != stored.root_tag:
                yield stored, replace(committer, step="read root")
                return
            tag = stored.root_tag + 1
            claimed = replace(stored, claim=owner, root_tag=tag)
            begun = replace(committer, root_tag=tag, chunk=-1)
            yield claimed, next_chunk(begun, owner, rules)
        case "create":
            if not rules.chunks_by_tag or stored.chunk(key) is None:
                yield stored.with_chunk(key, value), next_chunk(committer, owner, rules)
            else:
                yield stored, replace(committer, step="read chunk")
        case "read chunk":
            found = stored.chunk(key)
            assert found is not None
            yield stored, replace(committer, step="read claim", chunk_tag=tag_of(found, rules))
        case "read claim":
            yield stored, replace(committer, step="replace" if stored.claim == owner else "lost")
        case "replace":
            if rules.puts_end_with_claim and stored.claim != owner:
                yield stored, replace(committer, step="lost")
                return
            found = stored.chunk(key)
            if found is not None and tag_of(found, rules) == committer.chunk_tag:
                yield stored.with_chunk(key, value), next_chunk(committer, owner, rules)
            else:
                yield stored, replace(committer, step="read chunk")
        case "commit":
            if rules.root_by_tag and committer.root_tag != stored.root_tag:
                yield stored, replace(committer, step="lost")
                return
            length = max(stored.length, committer.row + 1)
            owners = (*stored.owners, owner)
            tag = stored.root_tag + 1
            yield (
                replace(stored, claim=-1, length=length, owners=owners, root_tag=tag),
                replace(committer, step="done"),
            )


def harm(stored: Stored, rules: Rules) -> str | None:
    """What is wrong with what readers see."""
    if len(stored.owners) != stored.length:
        return f"{len(stored.owners)} commits, and {stored.length} rows"
    for row, owner in enumerate(stored.owners):
        for chunk in range(CHUNKS):
            found = stored.chunk((row, chunk))
            value = FILL if found is None else found[0]
            if value != value_of(owner, chunk, rules):
                return f"row {row} of {owner} holds {value} in chunk {chunk}"
    return None


def same(state: State) -> State:
    """Tags are only compared: the state with the numbers of puts replaced by their order."""
    stored, committers = state
    known = [version for _, (_, version) in stored.chunks]
    known += [
        committer.chunk_tag[1] for committer in committers if isinstance(committer.chunk_tag, tuple)
    ]
    order = {version: index for index, version in enumerate(sorted(set(known)))}
    chunks = tuple((key, (value, order[version])) for key, (value, version) in stored.chunks)

    def renamed(committer: Committer) -> Committer:
        if not isinstance(committer.chunk_tag, tuple):
            return committer
        return replace(committer, chunk_tag=(committer.chunk_tag[0], order[committer.chunk_tag[1]]))

    # A tag of the root that no committer knows is as good as any other.
    tags = {committer.root_tag for committer in committers} | {stored.root_tag}
    ranks = {tag: index + 1 for index, tag in enumerate(sorted(tags))}
    told = tuple(
        replace(renamed(committer), root_tag=ranks[committer.root_tag]) for committer in committers
    )
    puts = len(order)
    return replace(stored, chunks=chunks, puts=puts, root_tag=ranks[stored.root_tag]), told


def search(count: int, rules: Rules) -> tuple[int, set[int], str | None]:
    """All states that ``count`` committers reach: how many, how many rows there are, and the first
    harm."""
    first: State = (Stored(), (Committer(),) * count)
    seen, waiting, rows = {first}, deque([first]), set()
    while waiting:
        stored, committers = waiting.popleft()
        found = harm(stored, rules)
        if found is not None:
            return len(seen), rows, found
        rows.add(stored.length)
        for owner, committer in enumerate(committers):
            for changed, after in steps(stored, committer, owner, rules):
                state = same((changed, (*committers[:owner], after, *committers[owner + 1 :])))
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
    return len(seen), rows, None


@pytest.mark.parametrize("count", [2, 3])
def test_no_order_of_requests_harms_a_reader(count: int) -> None:
    states, rows, found = search(count, Rules())
    assert found is None
    assert rows == set(range(count + 1))
    assert states >= {2: 100, 3: 5000}[count]


@pytest.mark.parametrize(
    "rules",
    [Rules(root_by_tag=False), Rules(chunks_by_tag=False), Rules(stores_fill=False)],
    ids=["root without its tag", "chunks without conditions", "fill values left out"],
)
def test_without_any_one_fence_there_is_harm(rules: Rules) -> None:
    assert search(3, rules)[2] is not None


def test_two_committers_are_apart_where_equal_bytes_have_equal_tags() -> None:
    """The ETag of S3 is that of the bytes."""
    for others_differ in (True, False):
        rules = Rules(tags_are_unique=False, others_differ=others_differ)
        assert search(2, rules)[2] is None


def test_three_committers_are_not_apart_where_equal_bytes_have_equal_tags() -> None:
    """The first leaves a chunk behind, the second rests before it replaces it, and the third puts
    the same bytes as the first, and commits. The tag of the version that the second has seen is
    then that of a later committer. `zarrix.commits` bounds how long the second may rest.
    """
    assert search(3, Rules(tags_are_unique=False))[2] is not None


def test_three_committers_are_apart_where_puts_end_before_a_takeover() -> None:
    """What it would take: the last moment of a put is that of the last beat and the patience, both
    by the server's clock. A put that is signed for a part of the patience before its committer
    looks at the claim is not enough: the claim may be nearly as old as the patience at that look,
    so that another takes it over while the put is still valid.
    """
    for others_differ in (True, False):
        rules = Rules(tags_are_unique=False, others_differ=others_differ, puts_end_with_claim=True)
        states, rows, found = search(3, rules)
        assert found is None
        assert rows == {0, 1, 2, 3}
        assert states > 5000


def late_puts(end: Callable[[int], int], patience: int) -> list[tuple[int, int, int]]:
    """Puts that a server takes although the claim of their committer was taken over.

    The last beat is at 0, so that another takes over from ``patience`` on. A put is signed, then
    its committer sees its own claim, and then the put is sent; ``end`` is its last moment, from
    that of its signature.
    """
    moments = range(2 * patience)
    return [
        (signed, look, put)
        for signed in range(patience)
        for look in range(signed, patience)
        for put in moments
        if look <= put < end(signed) and put >= patience
    ]


def test_a_put_has_to_end_with_the_claim_and_not_some_time_after_its_signature() -> None:
    patience = 16
    assert late_puts(lambda signed: signed + patience // 4, patience)
    assert late_puts(lambda signed: patience, patience) == []
