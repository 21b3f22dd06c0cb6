"""Credentials of a profile of AWS: keys, single sign-on, a program, or a role of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._stores.remote.credential_values import UnusableCredentials, values_of
from zarrix._stores.remote.sources import aws_files, aws_role, aws_sso
from zarrix._stores.remote.sources.aws_files import Profile, profile_of
from zarrix._stores.remote.sources.aws_process import credentials_of_process

__all__ = ["VARIABLES", "credentials_of_profile", "expires"]

# Environment variables that change what a profile gives.
VARIABLES = (*aws_files.VARIABLES, *aws_sso.VARIABLES, *aws_role.VARIABLES, "AWS_REGION")
# Profiles in a chain of roles.
_MOST_PROFILES = 5


def expires(profile: Profile) -> bool:
    """Whether the credentials of a profile have to be fetched."""
    is_role = bool(profile.get("role_arn") and profile.get("source_profile"))
    has_keys = bool(profile.get("aws_access_key_id"))
    fetched = aws_sso.has_sso(profile) or bool(profile.get("credential_process"))
    return is_role or (fetched and not has_keys)


def credentials_of_profile(
    name: str, environment: Mapping[str, str], seen: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Credentials of the profile ``name``, as AWS' tools take them.

    Raises
    ------
    UnusableCredentials
        It has none, or its source gives none.
    """
    try:
        profile = profile_of(name, environment)
    except ValueError as error:
        raise UnusableCredentials(f"is gone: {error}") from None
    source = profile.get("source_profile")
    if profile.get("role_arn") and source:
        # A profile that names itself has the keys that may assume its role.
        if source != name:
            if source in seen or len(seen) == _MOST_PROFILES:
                raise UnusableCredentials("has a chain of source_profile without an end")
            found = credentials_of_profile(source, environment, (*seen, name))
        else:
            found = _keys(profile)
        return aws_role.credentials_of_role(profile, values_of("s3", found)[0], environment)
    if profile.get("aws_access_key_id"):
        return _keys(profile)
    if aws_sso.has_sso(profile):
        return aws_sso.credentials_of_sso(profile, environment)
    if profile.get("credential_process"):
        return credentials_of_process(profile)
    raise UnusableCredentials(f"needs credentials of the profile {name!r}, which has none")


def _keys(profile: Profile) -> dict[str, Any]:
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    return {name: profile.get(name) for name in names}
