"""Credentials of AWS' single sign-on: the token of ``aws sso login`` buys them of the portal."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
import urllib.parse
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from zarrix._stores.remote.credential_values import UnusableCredentials, end_of_life
from zarrix._stores.remote.sources.aws_files import Profile
from zarrix._stores.remote.sources.web import answer_of, json_of

__all__ = ["VARIABLES", "credentials_of_sso", "has_sso"]

# Environment variables that name other services than AWS'.
VARIABLES = ("AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC")
# A token is renewed this long before its end.
_MARGIN_S = 15 * 60


def has_sso(profile: Profile) -> bool:
    """Whether the profile is one of single sign-on."""
    return any(name in profile.values for name in ("sso_session", "sso_start_url"))


def credentials_of_sso(profile: Profile, environment: Mapping[str, str]) -> dict[str, Any]:
    """The credentials of the role that the profile names.

    Raises
    ------
    UnusableCredentials
        The profile is not complete, there is no login, or the portal refuses.
    """
    settings = {**profile.session, **profile.values}
    needed = ("sso_region", "sso_account_id", "sso_role_name", "sso_start_url")
    missing = [name for name in needed if not settings.get(name)]
    if missing:
        raise UnusableCredentials(f"has no {missing[0]} in AWS' configuration")
    region = settings["sso_region"]
    token = _token(profile, settings, environment)
    query = {"role_name": settings["sso_role_name"], "account_id": settings["sso_account_id"]}
    portal = environment.get(VARIABLES[0]) or f"https://portal.sso.{_host(region)}"
    url = f"{portal}/federation/credentials?{urllib.parse.urlencode(query)}"
    status, _, body = answer_of(url, {"x-amz-sso_bearer_token": token})
    if status == 401:
        raise UnusableCredentials(_login(profile))
    found = json_of(url, status, body).get("roleCredentials")
    if not isinstance(found, dict):
        raise UnusableCredentials("got an answer of the portal without credentials")
    end = found.get("expiration")
    # Milliseconds.
    return {**found, "expiration": end / 1000 if isinstance(end, int) else end}


def _host(region: str) -> str:
    if not all(part.isalnum() for part in region.split("-")):
        raise UnusableCredentials("has an sso_region that is not the name of a region")
    return f"{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def _login(profile: Profile) -> str:
    return f"has no valid login: run 'aws sso login --profile {profile.name}'"


def _token(profile: Profile, settings: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The token of the last login, renewed if it ends soon and can be renewed."""
    of = settings.get("sso_session") or settings["sso_start_url"]
    name = hashlib.sha1(of.encode(), usedforsecurity=False).hexdigest()
    path = os.path.expanduser(f"~/.aws/sso/cache/{name}.json")
    try:
        with open(path, encoding="utf-8") as file:
            cached = json.load(file)
        token, end = cached["accessToken"], end_of_life(cached["expiresAt"])
    except (OSError, ValueError, LookupError, TypeError, UnusableCredentials):
        raise UnusableCredentials(_login(profile)) from None
    if end - time.time() > _MARGIN_S:
        return str(token)
    with contextlib.suppress(UnusableCredentials):
        if cached.get("refreshToken") and cached.get("clientSecret"):
            return _renewed(path, cached, settings["sso_region"], environment)
    if end <= time.time():
        raise UnusableCredentials(_login(profile))
    return str(token)


def _renewed(path: str, cached: dict[str, Any], region: str, environment: Mapping[str, str]) -> str:
    asked = {
        "grantType": "refresh_token",
        "clientId": cached.get("clientId"),
        "clientSecret": cached["clientSecret"],
        "refreshToken": cached["refreshToken"],
    }
    url = f"{environment.get(VARIABLES[1]) or f'https://oidc.{_host(region)}'}/token"
    headers = {"Content-Type": "application/json"}
    status, _, body = answer_of(url, headers, json.dumps(asked).encode())
    found = json_of(url, status, body)
    token, life = found.get("accessToken"), found.get("expiresIn")
    if not isinstance(token, str) or not isinstance(life, int):
        raise UnusableCredentials("got no token from AWS' single sign-on")
    end = datetime.fromtimestamp(time.time() + life, UTC)
    cached |= {"accessToken": token, "expiresAt": end.strftime("%Y-%m-%dT%H:%M:%SZ")}
    if isinstance(found.get("refreshToken"), str):
        cached["refreshToken"] = found["refreshToken"]
    # A refresh token may be good for one use: AWS' tools must find the next one.
    with contextlib.suppress(OSError):
        _replace(path, json.dumps(cached))
    return token


def _replace(path: str, text: str) -> None:
    """Replaces a file, which only its owner can read, atomically."""
    number, new = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".partial")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(new, path)
    except BaseException:
        os.unlink(new)
        raise
