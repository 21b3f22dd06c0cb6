"""What every request must be before anything else looks at it.

The viewer shows files of the user, so another user of the machine, and a web page in the user's
browser, must get nothing:

- The ``Host`` header is one of the names of this server. A page whose name resolves to 127.0.0.1
  (DNS rebinding) sends its own name, and gets 421.
- A request that a browser marks as sent by another site (``Origin``, ``Sec-Fetch-Site``) gets 403,
  and no answer has CORS headers.
- Data needs the token, in a header that a page of another site cannot send. It is compared in
  constant time.
- Only GET and HEAD exist; targets have a length limit, and headers that of the server.
- Every answer forbids scripts and styles of others, frames, and guessing of types.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from zarrix.viewer._answers import Refused

__all__ = ["HEADERS", "TOKEN_HEADER", "Guard", "new_token"]

TOKEN_HEADER = "x-zarrix-token"
_LONGEST_TARGET = 8192
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""The headers of every answer."""


def new_token() -> str:
    """A token of 32 random bytes."""
    return secrets.token_urlsafe(32)


class Guard:
    """Checks the line and the headers of requests.

    Parameters
    ----------
    token : str or None
        None if another program in front of this one checks who asks.
    hosts : collection of str, optional
        Names with which requests may call this server, such as ``"127.0.0.1:8000"``; one without a
        port has any port. Those of this machine's loopback address if omitted.
    """

    def __init__(self, token: str | None, hosts: Collection[str] | None = None) -> None:
        self._token = None if token is None else token.encode()
        self._hosts = frozenset(host.lower() for host in (_LOCAL if hosts is None else hosts))

    def check(self, method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse a request that does not come from this server's own page.

        Raises
        ------
        Refused
        """
        found = _texts(headers)
        host = self._check_form(method, target, found)
        for origin in found.get("origin", []):
            if _site(origin) != host:
                raise Refused(403, "the request comes from another site")
        is_visit = found.get("sec-fetch-mode") == ["navigate"]
        for site in found.get("sec-fetch-site", []):
            # A link or the redirect file may open the page, which has no data in it.
            if site not in ("same-origin", "none") and not is_visit:
                raise Refused(403, "the request comes from another site")

    def check_form(
        self, method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]
    ) -> None:
        """Refuse a request to another server, one that is too long, and one that brings a body.

        Raises
        ------
        Refused
        """
        self._check_form(method, target, _texts(headers))

    def _check_form(self, method: str, target: bytes, headers: dict[str, list[str]]) -> str:
        host = self._host(headers.get("host", []))
        if method not in ("GET", "HEAD"):
            raise Refused(405, "this server only reads: GET and HEAD")
        if len(target) > _LONGEST_TARGET:
            raise Refused(414, f"the address is longer than {_LONGEST_TARGET} bytes")
        lengths = headers.get("content-length", [])
        if "transfer-encoding" in headers or any(one.strip() != "0" for one in lengths):
            raise Refused(413, "a request has no body here")
        return host

    def _host(self, hosts: list[str]) -> str:
        host = hosts[0].lower() if len(hosts) == 1 else ""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if not host or (host not in self._hosts and name not in self._hosts):
            raise Refused(421, "this server is not the one that the request names")
        return host

    def check_token(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse a request for data without the token.

        Raises
        ------
        Refused
        """
        if self._token is None:
            return
        sent = [value for name, value in headers if name.lower() == TOKEN_HEADER.encode()]
        if len(sent) != 1 or not hmac.compare_digest(sent[0], self._token):
            raise Refused(401, "the token is missing or wrong; 'zarrix view' prints the address")


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _site(origin: str) -> str | None:
    """Host and port of an origin; None for what is not one."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None
