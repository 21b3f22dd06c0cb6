"""Where credentials that expire come from: profiles of AWS, Earthdata, Google and Azure."""

import base64
import hashlib
import json
import os
import stat
import sys
import time
import types
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from servers.portal import Answer, Asked, Portal
from zarrix._stores.remote import azure, gcs, s3
from zarrix._stores.remote.provided import Provider
from zarrix._stores.remote.sources import aws_process

GIVEN = {"accessKeyId": "AK", "secretAccessKey": "SEKRET", "sessionToken": "TOKEN"}
VALUES = {"key": "AK", "secret": "SEKRET", "token": "TOKEN"}


@pytest.fixture
def portal() -> Iterator[Portal]:
    with Portal() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portal: Portal) -> Path:
    """The folder of a user of AWS; the services are those of ``portal``."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "NETRC", "EARTHDATA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for service in ("SSO", "SSO_OIDC", "STS"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", portal.url(f"/{service}"))
    (tmp_path / ".aws" / "sso" / "cache").mkdir(parents=True)
    return tmp_path


def write_config(home: Path, text: str, mode: int = 0o600) -> Path:
    path = home / ".aws" / "config"
    path.write_text(text)
    path.chmod(mode)
    return path


def provider_of(options: dict[str, Any]) -> Provider:
    found = s3.address("s3://bucket/x", options, os.environ)
    assert found.provider is not None
    assert found.has_credentials
    assert "SEKRET" not in repr(found) + repr(vars(found))
    return found.provider


SSO = """
[sso-session work]
sso_start_url = https://work.example/start
sso_region = eu-west-1
[profile lab]
sso_session = work
sso_account_id = 123
sso_role_name = Reader
region = eu-north-1
[profile old]
sso_start_url = https://old.example/start
sso_region = eu-west-1
sso_account_id = 9
sso_role_name = Old
"""


def log_in(home: Path, of: str, life_s: float, **more: Any) -> Path:
    name = hashlib.sha1(of.encode()).hexdigest()
    path = home / ".aws" / "sso" / "cache" / f"{name}.json"
    end = datetime.now(UTC) + timedelta(seconds=life_s)
    told = {"accessToken": f"LOGIN-{of}", "expiresAt": end.strftime("%Y-%m-%dT%H:%M:%SZ"), **more}
    path.write_text(json.dumps(told))
    return path


@pytest.mark.parametrize(
    ("name", "of", "account"),
    [("lab", "work", "123"), ("old", "https://old.example/start", "9")],
)
def test_a_profile_of_single_sign_on(
    home: Path, portal: Portal, name: str, of: str, account: str
) -> None:
    write_config(home, SSO)
    log_in(home, of, 3600)
    end = round(time.time()) + 900
    given = {"roleCredentials": {**GIVEN, "expiration": end * 1000}}
    portal.routes["/SSO/federation/credentials"] = lambda asked: (200, {}, given)
    provider = provider_of({"profile": name})
    assert provider.fetch() == (VALUES, end)
    asked = portal.requests[0]
    assert asked.query["account_id"] == account
    assert asked.headers["x-amz-sso_bearer_token"] == f"LOGIN-{of}"
    # Every store of the profile has the same one.
    assert provider_of({"profile": name}) is provider


def test_a_login_that_is_over_is_said_with_the_way_out(home: Path, portal: Portal) -> None:
    write_config(home, SSO)
    provider = provider_of({"profile": "lab"})
    words = "has no valid login: run 'aws sso login --profile lab'"
    assert provider.fetch() == words
    log_in(home, "work", -5)
    assert provider.fetch() == words
    log_in(home, "work", 3600)
    portal.routes["/SSO/federation/credentials"] = lambda asked: (401, {}, "SEKRET")
    assert provider.fetch() == words
    portal.routes["/SSO/federation/credentials"] = lambda asked: (500, {}, "SEKRET")
    assert provider.fetch() == "was refused by 127.0.0.1 with status 500"
    portal.routes["/SSO/federation/credentials"] = lambda asked: (200, {}, "SEKRET")
    assert provider.fetch() == "got an answer from 127.0.0.1 that is not a JSON object"


@pytest.mark.parametrize("life_s", [60, -5])
def test_a_login_that_ends_is_renewed_where_it_can_be(
    home: Path, portal: Portal, life_s: float
) -> None:
    write_config(home, SSO)
    path = log_in(
        home, "work", life_s, refreshToken="FIRST", clientId="ID", clientSecret="CLIENT", more=5
    )

    def renewed(asked: Asked) -> Answer:
        told = json.loads(asked.body)
        if told != {
            "grantType": "refresh_token",
            "clientId": "ID",
            "clientSecret": "CLIENT",
            "refreshToken": "FIRST",
        }:
            return 400, {}, "no"
        return 200, {}, {"accessToken": "NEXT", "expiresIn": 7200, "refreshToken": "SECOND"}

    portal.routes["/SSO_OIDC/token"] = renewed
    given = {"roleCredentials": {**GIVEN, "expiration": 5_000_000_000_000}}
    portal.routes["/SSO/federation/credentials"] = lambda asked: (200, {}, given)
    assert provider_of({"profile": "lab"}).fetch() == (VALUES, 5e9)
    assert portal.requests[-1].headers["x-amz-sso_bearer_token"] == "NEXT"
    # AWS' own tools find the new tokens, and nobody else does.
    cached = json.loads(path.read_text())
    assert (cached["accessToken"], cached["refreshToken"], cached["more"]) == ("NEXT", "SECOND", 5)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == [path.name]


def process(home: Path, body: str, mode: int = 0o600) -> Provider:
    """The provider of a program in Python."""
    script = home / "a program.py"
    script.write_text(body)
    write_config(
        home,
        f"[profile lab]\ncredential_process = {sys.executable} '{script}' one '$HOME;x'\n",
        mode,
    )
    return provider_of({"profile": "lab"})


PRINTS = "import json, sys\nprint(json.dumps({0}))\n"
PRINTED = {"Version": 1, "AccessKeyId": "AK", "SecretAccessKey": "SEKRET", "SessionToken": "TOKEN"}


def test_a_profile_that_names_a_program(home: Path) -> None:
    given = {**PRINTED, "Expiration": "2999-01-01T00:00:00Z"}
    check = "import sys; assert sys.argv[1:] == ['one', '$HOME;x'], sys.argv\n"
    provider = process(home, check + PRINTS.format(given))
    end = datetime(2999, 1, 1, tzinfo=UTC).timestamp()
    assert provider.fetch() == (VALUES, end)
    assert process(home, PRINTS.format(PRINTED)).fetch() == (VALUES, None)


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_a_program_that_others_could_have_named_is_not_started(home: Path, mode: int) -> None:
    mark = home / "started"
    provider = process(home, f"open({str(mark)!r}, 'w')\n" + PRINTS.format(PRINTED), mode)
    told = provider.fetch()
    assert isinstance(told, str)
    assert "other users can change that file" in told
    assert f"chmod go-w {home / '.aws' / 'config'}" in told
    assert not mark.exists()
    (home / ".aws" / "config").chmod(0o644)
    assert provider.fetch() == (VALUES, None)


def test_a_safe_file_replaces_what_an_unsafe_one_says(home: Path) -> None:
    provider = process(home, PRINTS.format(PRINTED), 0o666)
    own = home / ".aws" / "credentials"
    own.write_text((home / ".aws" / "config").read_text().replace("[profile lab]", "[lab]"))
    own.chmod(0o600)
    assert provider.fetch() == (VALUES, None)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('SEKRET'); raise SystemExit(3)", "has a program that failed with status 3"),
        ("print('SEKRET')", "did not print a JSON object"),
        ("print('[1]')", "did not print a JSON object"),
        (PRINTS.format({**PRINTED, "Version": 2}), "credentials of Version 1"),
        (PRINTS.format({"Version": 1, "AccessKeyId": "AK"}), "without 'key' and 'secret'"),
        ("import time; time.sleep(60)", "took more than 0.2 s"),
    ],
)
def test_a_program_that_fails_is_an_error_without_what_it_printed(
    home: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str
) -> None:
    if "sleep" in body:
        monkeypatch.setattr(aws_process, "_LIMIT_S", 0.2)
    told = process(home, body).fetch()
    assert isinstance(told, str)
    assert words in told
    assert "SEKRET" not in told


def test_a_program_that_is_not_there(home: Path) -> None:
    write_config(home, "[profile lab]\ncredential_process = /none/such 'x\n")
    told = provider_of({"profile": "lab"}).fetch()
    assert told == "has a program that does not start: No closing quotation"
    write_config(home, "[profile lab]\ncredential_process = /none/such\n")
    told = provider_of({"profile": "lab"}).fetch()
    assert "does not start: [Errno 2]" in told


STS = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<Credentials><AccessKeyId>AK</AccessKeyId><SecretAccessKey>SEKRET</SecretAccessKey>
<SessionToken>TOKEN</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials>
</AssumeRoleResult></AssumeRoleResponse>"""
CHAIN = """
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = base
external_id = outside
region = eu-west-2
[profile base]
aws_access_key_id = BASE
aws_secret_access_key = BASESECRET
[profile round]
role_arn = arn:aws:iam::1:role/x
source_profile = trip
[profile trip]
role_arn = arn:aws:iam::1:role/y
source_profile = round
[profile device]
role_arn = arn:aws:iam::1:role/x
source_profile = base
mfa_serial = arn:aws:iam::1:mfa/me
"""


