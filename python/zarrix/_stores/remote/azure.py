"""Options of Azure Blob Storage: those of adlfs, and Azure's environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._stores.redaction import public_url
from zarrix._stores.remote import providers
from zarrix._stores.remote.options import Address, Options, split, text

__all__ = ["address"]

_ONLY_FSSPEC = (
    "location_mode",
    "request_session",
    "socket_timeout",
    "version_aware",
    "assume_container_exists",
)

_VARIABLES = {
    "account_name": "AZURE_STORAGE_ACCOUNT_NAME",
    "account_key": "AZURE_STORAGE_ACCOUNT_KEY",
    "connection_string": "AZURE_STORAGE_CONNECTION_STRING",
    "sas_token": "AZURE_STORAGE_SAS_TOKEN",
    "client_id": "AZURE_STORAGE_CLIENT_ID",
    "client_secret": "AZURE_STORAGE_CLIENT_SECRET",
    "tenant_id": "AZURE_STORAGE_TENANT_ID",
}
# Those of the environment have no effect beside a function.
_SIGNING = ("account_key", "sas_token", "client_id", "client_secret", "tenant_id")
# The names of options in a connection string.
_CONNECTION = {
    "AccountName": "account_name",
    "AccountKey": "account_key",
    "SharedAccessSignature": "sas_token",
    "BlobEndpoint": "azure_endpoint",
}


def address(url: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> Address:
    """The location of ``url``, and the options that open it."""
    host, prefix = split(url, names_account=True)
    # abfs://container@account.dfs.core.windows.net/path
    container, at, account = host.partition("@")
    options = Options(given)
    provider = providers.taken(options, "az")
    found = _of_names(options, environment)
    if at:
        found["account_name"] = account.partition(".")[0]
    credential = options.take("credential")
    if credential is not None and provider is None:
        provider = providers.of_object("az", credential)
    if isinstance(credential, str):
        found["sas_token" if "sig=" in credential else "account_key"] = credential
    anon = options.take("anon")
    secret = found["account_key"] or found["sas_token"] or found["client_secret"]
    if provider is not None:
        found |= dict.fromkeys(_SIGNING)
    elif anon or (anon is None and not secret and not found["client_id"]):
        found["skip_signature"] = True
    found |= _connection(options, found)
    options.finish(_ONLY_FSSPEC)
    native = {name: text(value) for name, value in found.items() if value is not None}
    if native.get("sas_token", "").startswith("?"):
        native["sas_token"] = native["sas_token"][1:]
    if "account_name" not in native:
        raise ValueError(
            f"{public_url(url)!r} names no storage account; pass account_name= in storage_options "
            "or set AZURE_STORAGE_ACCOUNT_NAME"
        )
    shown = f"az://{container}/{prefix}" if prefix else f"az://{container}"
    has_credentials = provider is not None or bool(secret or anon)
    return Address("az", container, prefix, shown, native, has_credentials, provider)


def _of_names(options: Options, environment: Mapping[str, str]) -> dict[str, Any]:
    """The options that also have a variable or are in a connection string."""
    taken = {name: options.take(name) for name in _VARIABLES}
    found: dict[str, Any] = {
        name: value or environment.get(_VARIABLES[name]) for name, value in taken.items()
    }
    found["account_name"] = found["account_name"] or environment.get("AZURE_STORAGE_ACCOUNT")
    connection = found.pop("connection_string") or ""
    for part in filter(None, connection.split(";")):
        name, _, value = part.partition("=")
        if name in _CONNECTION:
            found[_CONNECTION[name]] = value
    return found


def _connection(options: Options, named: Mapping[str, Any]) -> dict[str, Any]:
    """The server, and how long requests are retried."""
    endpoint = options.take("account_host", "endpoint_url") or named.get("azure_endpoint")
    if endpoint and "://" not in endpoint:
        endpoint = f"https://{endpoint}"
    return {
        "azure_endpoint": endpoint,
        "allow_http": str(endpoint).startswith("http://"),
        "timeout": options.take("timeout"),
        "max_retries": options.take("retries", "max_retries"),
    }
