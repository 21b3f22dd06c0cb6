"""``zarrix serve``: the stored keys over HTTP, for other viewers."""

from __future__ import annotations

import argparse
import contextlib

from zarrix.cli._common import PATH, add_common, options_of, whole
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix serve data.zarr",)
DESCRIPTION = (
    "Serve the stored keys of an array or a group over HTTP, with ranges and CORS, until Ctrl-C,\n"
    "and print links of web viewers that read them. Served are metadata documents and chunks, and\n"
    "no other file. Only this machine can ask, and of the pages that its browser opens only those\n"
    "viewers; --cors names other sites."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "--port", type=whole(0, 65535), default=0, metavar="N",
        help="the port (default: a free one)",
    )  # fmt: skip
    parser.add_argument(
        "--cors", action="append", default=[], metavar="ORIGIN",
        help="a site whose pages may read, such as https://neuroglancer-demo.appspot.com, or * for "
        "all; may be repeated (default: those of the printed links)",
    )  # fmt: skip
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="the address to listen on (default 127.0.0.1: this machine alone)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-network",
        action="store_true",
        help="needed for another --host: every machine that reaches it can read the data",
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Serve until Ctrl-C."""
    # Import time: --help does not need it.
    from zarrix.cli._serving import lacks_packages, require_loopback

    code = lacks_packages("serving")
    if code:
        return code
    # Import time: --help does not need them.
    from zarrix.cli._path import open_path
    from zarrix.viewer._serve import LINKED, key_application, links
    from zarrix.viewer._server import LOOPBACK, hosts_of, leave_if_stuck, listen, server_of

    require_loopback(arguments)
    node = open_path(arguments.path, options_of(arguments, arguments.path))
    with contextlib.closing(listen(arguments.host, arguments.port)) as opened:
        port = opened.getsockname()[1]
        hosts = hosts_of(arguments.host, port)
        origins = arguments.cors or list(LINKED.values())
        application = key_application(node, hosts, origins)
        server = server_of(application)
        shown = "localhost" if arguments.host in (*LOOPBACK, "0.0.0.0", "::") else arguments.host
        address = f"http://{shown}:{port}"
        found = links(address, node, origins)
        if ui.json:
            ui.document({"address": address, "port": port, "links": found})
        else:
            ui.say(address)
            for name, link in found.items():
                ui.say(f"{name:<15} {link}")
        ui.note("Safari refuses pages that read from this machine; Ctrl-C ends it")
        server.run(sockets=[opened])
    leave_if_stuck(application)
    return 0
