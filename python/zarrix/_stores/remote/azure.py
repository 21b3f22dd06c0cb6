"""Options of Azure Blob Storage: those of adlfs, and Azure's environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._stores.redaction import public_url
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
    if at:
        found["account_name"] = account.partition(".")[0]
    credential = options.take("credential")
    if isinstance(credential, str):
        found["sas_token" if "sig=" in credential else "account_key"] = credential
    anon = options.take("anon")
    secret = found["account_key"] or found["sas_token"] or found["client_secret"]
    if anon or (anon is None and not secret and not found["client_id"]):
        found["skip_signature"] = True
    endpoint = options.take("account_host", "endpoint_url")
    if endpoint:
        found["azure_endpoint"] = endpoint if "://" in endpoint else f"https://{endpoint}"
    found["allow_http"] = str(found.get("azure_endpoint", "")).startswith("http://")
    found["timeout"] = options.take("timeout")
    found["max_retries"] = options.take("retries", "max_retries")
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
    return Address("az", container, prefix, shown, native, has_credentials=bool(secret or anon))
