"""A small server that speaks enough of S3, keeps versions of objects, and lies as it is told.

`VersionedServer.lie` says how it lies about versions; all else goes wrong as `FaultyServer` says.
"""

from __future__ import annotations

import itertools
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from servers.faulty import FaultyServer, _Handler

PAGE = 1000


@dataclass
class VersionedServer(FaultyServer):
    """What is stored, every version of it, and the settings of the bucket."""

    status: str = "Enabled"
    rules: str = ""
    history: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    lie: str = ""
    page: int = PAGE

    def handler(self) -> type[_Handler]:
        return _VersionedHandler

    def lose(self, key: str, number: int = 0) -> None:
        """Delete a version of a value for good."""
        del self.history[key][number]


_numbers = itertools.count(1)


class _VersionedHandler(_Handler):
    faulty: VersionedServer

    def _source(self, key: str, version: str) -> bytes | None:
        if not version or self.faulty.lie == "the latest for every version":
            return super()._source(key, version)
        return dict(self.faulty.history.get(key, [])).get(version)

    def _kept(self, key: str, body: bytes) -> None:
        # As S3, a bucket that is suspended replaces the version "null".
        kept = self.faulty.history.setdefault(key, [])
        name = f"v{next(_numbers)}"
        if self.faulty.status != "Enabled":
            kept[:] = [one for one in kept if one[0] != "null"]
            name = "null"
        kept.append((name, body))

    def _query(self) -> dict[str, str]:
        query = urllib.parse.urlsplit(self.path).query
        return dict(urllib.parse.parse_qsl(query, keep_blank_values=True))

    def _stored(self, key: str) -> tuple[bytes, dict[str, str]] | None:
        version = self._query().get("versionId")
        if version is None or self.faulty.lie == "the latest for every version":
            return self.faulty.values.get(key)
        found = dict(self.faulty.history.get(key, [])).get(version)
        if found is not None and self.faulty.lie == "another value for a version":
            found = b"x" * len(found)
        return None if found is None else (found, {})

    def _get(self, key: str) -> None:
        query = self._query()
        if key or self.command != "GET":
            return super()._get(key)
        if "versioning" in query:
            body = f"<VersioningConfiguration><Status>{self.faulty.status}</Status>"
            return self._send(200, f"{body}</VersioningConfiguration>".encode())
        if "lifecycle" in query:
            if not self.faulty.rules:
                return self._error(404, "NoSuchLifecycleConfiguration")
            if self.faulty.rules == "denied":
                return self._error(403, "AccessDenied")
            return self._send(200, self.faulty.rules.encode())
        return self._versions(query)

    def _versions(self, query: dict[str, str]) -> None:
        lie, prefix = self.faulty.lie, query.get("prefix", "")
        rows: list[tuple[str, str, bytes | None, bool]] = []
        for key in sorted(self.faulty.history):
            if key.startswith(prefix):
                kept = self.faulty.history[key]
                is_there = key in self.faulty.values
                if not is_there:
                    rows.append((key, "marker", None, True))
                for number, (name, value) in enumerate(reversed(kept)):
                    rows.append((key, name, value, is_there and number == 0))
        marker = (query.get("key-marker", ""), query.get("version-id-marker", ""))
        start = 0
        if marker[0]:
            after = [i for i, row in enumerate(rows) if row[:2] == marker]
            start = after[0] + 1 if after else 0
        if lie == "the first page again":
            start = 0
        page = rows[start : start + self.faulty.page]
        is_truncated = start + len(page) < len(rows) and lie != "an early end"
        if lie == "out of order":
            page.reverse()
        if lie == "keys of others":
            page.append(("another/key", "v0", b"1", True))
        if lie == "the first page again" or lie == "a listing without end":
            is_truncated = True
        next_key, next_version = page[-1][:2] if page else ("", "")
        if lie == "a listing without end" and not page:
            next_key, next_version = marker
        more = (
            f"<NextKeyMarker>{next_key}</NextKeyMarker>"
            f"<NextVersionIdMarker>{next_version}</NextVersionIdMarker>"
        )
        body = "".join(self._row(*row) for row in page)
        told = f"<IsTruncated>{str(is_truncated).lower()}</IsTruncated>{more * is_truncated}{body}"
        text = f"<ListVersionsResult>{told}</ListVersionsResult>"
        if lie == "an error with status 200":
            text = "<Error><Code>InternalError</Code><Message>as told</Message></Error>"
        if lie == "half an answer":
            text = text[: len(text) // 2]
        self._send(200, text.encode())

    def _row(self, key: str, name: str, value: bytes | None, is_latest: bool) -> str:
        told = f"<Key>{key}</Key><VersionId>{name}</VersionId>"
        told += f"<IsLatest>{str(is_latest).lower()}</IsLatest>"
        if value is None:
            return f"<DeleteMarker>{told}</DeleteMarker>"
        tag: Any = self._etag(value).replace('"', "&quot;")
        return f"<Version>{told}<ETag>{tag}</ETag><Size>{len(value)}</Size></Version>"
