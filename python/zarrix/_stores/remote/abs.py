"""Azure Blob Storage under the constructor of zarr 2.18: a `RemoteStore`."""

from __future__ import annotations

from typing import Any

from zarrix._stores.path import normalize_dimension_separator, normalize_storage_path
from zarrix._stores.remote.store import RemoteStore

__all__ = ["ABSStore"]


class ABSStore(RemoteStore):
    """Keys in a container of Azure Blob Storage, served by the engine.

    It has the guarantees of a `RemoteStore`: concurrent writers lose no update, and credentials are
    never shown or pickled.

    Parameters
    ----------
    container : str, optional
        Name of the container; that of ``client`` when omitted.
    prefix : str
        The directory in the container.
    account_name, account_key : str, optional
        Those of the environment when omitted.
    blob_service_kwargs : mapping, optional
        ``credential`` and ``account_url`` have an effect.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    client : azure.storage.blob.ContainerClient, optional
        A client with the URL of the container and the credentials: a key, a signature, or none.

    Raises
    ------
    ValueError
        The container has no name, or ``client`` has a credential of another kind.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.ABSStore("container", "data.zarr", account_name="weather")
    <zarrix.storage.ABSStore 'az://container/data.zarr'>
    """

    def __init__(
        self,
        container: str | None = None,
        prefix: str = "",
        account_name: str | None = None,
        account_key: str | None = None,
        blob_service_kwargs: dict[str, Any] | None = None,
        dimension_separator: str | None = None,
        client: Any = None,
    ) -> None:
        more = blob_service_kwargs or {}
        options: dict[str, Any] = {
            "account_name": account_name,
            "account_key": account_key,
            "credential": more.get("credential"),
            "endpoint_url": more.get("account_url"),
        }
        if client is not None:
            container = client.container_name
            options |= _of_client(client)
        if not container:
            raise ValueError("ABSStore needs the name of a container, or client=")
        self.client = None
        self.prefix = normalize_storage_path(prefix)
        self.container = container
        given = {name: value for name, value in options.items() if value is not None}
        super().__init__(f"az://{container}/{self.prefix}".rstrip("/"), given)
        self._dimension_separator = normalize_dimension_separator(dimension_separator)


def _of_client(client: Any) -> dict[str, Any]:
    """The storage options of a client of Azure's package."""
    address, _, query = client.url.partition("?")
    found: dict[str, Any] = {
        "account_name": client.account_name,
        "endpoint_url": address.removesuffix(f"/{client.container_name}"),
    }
    if "sig=" in query:
        found["sas_token"] = query
    elif client.credential is None:
        found["anon"] = True
    elif isinstance(getattr(client.credential, "account_key", None), str):
        found["account_key"] = client.credential.account_key
    else:
        kind = type(client.credential).__name__
        raise ValueError(
            f"a client with a {kind} is not understood: pass a URL 'az://container/path' with "
            "client_id=, client_secret= and tenant_id= in storage_options"
        )
    return found


ABSStore.__module__ = "zarrix.storage"