def test_a_role_of_another_profile(home: Path, portal: Portal) -> None:
    write_config(home, CHAIN)
    portal.routes["/STS/"] = lambda asked: (200, {}, STS)
    provider = provider_of({"profile": "role"})
    assert provider.fetch() == (VALUES, datetime(2999, 1, 1, tzinfo=UTC).timestamp())
    asked = portal.requests[0]
    told = dict(part.split("=") for part in asked.body.decode().split("&"))
    assert (told["Action"], told["ExternalId"]) == ("AssumeRole", "outside")
    scope = f"{asked.headers['x-amz-date'][:8]}/eu-west-2/sts/aws4_request"
    assert f"Credential=BASE/{scope}" in asked.headers["authorization"]
    refused = "<E><Error><Code>AccessDenied</Code><Message>SEKRET</Message></Error></E>"
    portal.routes["/STS/"] = lambda asked: (403, {}, refused)
    assert provider.fetch() == "may not assume its role: STS answered 403 (AccessDenied)"
    portal.routes["/STS/"] = lambda asked: (200, {}, "no XML")
    assert provider.fetch() == "returned a dict without 'key' and 'secret'"


def test_the_signature_is_that_of_botocore(home: Path, portal: Portal) -> None:
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    write_config(home, CHAIN)
    portal.routes["/STS/"] = lambda asked: (200, {}, STS)
    provider_of({"profile": "role"}).fetch()
    asked = portal.requests[0]
    signer = auth.SigV4Auth(Credentials("BASE", "BASESECRET"), "sts", "eu-west-2")
    request = AWSRequest(
        "POST",
        portal.url("/STS/"),
        {"content-type": asked.headers["content-type"], "host": asked.headers["host"]},
        asked.body,
    )
    request.context["timestamp"] = asked.headers["x-amz-date"]
    request.headers["X-Amz-Date"] = asked.headers["x-amz-date"]
    signature = signer.signature(
        signer.string_to_sign(request, signer.canonical_request(request)), request
    )
    assert f"Signature={signature}" in asked.headers["authorization"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("round", "chain of source_profile without an end"), ("device", "a code of a device")],
)
def test_roles_that_cannot_be_assumed_say_why(home: Path, name: str, words: str) -> None:
    write_config(home, CHAIN)
    told = provider_of({"profile": name}).fetch()
    assert isinstance(told, str)
    assert words in told


