"""``zarrix view``: arrays in the browser."""

from __future__ import annotations

import argparse
import contextlib
import os
import webbrowser

from zarrix.cli._common import PATH, add_common, size, whole
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix view data.zarr",
    "zarrix view data.zarr/rgb x.npy --no-browser",
    "zarrix view data.zarr/rgb --export page.html",
)
DESCRIPTION = (
    "Show arrays in the browser, as they are stored, until Ctrl-C. Nothing leaves this machine,\n"
    "nothing is changed, and only the printed address can see it."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("paths", nargs="+", metavar="path", help=PATH)
    parser.add_argument(
        "--port",
        type=whole(0, 65535),
        default=0,
        metavar="N",
        help="the port (default: a free one)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address; open no browser"
    )
    parser.add_argument(
        "--export", metavar="FILE",
        help="write one HTML file that needs no server, with the arrays that fit; open no browser",
    )  # fmt: skip
    parser.add_argument(
        "--export-bytes", type=size, default=None, metavar="SIZE",
        help="decoded bytes of the arrays in that file (default 16 MiB)",
    )  # fmt: skip
    network = parser.add_argument_group("network")
    network.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="the address to listen on (default 127.0.0.1: this machine alone)",
    )  # fmt: skip
    network.add_argument(
        "--allow-network",
        action="store_true",
        help="needed for another --host: anyone with the printed address can read the data",
    )
    network.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="also answer requests to this name, of a proxy in front; may be repeated",
    )  # fmt: skip
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Run the viewer until Ctrl-C."""
    # Import time: --help does not need it.
    from zarrix.cli._serving import lacks_packages, require_loopback

    code = lacks_packages("the viewer")
    if code:
        return code
    # Import time: --help does not need them.
    from zarrix.cli._opened import opened_roots
    from zarrix.viewer._app import application
    from zarrix.viewer._browser import has_browser, redirect_file, tunnel
    from zarrix.viewer._guard import Guard, new_token
    from zarrix.viewer._server import LOOPBACK, hosts_of, leave_if_stuck, listen, server_of

    if arguments.export is not None:
        return _export(arguments, ui)
    require_loopback(arguments)
    roots = opened_roots(arguments.paths, dict(arguments.storage_option))
    token = new_token()
    with contextlib.closing(listen(arguments.host, arguments.port)) as opened:
        port = opened.getsockname()[1]
        hosts = hosts_of(arguments.host, port, tuple(arguments.allow_host))
        page = application(roots, Guard(token, hosts), token)
        server = server_of(page)
        shown = "127.0.0.1" if arguments.host in (*LOOPBACK, "0.0.0.0", "::") else arguments.host
        address = f"http://{shown}:{port}/#token={token}"
        if ui.json:
            ui.document({"address": address, "port": port})
        else:
            ui.say(address)
        over_ssh = bool(os.environ.get("SSH_CONNECTION"))
        if arguments.no_browser or over_ssh:
            ui.note(f"from another machine: {tunnel(port)}")
        ui.note("Ctrl-C ends it")
        with contextlib.ExitStack() as stack:
            if not (arguments.no_browser or over_ssh) and has_browser():
                file = stack.enter_context(redirect_file(address))
                webbrowser.open(file.as_uri())
            server.run(sockets=[opened])
    leave_if_stuck(page)
    return 0


def _export(arguments: argparse.Namespace, ui: Ui) -> int:
    """Write the page, and say what it has and what it lacks."""
    # Import time: --help does not need them.
    from zarrix._runtime.new_files import whole_file
    from zarrix.cli._opened import opened_roots
    from zarrix.viewer._page import MOST_BYTES, page_of
    from zarrix.viewer._roots import Roots

    roots = Roots(opened_roots(arguments.paths, dict(arguments.storage_option)))
    page = page_of(roots, arguments.export_bytes or MOST_BYTES)
    with whole_file(arguments.export) as file:
        file.write(page.html.encode())
    if ui.json:
        ui.document({"file": arguments.export, "arrays": page.arrays, "left_out": page.left_out})
        return 0
    ui.say(f"{arguments.export}: {len(page.arrays)} arrays, {len(page.html):,} characters")
    for path in page.left_out:
        ui.note(f"left out: {path}")
    return 0
