"""Requests to services that give credentials: short answers, no redirects, and nothing told."""

from __future__ import annotations

import http.cookiejar
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from email.message import Message
from typing import IO, Any

from zarrix._stores.remote.credential_values import UnusableCredentials

__all__ = ["answer_of", "json_of", "safe_url"]

# Longest time for one request, of which a call makes a few, and longest answer.
_LIMIT_S = 20
_MOST_BYTES = 1 << 20


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


def safe_url(url: str) -> str:
    """``url``, if no machine on the way can read what is sent there.

    Raises
    ------
    UnusableCredentials
        It is neither of HTTPS nor of this machine.
    """
    parts = urllib.parse.urlsplit(url)
    is_here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or not (parts.scheme == "https" or is_here):
        raise UnusableCredentials("needs an address that begins with https://")
    return url


def answer_of(
    url: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    jar: http.cookiejar.CookieJar | None = None,
) -> tuple[int, Message, bytes]:
    """Status, headers and body of the answer to one request; its cookies are in ``jar``.

    Raises
    ------
    UnusableCredentials
        There is no answer.
    """
    request = urllib.request.Request(safe_url(url), body, dict(headers))
    host = urllib.parse.urlsplit(url).hostname
    cookies = urllib.request.HTTPCookieProcessor(jar)
    opener = urllib.request.build_opener(_NoRedirects, cookies)
    try:
        with opener.open(request, timeout=_LIMIT_S) as answer:
            return answer.status, answer.headers, answer.read(_MOST_BYTES)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read(_MOST_BYTES)
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise UnusableCredentials(f"got no answer from {host}: {reason}") from None


def json_of(url: str, status: int, body: bytes) -> dict[str, Any]:
    """The object that an answer is.

    Raises
    ------
    UnusableCredentials
        The status is not 200, or the body is something else.
    """
    host = urllib.parse.urlsplit(url).hostname
    if status != 200:
        raise UnusableCredentials(f"was refused by {host} with status {status}")
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UnusableCredentials(f"got an answer from {host} that is not a JSON object")
    return found
