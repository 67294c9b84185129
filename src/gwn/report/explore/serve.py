"""A folder served to this machine alone."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from gwn.errors import GWNError

LOOPBACK = "127.0.0.1"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a terminal is no place for a browser's requests."""


def loopback_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server on the loopback address; port 0 takes any that is free."""
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise GWNError(f"cannot serve on port {port} ({error}); choose another with --port") from None


def address(server: ThreadingHTTPServer) -> str:
    return f"http://{LOOPBACK}:{server.server_address[1]}/"
