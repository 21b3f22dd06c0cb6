"""Where credentials come from, and that nothing that is shown, raised or pickled tells them."""

import io
import logging
import multiprocessing
import pickle
import sys
import traceback

import numpy as np
import pytest
import zarrix as zarr
from elsewhere import forget_secrets
from servers import KEY, REGION, SECRET
from zarrix._stores.open import as_store


def test_refused_credentials_are_an_error_that_does_not_tell_them(serve):
    server = serve("seaweedfs")
    options = {**server.options, "secret": "wrong-secret-value", "key": "zarrixkey"}
    store = as_store("s3://some-bucket/x.zarr", options)
    with pytest.raises(PermissionError) as caught:
        store["0"]
    assert "403" in str(caught.value)
    for text in (str(caught.value), repr(store), str(store)):
        assert "wrong-secret-value" not in text
        assert "zarrixkey" not in text


def test_a_pickle_holds_no_credentials_and_reopens_in_this_process(s3_bucket):
    z = zarr.open(
        s3_bucket.url + "/x", mode="w", shape=4, dtype="i2", storage_options=s3_bucket.options
    )
    z[:] = range(4)
    pickled = pickle.dumps(z)
    assert s3_bucket.options["secret"].encode() not in pickled
    assert s3_bucket.options["key"].encode() not in pickled
    assert pickle.loads(pickled)[:].tolist() == [0, 1, 2, 3]
    assert pickle.loads(pickle.dumps(z.store)) == z.store


def test_a_pickle_opened_elsewhere_takes_the_environments_credentials_or_says_so(
    s3_bucket, monkeypatch
):
    store = as_store(s3_bucket.url, s3_bucket.options)
    store["a"] = b"1"
    pickled = pickle.dumps(store)
    # As in a process that was not there when they were given.
    forget_secrets(monkeypatch)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
    with pytest.raises(PermissionError, match="never pickled"):
        pickle.loads(pickled)["a"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_bucket.options["key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_bucket.options["secret"])
    assert pickle.loads(pickled)["a"] == b"1"


def test_the_environments_credentials_and_endpoint_do(s3_bucket, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_bucket.options["key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_bucket.options["secret"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_bucket.options["endpoint_url"])
    zarr.save(f"{s3_bucket.url}/x.zarr", np.arange(3))
    assert zarr.load(f"{s3_bucket.url}/x.zarr").tolist() == [0, 1, 2]


@pytest.mark.parametrize("mode", ["403", "503", "reset", "garbage", "quotes the request"])
def test_no_error_and_no_log_tells_the_credentials(faulty, caplog, capfd, mode):
    caplog.set_level(logging.DEBUG)
    options = {**faulty.options, "token": "faulty-token", "timeout": 0.7}
    store = as_store(f"{faulty.url}/x", options)
    faulty.mode = mode
    with pytest.raises(OSError) as caught:
        store["a"]
    with pytest.raises(OSError) as written:
        store["a"] = b"1"
    shown = io.StringIO()
    for error in (caught.value, written.value):
        traceback.print_exception(error, file=shown)
        shown.write(repr(error) + str(error) + repr(error.__dict__))
    shown.write(caplog.text + "".join(capfd.readouterr()))
    shown.write(repr(store) + str(store) + repr(vars(store)) + repr(store.address))
    for secret in (faulty.options["key"], faulty.options["secret"], "faulty-token"):
        assert secret not in shown.getvalue()
    assert b"faulty-token" not in pickle.dumps(store)


def test_a_password_in_an_address_is_told_by_nobody():
    url = "http://user:pass-word@127.0.0.1:9/x.zarr"
    store = as_store(url, {"timeout": 0.5})
    with pytest.raises(OSError) as caught:
        store["a"]
    for text in (str(caught.value), repr(store), repr(vars(store)), str(pickle.dumps(store))):
        assert "pass-word" not in text


PROFILE = """
[profile lab]
region = {region}
endpoint_url = {endpoint}
credential_process = {python} {script}
"""


def increment(url, slot, times):
    z = zarr.open(url, mode="r+", storage_options={"profile": "lab"})
    for _ in range(times):
        z[slot::4] += 1


def test_writers_with_a_profile_of_a_program_lose_no_update(serve, monkeypatch, tmp_path):
    server, count = serve("moto"), tmp_path / "count"
    script, config = tmp_path / "program.py", tmp_path / "config"
    printed = {"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET}
    script.write_text(
        f"import json, os\nopen({str(count)!r}, 'a').write('.')\nprint(json.dumps({printed!r}))"
    )
    told = {"region": REGION, "endpoint": server.endpoint}
    config.write_text(PROFILE.format(python=sys.executable, script=script, **told))
    config.chmod(0o600)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    url = f"{server.bucket}/profile.zarr"
    z = zarr.open(url, mode="w", shape=8, chunks=4, dtype="i4", storage_options={"profile": "lab"})
    assert type(z.store).__name__ == "RemoteStore"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=increment, args=(url, slot, 5)) for slot in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert z[:].tolist() == [5] * 8
    # One start of the program for each process.
    assert count.read_text() == "." * 5
    assert SECRET.encode() not in pickle.dumps(z)
    assert pickle.loads(pickle.dumps(z))[:].tolist() == [5] * 8
