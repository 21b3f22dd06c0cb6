"""What URLs, storage options and the environment become; no server is asked."""

import base64
import json

import pytest
from zarrix import _engine
from zarrix._stores.open import as_store
from zarrix._stores.remote import azure, gcs, hdfs, http, s3
from zarrix._stores.secrets import merge_secrets, split_secrets
from zarrix.storage import RemoteStore

S3 = {"key": "AK", "secret": "SK"}


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ({"anon": True}, {}, {"skip_signature": "true"}),
        (
            S3 | {"token": "T"},
            {},
            {"aws_access_key_id": "AK", "aws_secret_access_key": "SK", "aws_session_token": "T"},
        ),
        (
            S3 | {"endpoint_url": "http://h:1"},
            {"AWS_ENDPOINT_URL": "http://other"},
            {"aws_endpoint": "http://h:1", "allow_http": "true"},
        ),
        (
            S3 | {"client_kwargs": {"endpoint_url": "https://h", "region_name": "eu-west-2"}},
            {},
            {"aws_endpoint": "https://h", "allow_http": "false", "aws_region": "eu-west-2"},
        ),
        (
            {},
            {"AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "F", "AWS_DEFAULT_REGION": "r"},
            {"aws_access_key_id": "E", "aws_secret_access_key": "F", "aws_region": "r"},
        ),
        (
            {},
            {"FSSPEC_S3_KEY": "E", "FSSPEC_S3_SECRET": "F", "FSSPEC_S3_ENDPOINT_URL": "http://x"},
            {"aws_access_key_id": "E", "aws_secret_access_key": "F", "aws_endpoint": "http://x"},
        ),
        (
            S3
            | {
                "endpoint_url": "http://h",
                "config_kwargs": {"s3": {"addressing_style": "virtual"}},
            },
            {},
            {"aws_endpoint": "http://bucket.h", "virtual_hosted_style_request": "true"},
        ),
        (
            {},
            {"AWS_ROLE_ARN": "arn", "AWS_WEB_IDENTITY_TOKEN_FILE": "/f"},
            {"aws_role_arn": "arn", "aws_web_identity_token_file": "/f"},
        ),
        (
            S3 | {"requester_pays": True, "timeout": 5},
            {},
            {"aws_request_payer": "true", "timeout": "5"},
        ),
        (S3 | {"config": {"aws_region": "r"}, "default_block_size": 5}, {}, {"aws_region": "r"}),
    ],
)
def test_options_of_s3(options, environment, expected, tmp_path):
    files = {
        "AWS_CONFIG_FILE": str(tmp_path / "a"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "b"),
    }
    found = s3.address("s3://bucket/a/b/", options, environment | files)
    assert (found.service, found.bucket, found.prefix) == ("s3", "bucket", "a/b")
    assert found.url == "s3://bucket/a/b"
    assert {name: found.options.get(name) for name in expected} == expected
    _engine.ObjectStore(found.service, found.bucket, found.prefix, found.options)


def test_a_profile_of_aws_files(tmp_path):
    (tmp_path / "config").write_text(
        "[profile lab]\nregion = eu-north-1\n[profile sso]\nsso_session = x\n"
    )
    (tmp_path / "credentials").write_text(
        "[lab]\naws_access_key_id = A\naws_secret_access_key = B\n"
    )
    files = {
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }
    found = s3.address("s3://b", {"profile": "lab"}, files)
    assert found.options == {
        "aws_access_key_id": "A",
        "aws_secret_access_key": "B",
        "aws_region": "eu-north-1",
    }
    with pytest.raises(ValueError, match="no profile 'none'"):
        s3.address("s3://b", {}, files | {"AWS_PROFILE": "none"})
    found = s3.address("s3://b", {"profile": "sso"}, files)
    assert found.provider is not None
    assert found.provider.label == "the profile 'sso' of AWS"


