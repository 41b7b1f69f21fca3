"""One queue for a class's own notebooks: learners send them, the workers of a cluster check them one after the other.

So a class shares one GPU. A learner's computer sends a notebook's bytes by HTTP and gets the report back; nothing else
can be asked. Here those bytes are not looked at: a worker grades them in its sandbox, as any submission, and runs right
kernels on its GPU. Nothing is noted: this is for practice, not for grades.
"""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from grader.classroom.feedback import without_figures
from grader.classroom.work import Job, Outcome
from grader.limits import HostFault
from grader.sandbox.host import NoSandbox
from grader.submission import LARGEST, Unreadable, content_of
from grader.texts import text

WAITING, EACH = 64, 8  # notebooks that wait or are checked at a time, and those from one address, which a hub's share
SILENT = 60.0  # seconds that a connection may be silent while it sends
LONGEST = 3600.0  # seconds that a learner waits for an answer


class Server(ThreadingHTTPServer):
    """Answers each notebook that is posted with what `check` makes of it.

    Use it as a context and call `serve_forever`; `server_address` is where it listens.
    """

    daemon_threads = True

    def __init__(self, address: tuple[str, int], check: Callable[[Job], Outcome], seed: int = 0, live: bool = False):
        super().__init__(address, _Handler)
        self._check, self._seed, self._live = check, seed, live
        self._lock, self._here = threading.Lock(), Counter[str]()

    @contextlib.contextmanager
    def place_for(self, sender: str) -> Iterator[bool]:
        """Whether there is a place in the queue for one more notebook from an address, which is kept inside."""
        with self._lock:
            free = self._here[sender] < EACH and self._here.total() < WAITING
            self._here[sender] += free
        try:
            yield free
        finally:
            with self._lock:
                self._here[sender] -= free

    def outcome(self, content: bytes) -> tuple[int, Outcome]:
        """The status and the outcome for one notebook."""
        try:
            found = self._check(Job("notebook.ipynb", content, None, self._seed, self._live))
        except (HostFault, NoSandbox) as error:
            return 503, {"not_graded": str(error)}
        return 200, without_figures({"": found})[""]


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    timeout = SILENT
    server: Server

    def do_POST(self) -> None:
        with self.server.place_for(self.client_address[0]) as free:
            length = self.headers.get("Content-Length", "")
            if not free:
                self._answer(429, {"not_graded": text("serve.busy")})
            elif not length.isdecimal() or int(length) > LARGEST:
                self._answer(413, {"error": text("submission.too-large", limit=LARGEST >> 20)})
            else:
                self._answer(*self.server.outcome(self.rfile.read(int(length))))

    def _answer(self, status: int, outcome: Outcome) -> None:
        said = json.dumps(outcome).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *arguments: Any) -> None:
        """Nothing about learners is written down."""


def ask(address: str, content: bytes) -> Outcome:
    """What the server at http://HOST:PORT makes of a notebook. Raises HostFault where there is no such server."""
    if not address.startswith(("http://", "https://")):
        raise HostFault(text("serve.none", address=address, reason="http://HOST:PORT"))
    try:
        with urllib.request.urlopen(urllib.request.Request(address, content), timeout=LONGEST) as answer:
            outcome = json.load(answer)
    except urllib.error.HTTPError as error:
        try:
            outcome = json.load(error)
        except ValueError:
            outcome = None
    except (OSError, ValueError) as error:
        raise HostFault(text("serve.none", address=address, reason=error)) from None
    if not isinstance(outcome, dict) or not {"report", "error", "not_graded"} & set(outcome):
        raise HostFault(text("serve.none", address=address, reason=text("serve.strange")))
    return outcome


def checked_there(server: str, notebook: Path) -> dict[str, Any]:
    """The report on a notebook that a server has checked. Raises HostFault, Unreadable."""
    outcome = ask(server, content_of(notebook))
    if "not_graded" in outcome:
        raise HostFault(outcome["not_graded"])
    if "report" not in outcome:
        raise Unreadable(outcome["error"])
    return outcome["report"]
