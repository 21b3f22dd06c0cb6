"""Options of S3: those of s3fs, and AWS' environment and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._stores.redaction import public_url
from zarrix._stores.remote import providers
from zarrix._stores.remote.options import Address, Options, split, text
from zarrix._stores.remote.provided import Provider
from zarrix._stores.remote.sources.aws_files import Profile, profile_of
from zarrix._stores.remote.sources.aws_profile import expires

__all__ = ["address"]

_ONLY_FSSPEC = ("session", "version_aware", "s3_additional_kwargs")

# Environment variables of AWS that are options of the engine, in lower case.
_ENVIRONMENT = (
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ENDPOINT_URL_STS",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
)


def address(url: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> Address:
    """The location of ``url``, and the options that open it."""
    bucket, prefix = split(url)
    options = Options({**_of_fsspec(environment), **given})
    client, config = options.inner("client_kwargs"), options.inner("config_kwargs")
    found, provider, profile = _found_credentials(options, client, environment)
    has_credentials = provider is not None or any(found.values())
    if not has_credentials and environment.get("AWS_EC2_METADATA_DISABLED") == "true":
        raise PermissionError(
            f"no credentials for {public_url(url)}: pass key= and secret=, or anon=True for public "
            "data, in storage_options, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    found["aws_region"] = (
        options.take("region", "region_name")
        or client.take("region_name")
        or environment.get("AWS_REGION")
        or environment.get("AWS_DEFAULT_REGION")
        or profile.get("region")
    )
    endpoint = (
        options.take("endpoint_url")
        or client.take("endpoint_url")
        or environment.get("AWS_ENDPOINT_URL_S3")
        or environment.get("AWS_ENDPOINT_URL")
        or profile.get("endpoint_url")
    )
    secure = options.take("use_ssl") is not False
    found |= _endpoint(endpoint, bucket, config.inner("s3").take("addressing_style"), secure)
    if client.take("verify") is False:
        found["allow_invalid_certificates"] = True
    if options.take("requester_pays"):
        found["aws_request_payer"] = True
    found |= {
        "timeout": options.take("timeout"),
        "max_retries": options.take("retries", "max_retries"),
        **(options.take("config") or {}),
    }
    _finish(options, client, config)
    native = {name: text(value) for name, value in found.items() if value is not None}
    shown = f"s3://{bucket}/{prefix}" if prefix else f"s3://{bucket}"
    return Address("s3", bucket, prefix, shown, native, has_credentials, provider)


def _finish(options: Options, client: Options, config: Options) -> None:
    """Refuse what is left of the options, besides settings of botocore that have no effect here."""
    client.take("use_ssl")
    for name in ("signature_version", "max_pool_connections", "connect_timeout", "read_timeout"):
        config.take(name)
    client.finish(("verify", "config", "api_version"), "client_kwargs ")
    config.finish(("retries", "proxies", "client_cert", "tcp_keepalive"), "config_kwargs ")
    options.finish(_ONLY_FSSPEC)


def _found_credentials(
    options: Options, client: Options, environment: Mapping[str, str]
) -> tuple[dict[str, Any], Provider | None, Profile]:
    """The credentials of the first source that has any (options, environment, profile) or the
    provider that fetches them; and the profile.
    """
    provider = providers.taken(options, "s3")
    profile = profile_of(options.take("profile") or client.take("profile_name"), environment)
    if provider is None:
        static = _static_credentials(options, client, profile, environment)
        if static is not None:
            return static, None, profile
        provider = providers.of_profile(profile, environment)
    return {}, provider, profile


def _static_credentials(
    options: Options, client: Options, profile: Profile, environment: Mapping[str, str]
) -> dict[str, Any] | None:
    """None if the credentials are those of the profile and have to be fetched."""
    key = options.take("key", "username") or client.take("aws_access_key_id")
    secret = options.take("secret", "password") or client.take("aws_secret_access_key")
    token = options.take("token") or client.take("aws_session_token")
    if options.take("anon"):
        return {"skip_signature": True}
    if key or secret:
        return _credentials(key, secret, token)
    if environment.get("AWS_ACCESS_KEY_ID") and not profile.is_named:
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        return _credentials(*(environment.get(name) for name in names))
    if expires(profile):
        return None
    if profile.get("aws_access_key_id"):
        names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        return _credentials(*(profile.get(name) for name in names))
    if profile.get("role_arn") and profile.get("web_identity_token_file"):
        names = ("role_arn", "web_identity_token_file", "role_session_name")
        return {f"aws_{name}": profile.get(name) for name in names}
    return {name.lower(): environment.get(name) for name in _ENVIRONMENT}


def _endpoint(endpoint: str | None, bucket: str, style: Any, secure: bool) -> dict[str, Any]:
    """The options for a server that is not AWS', and for buckets in host names."""
    is_virtual = style == "virtual"
    found: dict[str, Any] = {"virtual_hosted_style_request": True} if is_virtual else {}
    if not endpoint:
        return found
    if is_virtual:
        scheme, _, host = endpoint.partition("://")
        endpoint = f"{scheme}://{bucket}.{host}"
    if "://" not in endpoint:
        endpoint = f"{'https' if secure else 'http'}://{endpoint}"
    return {**found, "aws_endpoint": endpoint, "allow_http": endpoint.startswith("http://")}


def _credentials(key: Any, secret: Any, token: Any) -> dict[str, Any]:
    if not key or not secret:
        raise ValueError("S3 credentials are a key and a secret; only one of them is given")
    return {
        "aws_access_key_id": key,
        "aws_secret_access_key": secret,
        "aws_session_token": token or None,
    }


def _of_fsspec(environment: Mapping[str, str]) -> dict[str, Any]:
    """The options that fsspec takes from variables such as FSSPEC_S3_ENDPOINT_URL."""
    start, words = "FSSPEC_S3_", {"true": True, "false": False}
    named = {name: value for name, value in environment.items() if name.startswith(start)}
    return {name[len(start) :].lower(): words.get(v.lower(), v) for name, v in named.items()}
