"""Temporary S3 credentials of NASA's Earthdata: for a token, or for a login in ``~/.netrc``."""

from __future__ import annotations

import base64
import http.cookiejar
import netrc
import os
import urllib.parse
from typing import Any

from zarrix._stores.remote.credential_values import UnusableCredentials
from zarrix._stores.remote.sources.web import answer_of, json_of

__all__ = ["credentials_of_earthdata"]

_MOST_REDIRECTS = 10
_HELP = (
    "set EARTHDATA_TOKEN, or put 'machine urs.earthdata.nasa.gov login NAME password WORD' into "
    "~/.netrc"
)


def credentials_of_earthdata(url: str) -> dict[str, Any]:
    """What the address ``url`` of an archive gives to the user of this process.

    Raises
    ------
    UnusableCredentials
        There is neither a token nor a login, or it is refused.
    """
    token = os.environ.get("EARTHDATA_TOKEN")
    if token:
        # Not sent on to another host.
        status, _, body = answer_of(url, {"Authorization": f"Bearer {token}"})
        if status != 200:
            host = urllib.parse.urlsplit(url).hostname
            raise UnusableCredentials(f"had EARTHDATA_TOKEN refused by {host}: status {status}")
        return json_of(url, status, body)
    return _logged_in(url)


def _logins() -> dict[str, tuple[str, str]]:
    """The names and passwords of hosts in the user's file."""
    try:
        # Python refuses a file at the usual path that others can read.
        found = netrc.netrc(os.environ.get("NETRC"))
    except FileNotFoundError:
        raise UnusableCredentials(f"has no login: {_HELP}") from None
    except netrc.NetrcParseError as error:
        raise UnusableCredentials(f"cannot use ~/.netrc: {error.msg}") from None
    # An entry "default" would be sent to any host.
    return {
        host: (name, password)
        for host, (name, _, password) in found.hosts.items()
        if host != "default" and password is not None
    }


def _logged_in(url: str) -> dict[str, Any]:
    """Follows the redirects to the login and back; a password is sent to its own host only."""
    logins, jar = _logins(), http.cookiejar.CookieJar()
    was_sent = False
    for _ in range(_MOST_REDIRECTS):
        headers: dict[str, str] = {}
        login = logins.get(urllib.parse.urlsplit(url).hostname or "")
        if login is not None:
            pair = base64.b64encode(":".join(login).encode()).decode()
            headers["Authorization"] = f"Basic {pair}"
            was_sent = True
        status, told, body = answer_of(url, headers, jar=jar)
        if status not in (301, 302, 303, 307, 308):
            break
        url = urllib.parse.urljoin(url, told.get("Location", ""))
    if status == 401 and not was_sent:
        host = urllib.parse.urlsplit(url).hostname
        raise UnusableCredentials(f"has no login for {host}: {_HELP}")
    return json_of(url, status, body)