def test_no_credentials_are_said_at_once_where_no_machine_gives_them():
    with pytest.raises(PermissionError, match="anon=True for public data"):
        s3.address("s3://b", {}, {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/none"})


@pytest.mark.parametrize(
    ("url", "options", "words"),
    [
        ("s3://", {}, "names no bucket"),
        (
            "s3://b/x",
            S3 | {"endpoint": "http://x"},
            "have no 'endpoint'; did you mean 'endpoint_url'",
        ),
        ("s3://b/x", {"key": "only"}, "a key and a secret"),
        ("s3://b/x", S3 | {"client_kwargs": 5}, "is a dict, not 5"),
        ("s3://b/x", S3 | {"timeout": "soon"}, "timeout is a number of seconds"),
        ("s3://b/x", S3 | {"config": {"aws_reg": "x"}}, "there is no option"),
        ("gs://b/x", {"tokn": "x"}, "have no 'tokn'; did you mean 'token'"),
        ("az://c/x", {}, "names no storage account"),
        ("http:///x", {}, "names no host"),
        ("hdfs://h:1/x", {"extra": 1}, "have no 'extra'; did you mean 'extra_conf'"),
        ("hdfs://h:1/x", {"extra_conf": 5}, "is a dict, not 5"),
        ("hdfs://h:1/x", {"replication": 0}, "replication is from 1 to 512"),
        ("hdfs://nobody/x", {}, "No NameNode hosts found"),
        ("hdfs:///x", {}, "No fs.defaultFS setting found"),
    ],
)
def test_what_makes_no_sense_is_an_error_that_names_it(url, options, words, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
    with pytest.raises((ValueError, OSError)) as caught:
        as_store(url, options).get("key")
    assert words in str(caught.value)


def test_an_option_that_only_fsspec_has_goes_there():
    store = as_store("s3://b/x", S3 | {"version_aware": True})
    assert not isinstance(store, RemoteStore)


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ({"token": "anon"}, {}, {"skip_signature": "true"}),
        ({"token": "ya29.x", "project": "p"}, {}, {"google_bearer_token": "ya29.x"}),
        (
            {"token": {"type": "service_account"}},
            {},
            {"google_service_account_key": '{"type": "service_account"}'},
        ),
        ({}, {"GOOGLE_APPLICATION_CREDENTIALS": "/f"}, {"google_application_credentials": "/f"}),
        (
            {},
            {"STORAGE_EMULATOR_HOST": "localhost:4443"},
            {
                "google_base_url": "http://localhost:4443",
                "google_bearer_token": "anonymous",
                "allow_http": "true",
            },
        ),
    ],
)
def test_options_of_google(options, environment, expected):
    found = gcs.address("gs://bucket/x.zarr", options, environment)
    assert (found.service, found.bucket, found.prefix) == ("gs", "bucket", "x.zarr")
    assert found.options == expected


def test_a_file_of_google_credentials_is_told_by_its_type(tmp_path):
    for kind, name in (
        ("service_account", "google_service_account"),
        ("authorized_user", "google_application_credentials"),
    ):
        (tmp_path / kind).write_text(json.dumps({"type": kind}))
        found = gcs.address("gs://b", {"token": str(tmp_path / kind)}, {})
        assert found.options == {name: str(tmp_path / kind)}


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        ("az://c/x", {"account_name": "a"}, {"account_name": "a", "skip_signature": "true"}),
        (
            "az://c/x",
            {"account_name": "a", "account_key": "k"},
            {"account_name": "a", "account_key": "k"},
        ),
        (
            "abfs://c@acc.dfs.core.windows.net/x",
            {"sas_token": "?sv=1&sig=x"},
            {"account_name": "acc", "sas_token": "sv=1&sig=x"},
        ),
        (
            "az://c/x",
            {"connection_string": "AccountName=a;AccountKey=k==;BlobEndpoint=http://h/a;"},
            {"account_name": "a", "account_key": "k==", "azure_endpoint": "http://h/a"},
        ),
        (
            "az://c/x",
            {"account_name": "a", "client_id": "i", "client_secret": "s", "tenant_id": "t"},
            {"account_name": "a", "client_id": "i", "client_secret": "s", "tenant_id": "t"},
        ),
    ],
)
def test_options_of_azure(url, options, expected):
    found = azure.address(url, options, {})
    assert (found.service, found.bucket, found.prefix) == ("az", "c", "x")
    found.options.pop("allow_http")
    assert found.options == expected


def test_options_of_web_servers():
    found = http.address("https://user:p%40ss@host:8/a%20b/c.zarr", {"headers": {"X-A": "1"}}, {})
    assert (found.bucket, found.prefix, found.url) == (
        "https://host:8",
        "a b/c.zarr",
        "https://host:8/a b/c.zarr",
    )
    basic = base64.b64encode(b"user:p@ss").decode()
    assert found.options["header:authorization"] == f"Basic {basic}"
    assert found.options["header:x-a"] == "1"
    store = as_store("https://user:secret@host/x")
    assert "secret" not in repr(store) + str(vars(store))


@pytest.mark.parametrize(
    ("url", "options", "bucket", "expected"),
    [
        ("hdfs://h:8020/a/b", {}, "h:8020", {}),
        ("hdfs://ada@h/a/b", {"replication": 2}, "h", {"user": "ada", "replication": "2"}),
        ("hdfs:///a/b", {"host": "h", "port": 9000, "user": "bob"}, "h:9000", {"user": "bob"}),
        ("hdfs:///a/b", {"host": "default"}, "", {}),
        ("hdfs://h/a/b", {"extra_conf": {"dfs.x": True}}, "h", {"dfs.x": "true"}),
        ("hdfs://h/a/b", {"timeout": 3, "retries": 1}, "h", {"timeout": "3", "max_retries": "1"}),
    ],
)
def test_options_of_hdfs(url, options, bucket, expected):
    found = hdfs.address(url, options, {"XDG_CACHE_HOME": "/c"})
    assert (found.service, found.bucket, found.prefix) == ("hdfs", bucket, "a/b")
    assert found.options.pop("locks").startswith("/c/zarrix/")
    assert found.options == expected
    with pytest.raises(hdfs.NeedsFsspec):
        hdfs.address(url, {"kerb_ticket": "/tmp/ticket"}, {})


def test_secrets_are_told_from_what_anybody_may_see():
    options = {
        "key": "a",
        "anon": False,
        "client_kwargs": {"region_name": "r", "aws_session_token": "s"},
    }
    public, secret = split_secrets(options)
    assert public == {"anon": False, "client_kwargs": {"region_name": "r"}}
    assert secret == {"key": "a", "client_kwargs": {"aws_session_token": "s"}}
    assert merge_secrets(public, secret) == options
    assert split_secrets({"token": "anon"}) == ({"token": "anon"}, {})
