"""moto with one request at a time: it looks at a condition and then puts, and two may look at once.

Usage: python moto_in_turn.py PORT
"""

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple


class InTurn:
    """A WSGI application that is asked by one thread at a time."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application
        self.turn = threading.Lock()

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        with self.turn:
            return self.application(environ, start_response)


class AtOnce(MotoRequestHandler):
    """The body does not wait 40 ms for the client's word that it has the head."""

    disable_nagle_algorithm = True


if __name__ == "__main__":
    run_simple(
        "127.0.0.1",
        int(sys.argv[1]),
        InTurn(DomainDispatcherApplication(create_backend_app)),
        threaded=True,
        request_handler=AtOnce,
    )