def test_keys_of_options_and_of_the_environment_come_first(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(home, SSO + "[default]\ncredential_process = x\n")
    found = s3.address("s3://b", {"key": "A", "secret": "B"}, os.environ)
    assert found.provider is None
    assert provider_of({}).label == "the profile 'default' of AWS"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "B")
    assert s3.address("s3://b", {}, os.environ).provider is None
    assert provider_of({"profile": "lab"}).label == "the profile 'lab' of AWS"


EARTHDATA = "earthdata:{}"


def given_to(header: str) -> Callable[[Asked], Answer]:
    told = {**GIVEN, "expiration": "2999-01-01 00:00:00+00:00"}

    def answer(asked: Asked) -> Answer:
        if asked.headers.get("authorization") != header:
            return 401, {}, "SEKRET"
        return 200, {}, told

    return answer


def test_a_token_of_earthdata(home: Path, portal: Portal, monkeypatch: pytest.MonkeyPatch) -> None:
    portal.routes["/s3credentials"] = given_to("Bearer EDL")
    monkeypatch.setenv("EARTHDATA_TOKEN", "EDL")
    provider = provider_of({"credentials": EARTHDATA.format(portal.url("/s3credentials"))})
    assert provider.fetch() == (VALUES, datetime(2999, 1, 1, tzinfo=UTC).timestamp())
    monkeypatch.setenv("EARTHDATA_TOKEN", "OLD")
    assert provider.fetch() == "had EARTHDATA_TOKEN refused by 127.0.0.1: status 401"
    # A redirect does not get the token.
    there = portal.url("/elsewhere", "localhost")
    portal.routes["/s3credentials"] = lambda asked: (302, {"Location": there}, "")
    assert provider.fetch() == "had EARTHDATA_TOKEN refused by 127.0.0.1: status 302"
    assert all(asked.path != "/elsewhere" for asked in portal.requests)


def netrc(home: Path, text: str, mode: int = 0o600) -> None:
    (home / ".netrc").write_text(text)
    (home / ".netrc").chmod(mode)


