"""The table of credentials that expire: what the option ``credentials`` may be, by service."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from zarrix._stores.remote.options import Options
from zarrix._stores.remote.provided import CredentialsFunction, Provider, named, provider_of
from zarrix._stores.remote.sources import azure_identity, google
from zarrix._stores.remote.sources.aws_files import Profile

__all__ = ["of_google_file", "of_object", "of_profile", "taken"]

_EARTHDATA = "earthdata:"

# Options that are credentials themselves, by service.
_STATIC: dict[str, tuple[str, ...]] = {
    "s3": ("key", "secret", "token", "username", "password", "anon", "profile"),
    "gs": ("token", "anon"),
    "az": ("account_key", "sas_token", "credential", "connection_string", "client_secret", "anon"),
    "http": (),
}


def taken(options: Options, service: str) -> Provider | None:
    """The provider that the option ``credentials`` names; None without it.

    Raises
    ------
    ValueError
        Other credentials are given, too, or the option is neither a function nor a known source.
    """
    given = named(options.take("credentials"))
    if given is None:
        return None
    others = [name for name in _STATIC[service] if options.has(name)]
    if others:
        raise ValueError(
            f"storage_options have both 'credentials' and {others[0]!r}: pass one of them"
        )
    if isinstance(given, CredentialsFunction):
        return provider_of(service, given, given, f"the credentials function {given.name}")
    if service == "s3" and isinstance(given, str) and given.startswith(_EARTHDATA):
        return _of_earthdata(given.removeprefix(_EARTHDATA))
    also = ", or 'earthdata:https://...'" if service == "s3" else ""
    raise ValueError(
        f"storage_options['credentials'] is a function that returns a dict{also}, not a "
        f"{type(given).__name__}"
    )


def _of_earthdata(url: str) -> Provider:
    # Import time: few programs use it.
    from zarrix._stores.remote.sources import earthdata

    parts = urlsplit(url)
    if "@" in parts.netloc or not parts.hostname or parts.scheme not in ("http", "https"):
        raise ValueError(
            "storage_options['credentials'] is 'earthdata:' and an address, which begins with "
            "https:// and has no user"
        )
    call = functools.partial(earthdata.credentials_of_earthdata, url)
    return provider_of("s3", ("earthdata", url), call, f"Earthdata at {parts.hostname}")


def of_profile(profile: Profile, environment: Mapping[str, str]) -> Provider:
    """The provider of a profile of AWS whose credentials have to be fetched."""
    # Import time: other services have no such profiles.
    from zarrix._stores.remote.sources import aws_profile

    # Only what changes them: a copy of the environment could hold other secrets.
    kept = {name: environment[name] for name in aws_profile.VARIABLES if name in environment}
    call = functools.partial(aws_profile.credentials_of_profile, profile.name, kept)
    source = ("profile", profile.name, *kept.items())
    return provider_of("s3", source, call, f"the profile {profile.name!r} of AWS")


def of_object(service: str, credential: Any) -> Provider | None:
    """The provider of an object of Google's or Azure's package; None for another object."""
    source = google if service == "gs" else azure_identity
    if not source.is_credentials(credential):
        return None
    call = functools.partial(source.credentials_of_object, credential)
    return provider_of(service, id(credential), call, f"the {type(credential).__name__}")


def of_google_file(path: str) -> Provider:
    """The provider of a file of Google that only its own package can use."""
    call = functools.partial(google.credentials_of_file, path)
    return provider_of("gs", ("file", path), call, f"the account in {path}")
