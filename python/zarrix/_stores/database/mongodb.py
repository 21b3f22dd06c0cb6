"""Values in MongoDB, in the documents of zarr 2.18: each library reads the values of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zarrix._stores.database.server import DatabaseServerStore

__all__ = ["MongoDBStore"]

# The limit of 16 MiB is for the document with its key.
_MOST_BYTES = (16 << 20) - (16 << 10)


class MongoDBStore(DatabaseServerStore):
    """Keys as documents of a collection of MongoDB.

    A value is replaced atomically, and has at most 16 MB, the limit of a MongoDB document.
    Processes of one user on one machine that write parts of one chunk lose no update; among several
    machines the last writer wins.

    Parameters
    ----------
    database, collection : str
        Both are created by the first write.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    **kwargs
        For ``pymongo.MongoClient``; passwords among them are never shown or pickled.

    Raises
    ------
    ImportError
        pymongo is not installed.
    pymongo.errors.PyMongoError
        On access, if the server does not answer or returns an error.

    Examples
    --------
    The server is contacted when a key is first read or written.

    >>> import zarrix as zarr
    >>> zarr.MongoDBStore("climate", "surface", host="localhost", port=27017)
    <zarrix.storage.MongoDBStore 'climate/surface'>
    """

    _package, _client, _extra = "pymongo", "MongoClient", "mongodb"

    def __init__(
        self,
        database: str = "mongodb_zarr",
        collection: str = "zarr_collection",
        dimension_separator: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._names = (database, collection)
        super().__init__(f"{database}/{collection}", kwargs, dimension_separator)

    def _documents(self, client: Any) -> Any:
        database, collection = self._names
        return client.get_database(database).get_collection(collection)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        query = {"key": {"$in": [*keys]}}
        found = self._with_handle(lambda client: [*self._documents(client).find(query)])
        values = {one["key"]: bytes(one["value"]) for one in found}
        return [values.get(key) for key in keys]

    def _read(self, key: str) -> bytes | None:
        found = self._with_handle(lambda client: self._documents(client).find_one({"key": key}))
        return None if found is None else bytes(found["value"])

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        if len(value) > _MOST_BYTES:
            raise ValueError(
                f"{key!r} has {len(value)} bytes, and a document of MongoDB at most {_MOST_BYTES}: "
                "make the chunks smaller"
            )
        query, document = {"key": key}, {"key": key, "value": value}
        self._with_handle(
            lambda client: self._documents(client).replace_one(query, document, upsert=True)
        )

    def _drop(self, key: str, fsync: bool) -> bool:
        query = {"key": key}
        deleted = self._with_handle(lambda client: self._documents(client).delete_many(query))
        return bool(deleted.deleted_count)

    def _list(self, prefix: str) -> list[str]:
        # "0" is the character after "/".
        below = {"key": {"$gte": f"{prefix}/", "$lt": f"{prefix}0"}} if prefix else {}
        found = self._with_handle(lambda client: [*self._documents(client).find(below, {"key": 1})])
        return [one["key"] for one in found]


MongoDBStore.__module__ = "zarrix.storage"