def test_a_login_of_earthdata_in_the_users_file(home: Path, portal: Portal) -> None:
    login, here = portal.url("/oauth/authorize", "localhost"), portal.url("/s3credentials")
    pair = base64.b64encode(b"me:pw").decode()

    def credentials(asked: Asked) -> Answer:
        assert "authorization" not in asked.headers
        if "session=1" in asked.headers.get("cookie", ""):
            return 200, {}, {**GIVEN, "expiration": "2999-01-01 00:00:00+00:00"}
        if asked.query.get("code") == "5":
            return 302, {"Location": "/s3credentials", "Set-Cookie": "session=1; Path=/"}, ""
        return 302, {"Location": login}, ""

    def authorize(asked: Asked) -> Answer:
        if asked.headers.get("authorization") != f"Basic {pair}":
            return 401, {}, "SEKRET"
        return 302, {"Location": f"{here}?code=5"}, ""

    portal.routes |= {"/s3credentials": credentials, "/oauth/authorize": authorize}
    provider = provider_of({"credentials": EARTHDATA.format(here)})
    assert "has no login: set EARTHDATA_TOKEN, or put" in str(provider.fetch())
    netrc(home, "machine localhost login me password pw\ndefault login you password all\n")
    assert provider.fetch() == (VALUES, datetime(2999, 1, 1, tzinfo=UTC).timestamp())
    netrc(home, "default login you password all\n")
    assert "has no login for localhost" in str(provider.fetch())
    netrc(home, "machine localhost login me password wrong\n")
    assert provider.fetch() == "was refused by localhost with status 401"
    netrc(home, "machine localhost login me password pw\n", 0o644)
    if os.getuid():
        assert "cannot use ~/.netrc" in str(provider.fetch())


@pytest.mark.parametrize(
    "address", ["", "ftp://host/x", "https://me:SEKRET@host/x", "https://", "host/x"]
)
def test_an_address_of_earthdata_that_is_none(home: Path, address: str) -> None:
    with pytest.raises(ValueError, match="begins with https:// and has no user") as caught:
        provider_of({"credentials": EARTHDATA.format(address)})
    assert "SEKRET" not in str(caught.value)


def test_a_password_goes_over_https_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EARTHDATA_TOKEN", "EDL")
    provider = provider_of({"credentials": EARTHDATA.format("http://archive.example/x")})
    assert provider.fetch() == "needs an address that begins with https://"


class _GoogleCredentials:
    """As google.auth's: a token, its end in UTC without a zone, and how to get another."""

    token: str | None = None
    expiry: datetime | None = None

    def refresh(self, request: object) -> None:
        assert request == "request"
        self.token, self.expiry = "ya29.SEKRET", datetime(2999, 1, 1)


@pytest.fixture
def google_auth(monkeypatch: pytest.MonkeyPatch) -> None:
    auth = types.ModuleType("google.auth")
    loaded = lambda path, scopes: (_GoogleCredentials(), None)  # noqa: E731
    monkeypatch.setattr(auth, "load_credentials_from_file", loaded, raising=False)
    requests = types.ModuleType("google.auth.transport.requests")
    monkeypatch.setattr(requests, "Request", lambda: "request", raising=False)
    for module in (auth, requests):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("google_auth")
def test_external_accounts_and_objects_of_google(tmp_path: Path) -> None:
    end = datetime(2999, 1, 1, tzinfo=UTC).timestamp()
    path = tmp_path / "account.json"
    path.write_text('{"type": "external_account"}')
    places: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({"token": str(path)}, {}),
        ({}, {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}),
        ({"token": _GoogleCredentials()}, {}),
    ]
    for options, environment in places:
        found = gcs.address("gs://bucket/x", options, environment)
        assert found.provider is not None
        assert found.provider.fetch() == ({"token": "ya29.SEKRET"}, end)
        assert found.options == {}


def test_an_external_account_without_googles_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    path = tmp_path / "account.json"
    path.write_text('{"type": "external_account"}')
    found = gcs.address("gs://bucket/x", {"token": str(path)}, {})
    assert found.provider is not None
    assert "pip install google-auth" in str(found.provider.fetch())


@pytest.mark.parametrize("is_async", [False, True])
def test_an_object_of_azures_package(is_async: bool) -> None:
    class Credential:
        def get_token(self, scope: str) -> Any:
            assert scope == "https://storage.azure.com/.default"
            return types.SimpleNamespace(token="SEKRET", expires_on=5_000_000_000)

    class AsyncCredential(Credential):
        async def get_token(self, scope: str) -> Any:
            return super().get_token(scope)

    credential = AsyncCredential() if is_async else Credential()
    found = azure.address("az://c/x", {"account_name": "a", "credential": credential}, {})
    assert found.provider is not None
    assert found.provider.fetch() == ({"bearer": "SEKRET"}, 5e9)
    assert "skip_signature" not in found.options
