"""A server of an application in this process, and raw connections to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from zarrix.viewer._server import listen, server_of

# A bound against hanging, and no measure.
LONGEST_S = 60


class Peers:
    """Connections to one port, which are all closed at the end."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.server: Any = None
        self._writers: list[asyncio.StreamWriter] = []

    async def __call__(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, Any]:
        """A connection that has sent these bytes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._writers.append(writer)
        writer.write(sent)
        await writer.drain()
        return reader, writer

    async def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


@contextlib.asynccontextmanager
async def peers(port: int) -> AsyncIterator[Peers]:
    """Connections to a port."""
    found = Peers(port)
    try:
        yield found
    finally:
        await found.close()


@contextlib.asynccontextmanager
async def served(application: Any) -> AsyncIterator[Peers]:
    """Connections to a running server of the application."""
    with listen("127.0.0.1", 0) as opened:
        server = server_of(application)
        running = asyncio.create_task(server.serve(sockets=[opened]))
        async with peers(opened.getsockname()[1]) as found:
            found.server = server
            try:
                while not server.started:
                    await asyncio.sleep(0.001)
                yield found
            finally:
                server.should_exit = True
                await asyncio.wait_for(running, LONGEST_S)


async def rest(reader: asyncio.StreamReader) -> bytes:
    """All bytes until the server ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := await asyncio.wait_for(reader.read(65536), LONGEST_S):
            found += part
    return found


async def head(reader: asyncio.StreamReader) -> bytes:
    """The status and the headers of an answer."""
    return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LONGEST_S)


async def answered(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and octets of an answer that says its length."""
    lines = (await head(reader)).split(b"\r\n")
    status = int(lines[0].split()[1])
    pairs = dict(line.lower().split(b": ", 1) for line in lines[1:] if line)
    length = int(pairs.get(b"content-length", b"0"))
    return status, await asyncio.wait_for(reader.readexactly(length), LONGEST_S)
