"""Credentials that a function returns: asked for in time, once, by each process."""

import multiprocessing
import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
import zarrix as zarr
from servers.recorder import Recorder
from servers.tokens import TokenServer, issue
from waiting import PATIENCE_S, until
from zarrix._stores.open import as_store

ENDPOINT = "ZARRIX_TEST_TOKENS"


def issued() -> dict[str, Any]:
    """Credentials of this test's server, for the process that calls."""
    return issue(os.environ[ENDPOINT])


def issued_as_obstore() -> dict[str, Any]:
    """The same, as obstore spells them."""
    return SERVICES["S3, as obstore's"][2](issued())


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenServer]:
    """A server whose credentials live for two seconds."""
    with TokenServer() as server:
        monkeypatch.setenv(ENDPOINT, server.endpoint)
        yield server


def forked(work: Callable[[], Any]) -> int:
    """Runs ``work`` in a child that is forked, which must succeed; its process number."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return child


def opened(server: TokenServer, function: Callable[[], Any] = issued, **options: Any) -> Any:
    return as_store(
        f"{server.url}/{time.monotonic_ns()}",
        {**server.options, "credentials": function, **options},
    )


def increment(store: Any, slot: int, end: float, chunks: int = 4) -> int:
    """Writes parts of chunks that others write, too, until that moment; how often."""
    z = zarr.open(store, mode="r+")
    count = 0
    while count < 3 or time.time() < end:
        z[slot :: z.shape[0] // chunks] += 1
        count += 1
    return count


def counted(store: Any, slots: int) -> Any:
    zarr.create(slots * 4, chunks=slots, dtype="i8", store=store, fill_value=0, overwrite=True)
    return zarr.open(store, mode="r")


def test_writers_and_readers_go_on_over_many_lives(tokens: TokenServer) -> None:
    store = opened(tokens)
    z = counted(store, 16)
    end = time.time() + 2.5 * tokens.life_s
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda slot: increment(store, slot, end), range(16)))
    assert z[:].reshape(4, 16).tolist() == [done] * 4
    assert tokens.processes() == {os.getpid()}
    # One call for each life: none before two thirds of the life of the last one.
    assert len(tokens.issued) >= 2
    assert tokens.least_gap_s() > 0.66 * tokens.life_s


def _increment_in_child(store: Any, slot: int, end: float, sent: Any) -> None:
    sent.put((slot, increment(store, slot, end)))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_each_process_asks_for_its_own(tokens: TokenServer, start: str) -> None:
    store = opened(tokens)
    z = counted(store, 3)
    context = multiprocessing.get_context(start)
    end = time.time() + (1.5 if start == "fork" else 3) * tokens.life_s
    sent = context.Queue()
    children = [
        context.Process(target=_increment_in_child, args=(store, slot, end, sent))
        for slot in range(2)
    ]
    for child in children:
        child.start()
    done = {2: increment(store, 2, end)}
    done |= dict(sent.get(timeout=PATIENCE_S) for _ in children)
    for child in children:
        child.join()
    assert z[:].reshape(4, 3).tolist() == [[done[slot] for slot in range(3)]] * 4
    assert tokens.processes() == {os.getpid(), *(child.pid for child in children)}
    assert tokens.least_gap_s() > 0.66 * tokens.life_s


def test_a_child_of_a_process_that_waits_for_credentials_asks_itself(tokens: TokenServer) -> None:
    asked, answer, here = threading.Event(), threading.Event(), os.getpid()

    def slow() -> dict[str, Any]:
        if os.getpid() == here:
            asked.set()
            assert answer.wait(PATIENCE_S)
        return issued()

    store = opened(tokens, slow)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.__setitem__, "a", b"1")
        assert asked.wait(PATIENCE_S)
        child = forked(lambda: store.__setitem__("b", b"2"))
        answer.set()
        waiting.result()
    assert (store["a"], store["b"]) == (b"1", b"2")
    assert tokens.processes() == {here, child}


def test_many_first_requests_wait_for_one_call(tokens: TokenServer) -> None:
    tokens.life_s = 3600
    store = opened(tokens)
    begin = threading.Barrier(16)

    def ask(number: int) -> Any:
        begin.wait()
        return store.get(f"k{number}")

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(16))) == [None] * 16
    assert len(tokens.issued) == 1
    # Another store of the same function shares them.
    assert opened(tokens).get("a") is None
    assert len(tokens.issued) == 1


def test_what_a_server_refuses_as_expired_is_asked_again(tokens: TokenServer) -> None:
    tokens.life_s = 3600
    store = opened(tokens)
    for number in range(5):
        store[f"a/{number}"] = b"1"
    uses: list[Callable[[], Any]] = [
        lambda: store["a/1"],
        lambda: store.__setitem__("a/2", b"2"),
        lambda: store.listdir("a"),
        lambda: store.update_value("a/3", lambda old: old + b"3"),
        lambda: store.rmdir("a"),
    ]
    for use in uses:
        time.sleep(1.05)
        before = len(tokens.issued)
        tokens.expire_all()
        use()
        assert len(tokens.issued) == before + 1
    assert store.listdir() == []


def test_a_refusal_of_young_credentials_is_an_error_at_once(tokens: TokenServer) -> None:
    tokens.life_s, tokens.refusal = 3600, (403, "AccessDenied")
    store = opened(tokens)
    assert store.get("a") is None
    tokens.expire_all()
    with pytest.raises(PermissionError, match="403 Forbidden: AccessDenied"):
        store["a"]
    assert (len(tokens.issued), tokens.refused) == (1, 1)


class Scripted:
    """A function that does what its script says; the last word is repeated."""

    def __init__(self, server: TokenServer, *script: Any) -> None:
        self.server, self.script, self.calls = server, list(script), 0

    def __call__(self) -> Any:
        self.calls += 1
        told = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(told, BaseException):
            raise told
        return told(self.server.give(os.getpid())) if callable(told) else told


def ends_in(seconds: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda given: {**given, "expires": time.time() + seconds}


def test_the_old_ones_are_used_until_they_end_if_there_are_no_new_ones(
    tokens: TokenServer,
) -> None:
    tokens.life_s = 3600
    function = Scripted(tokens, ends_in(6), ValueError("no answer of the portal"))
    store = opened(tokens, function)
    end = time.time() + 6
    # Due before its end: the request succeeds, and the call that it begins fails.
    until(lambda: store.get("a") is None and function.calls == 2)
    assert time.time() < end
    until(lambda: time.time() > end + 0.5)
    with pytest.raises(
        PermissionError, match=r"Scripted raised ValueError: no answer of the portal"
    ):
        store["a"]
    function.script = [lambda given: given]
    assert store.get("a") is None


def answers(store: Any) -> bool:
    try:
        return store.get("a") is None
    except TimeoutError:
        return False


def test_a_function_that_hangs_is_waited_for_within_the_limit(tokens: TokenServer) -> None:
    tokens.life_s = 3600
    answer = threading.Event()

    def hanging() -> Any:
        answer.wait(PATIENCE_S)
        return issued()

    store = opened(tokens, hanging, timeout=0.3)
    for _ in range(5):
        with pytest.raises(TimeoutError, match=r"hanging has not returned within 1 s"):
            store["a"]
    answer.set()
    until(lambda: len(tokens.issued) == 3)
    # A busy machine may take longer than the limit to hand over what was issued.
    until(lambda: answers(store))
    # No fourth one was called while three were hanging.
    assert len(tokens.issued) == 3


NONSENSE = {
    "None": (None, "returned NoneType, and not a dict"),
    "text": ("SEKRET", "returned str, and not a dict"),
    "empty": ({}, "returned a dict without 'key' and 'secret'"),
    "half": ({"key": "SEKRET"}, "returned a dict without 'key' and 'secret'"),
    "number": ({"key": "SEKRET", "secret": 5}, "'secret' that is not a text"),
    "soon": ({"key": "SEKRET", "secret": "SEKRET", "expires": "soon"}, "'expires' that is not"),
    "nan": ({"key": "a", "secret": "b", "expires": float("nan")}, "'expires' that is not a time"),
    "past": ({"key": "a", "secret": "b", "expires": 5}, "returned a credential that expired"),
    "far": ({"key": "a", "secret": "b", "expires": -1e300}, "returned a credential that expired"),
    "naive": (
        {"key": "a", "secret": "b", "expires": datetime(2999, 1, 1)},
        "'expires' without a time zone",
    ),
    "exit": (SystemExit(), "raised SystemExit"),
    "interrupt": (KeyboardInterrupt(), "raised KeyboardInterrupt"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_an_error_that_tells_no_value(tokens: TokenServer, name: str) -> None:
    told, words = NONSENSE[name]
    store = opened(tokens, Scripted(tokens, told))
    with pytest.raises(PermissionError) as caught:
        store["a"]
    assert words in str(caught.value)
    assert "Scripted" in str(caught.value)
    assert "SEKRET" not in str(caught.value)
    assert tokens.requests == []


def test_a_coroutine_function_is_awaited(tokens: TokenServer) -> None:
    async def answered() -> Any:
        return tokens.give(os.getpid())

    assert opened(tokens, answered).get("a") is None


def test_ctrl_c_ends_the_wait_and_the_call_is_not_lost(tokens: TokenServer) -> None:
    tokens.life_s = 3600
    answer = threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def slow() -> Any:
        import signal

        signal.pthread_kill(main, signal.SIGINT)
        assert answer.wait(PATIENCE_S)
        return issued()

    store = opened(tokens, slow)
    with pytest.raises(KeyboardInterrupt):
        store["a"]
    assert tokens.issued == []
    answer.set()
    assert store.get("a") is None
    assert len(tokens.issued) == 1


def test_a_function_is_pickled_by_its_name_and_never_by_its_content(tokens: TokenServer) -> None:
    tokens.life_s = 3600
    store = opened(tokens)
    store["a"] = b"1"
    pickled = pickle.dumps(store)
    assert b"SEKRET" not in pickled
    again = pickle.loads(pickled)
    assert again == store
    assert again["a"] == b"1"
    assert len(tokens.issued) == 1
    hidden = "SEKRET"
    for function in (lambda: {"key": hidden}, Scripted(tokens, {"key": hidden})):
        with pytest.raises(pickle.PicklingError, match=r"pickled by name.*by 'def' at the top"):
            pickle.dumps(opened(tokens, function))
    gone = pickled.replace(b"issued", b"isgone")
    with pytest.raises(pickle.UnpicklingError, match=r"isgone is not in this process"):
        pickle.loads(gone)


def test_nothing_that_was_returned_is_shown(
    tokens: TokenServer, caplog: pytest.LogCaptureFixture
) -> None:
    tokens.life_s, tokens.refusal = 3600, (403, "Denied")
    store = opened(tokens)
    z = zarr.create(4, store=store)
    tokens.expire_all()
    with pytest.raises(PermissionError) as caught:
        z[:]
    told = f"{caught.value}{store!r}{vars(store)}{store.address}{z!r}{caplog.text}"
    assert "SEKRET" not in told
    assert "Denied: not *** of" in str(caught.value)
    assert f"<credentials function {__name__}.issued>" in str(vars(store))


def test_fsspec_does_not_get_a_function(tokens: TokenServer) -> None:
    with pytest.raises(ValueError, match=r"has <credentials function .*issued>, which fsspec"):
        _ = opened(tokens).fs


def test_the_option_is_a_function_and_alone(tokens: TokenServer) -> None:
    for more, words in (
        (
            {"credentials": {"key": "SEKRET"}},
            "is a function that returns a dict, or 'earthdata:.*, not a dict",
        ),
        ({"key": "a", "secret": "SEKRET"}, "both 'credentials' and 'key'"),
        ({"anon": True}, "both 'credentials' and 'anon'"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            opened(tokens, **more)
        assert "SEKRET" not in str(caught.value)


def as_headers(given: dict[str, Any]) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {given['token']}"}, "expires": given["expires"]}


def as_signature(given: dict[str, Any]) -> dict[str, Any]:
    end = datetime.fromtimestamp(given["expires"] + 1, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"sas": f"?sv=2024&se={quote(end)}&sp=r&sig={given['token']}"}


# By service: the URL, more options, and what the function returns of the server's credentials.
SERVICES: dict[str, tuple[str, dict[str, Any], Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "S3, as obstore's": (
        "s3://bucket/x",
        {},
        lambda given: {
            "access_key_id": given["key"],
            "secret_access_key": given["secret"],
            "token": given["token"],
            "expires_at": datetime.fromtimestamp(given["expires"], UTC),
        },
    ),
    "GCS": (
        "gs://bucket/x",
        {},
        lambda given: {"token": given["token"], "expires": given["expires"]},
    ),
    "Azure": (
        "az://bucket/x",
        {"account_name": "a"},
        lambda given: {"bearer": given["token"], "expires": given["expires"]},
    ),
    "Azure, signature": ("az://bucket/x", {"account_name": "a"}, as_signature),
    "HTTP": ("{}/bucket/x", {}, as_headers),
}


def read_for_a_while(tokens: TokenServer, service: str) -> None:
    url, more, spelled = SERVICES[service]
    tokens.refusal = (401, "Unauthorized")
    tokens.values = {f"x/{number}": (bytes([number]), {}) for number in range(8)}
    options: dict[str, Any] = {**more, "timeout": 20, "credentials": Scripted(tokens, spelled)}
    if not url.startswith("{}"):
        options["endpoint_url"] = tokens.endpoint
    store = as_store(url.format(tokens.endpoint), options)
    end = time.time() + 1.5 * tokens.life_s
    while time.time() < end:
        assert store.getitems(map(str, range(8))) == {str(n): bytes([n]) for n in range(8)}
    assert len(tokens.issued) >= 2
    assert tokens.least_gap_s() > 0.66 * tokens.life_s
    tokens.life_s = 3600
    until(lambda: store["0"] and tokens.ends[f"SEKRET-token-{len(tokens.issued) - 1}"] > end + 60)
    # Refused before its end: asked for once more.
    time.sleep(1.05)
    before = len(tokens.issued)
    tokens.expire_all()
    assert store["1"] == b"\x01"
    assert len(tokens.issued) == before + 1
    tokens.expire_all()
    with pytest.raises(PermissionError, match="401 Unauthorized") as caught:
        store["1"]
    assert "SEKRET" not in str(caught.value)


def test_each_service_has_functions() -> None:
    def used(service: str) -> None:
        with TokenServer() as server:
            read_for_a_while(server, service)

    with ThreadPoolExecutor(len(SERVICES)) as pool:
        assert list(pool.map(used, SERVICES)) == [None] * len(SERVICES)


@pytest.mark.parametrize(
    ("service", "told", "words"),
    [
        ("GCS", {"key": "SEKRET"}, "returned a dict without 'token'"),
        ("Azure", {}, "returned a dict without 'sas' or 'bearer' or 'key'"),
        ("Azure", {"key": "SEKRET!"}, '"key" that is not base64'),
        ("HTTP", {"token": "SEKRET"}, "returned a dict without 'headers'"),
        ("HTTP", {"headers": {"a": 5}}, "'headers' that are not a dict of texts"),
        ("HTTP", {"headers": {"a b": "SEKRET"}}, "a header that HTTP does not allow"),
        ("HTTP", {"headers": {"a": "SEK\nRET"}}, "a header that HTTP does not allow"),
    ],
)
def test_nonsense_of_each_service(tokens: TokenServer, service: str, told: Any, words: str) -> None:
    url, more, _ = SERVICES[service]
    options: dict[str, Any] = {**more, "timeout": 20, "credentials": Scripted(tokens, told)}
    if not url.startswith("{}"):
        options["endpoint_url"] = tokens.endpoint
    with pytest.raises(PermissionError) as caught:
        as_store(url.format(tokens.endpoint), options)["1"]
    assert words in str(caught.value)
    assert "SEK" not in str(caught.value)


def test_expiring_headers_follow_no_redirect_to_another_server(tokens: TokenServer) -> None:
    tokens.life_s = 3600
    with Recorder() as there, Recorder() as here:
        there.values["/x/a"] = b"elsewhere"
        here.values |= {"/x/a": there.url("/x/a"), "/x/b": here.url("/x/c"), "/x/c": b"here"}
        function = Scripted(tokens, as_headers)
        store = as_store(here.url("/x"), {"credentials": function})
        assert (store["a"], store["b"]) == (b"elsewhere", b"here")
        assert there.headers("authorization") == [None]
        assert set(here.headers("authorization")) == {"Bearer SEKRET-token-0"}


def test_an_instance_of_obstore_with_a_function_is_served_by_the_engine(
    tokens: TokenServer,
) -> None:
    obstore = pytest.importorskip("obstore.store")
    tokens.life_s = 3600
    instance = obstore.S3Store(
        "bucket",
        prefix="x",
        endpoint=tokens.endpoint,
        client_options={"allow_http": True},
        credential_provider=issued_as_obstore,
    )
    store: Any = as_store(instance)
    assert type(store._engine).__name__ == "ObjectStore"
    z = zarr.create(4, store=instance, dtype="i4")
    z[1:3] = 5
    assert zarr.open(store, mode="r")[:].tolist() == [0, 5, 5, 0]
    assert len(tokens.issued) == 1
    child = forked(lambda: z[:].tolist() == [0, 5, 5, 0] or z.nothing)
    assert tokens.processes() == {os.getpid(), child}
    assert pickle.loads(pickle.dumps(store)) == store
    other = as_store(
        obstore.S3Store(
            "bucket",
            endpoint=tokens.endpoint,
            client_options={"allow_http": True},
            credential_provider=Scripted(tokens, SERVICES["S3, as obstore's"][2]),
        )
    )
    with pytest.raises(pickle.PicklingError, match="pickled by name"):
        pickle.dumps(other)
