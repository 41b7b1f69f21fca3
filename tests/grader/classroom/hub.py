"""A JupyterHub of the test's own: its proxy from npm, a dummy authenticator, a process for each user.

Each user's server runs in a mount namespace in which /etc/passwd gives the account that user's name: nbgrader asks the
system who someone is, and the test has no business making accounts.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from tmalab.bootstrap import ROOT

COMMANDS = (  # as the instructor's guide has them
    "cd tmalab-course && npm install --prefix . configurable-http-proxy@5",
    "mkdir -p ~/.jupyter && ln -s ~/tmalab-course/nbgrader_config.py ~/.jupyter/nbgrader_config.py",
    "jupyterhub -f jupyterhub_config.py",
)
TOKEN = "of-the-test"  # it opens nothing but this hub
PASSWORD = "dummy"
START = 300  # seconds

SETTINGS = """
import os
from pathlib import Path

here = Path(os.environ["HUB_FOLDER"])
load_subconfig(os.environ["HUB_COURSE_SETTINGS"])
c.Authenticator.allowed_users = set(os.environ["HUB_USERS"].split())
instructors, students = os.environ["HUB_USERS"].split()[:1], os.environ["HUB_USERS"].split()[1:]
c.JupyterHub.load_groups = {"formgrade-tmalab": {"users": instructors}, "nbgrader-tmalab": {"users": students}}
c.JupyterHub.authenticator_class, c.DummyAuthenticator.password = "dummy", os.environ["HUB_PASSWORD"]
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(here / "home" / "{username}")
c.Spawner.cmd = [str(here / "as-user")]
c.Spawner.args = ["--allow-root"] if os.geteuid() == 0 else []
c.Spawner.http_timeout = c.Spawner.start_timeout = 300
c.Spawner.environment["JUPYTER_CONFIG_PATH"] = str(here / "etc")
c.JupyterHub.bind_url = os.environ["HUB_ADDRESS"]
c.JupyterHub.hub_bind_url = os.environ["HUB_INSIDE"]
c.ConfigurableHTTPProxy.api_url = os.environ["HUB_PROXY_API"]
c.ConfigurableHTTPProxy.should_start = False  # the test does: a hub waits ten seconds at most
c.JupyterHub.db_url = f"sqlite:///{here / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(here / "cookie-secret")
c.JupyterHub.services = [{"name": "test", "api_token": os.environ["HUB_TOKEN"]}]
c.JupyterHub.load_roles = [
    {"name": "test", "services": ["test"], "scopes": ["read:hub", "servers", "access:servers"]}
]
"""

EXCHANGE = """
c.Exchange.root = "{folder}/exchange"
c.ExchangeCollect.check_owner = False  # one account of the system stands for all users
"""

AS_USER = """#!/bin/sh
# a server whose user has the account's name
exec unshare {root} --mount sh -c 'mount --bind "$0" /etc/passwd && exec "$@"' \\
    "{folder}/passwd/$JUPYTERHUB_USER" {python} -m jupyterhub.singleuser "$@"
"""


def set_up(home: Path) -> None:
    """What the guide has an instructor do in their home before the hub is started."""
    assert shutil.which("npm"), "a hub's proxy comes from npm: apt install nodejs npm"
    for line in COMMANDS[:-1]:
        environment = os.environ | {"HOME": str(home), "npm_config_fund": "false", "npm_config_audit": "false"}
        subprocess.run(["bash", "-ec", line], cwd=home, env=environment, check=True, capture_output=True, timeout=300)


class Hub:
    """A hub with an instructor and students; use it as a context. `home(name)` is a user's folder."""

    def __init__(self, folder: Path, course: Path, instructor: str, students: list[str]):
        self.folder, self.users = folder, [instructor, *students]
        set_up(course.parent)
        for name in ("passwd", "etc"):
            (folder / name).mkdir()
        for user in self.users:
            self.home(user).mkdir(parents=True, exist_ok=True)
            (folder / "passwd" / user).write_text(_passwd(user, self.home(user)), "utf-8")
        (folder / "exchange").mkdir()
        (folder / "exchange").chmod(0o777)
        settings = (course / "everyone" / "nbgrader_config.py").read_text("utf-8")
        (folder / "etc" / "nbgrader_config.py").write_text(settings + EXCHANGE.format(folder=folder), "utf-8")
        root = "" if os.geteuid() == 0 else "--map-root-user"
        (folder / "as-user").write_text(AS_USER.format(root=root, folder=folder, python=sys.executable), "utf-8")
        (folder / "as-user").chmod(0o755)
        (folder / "hub_config.py").write_text(SETTINGS, "utf-8")
        self.address, inside, proxy_api = (f"http://127.0.0.1:{port}" for port in _free_ports(3))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        self.environment = kept | {
            "HUB_FOLDER": str(folder),
            "HUB_COURSE_SETTINGS": str(course / "jupyterhub_config.py"),
            "HUB_USERS": " ".join(self.users),
            "HUB_PASSWORD": PASSWORD,
            "HUB_ADDRESS": self.address,
            "HUB_INSIDE": inside,
            "HUB_PROXY_API": proxy_api,
            "HUB_TOKEN": TOKEN,
            "CONFIGPROXY_AUTH_TOKEN": TOKEN,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]]),
        }

    def __enter__(self) -> Hub:
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"token {TOKEN}"
        self._start()
        try:
            self._wait(lambda: self.session.get(f"{self.address}/hub/api/info").ok)
            for user in self.users:
                self.ask("POST", f"/hub/api/users/{user}/server")
                self._wait(lambda user=user: self.session.get(f"{self.address}/user/{user}/api/status").ok)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """End the servers, the hub and the proxy."""
        for user in self.users:
            with contextlib.suppress(requests.RequestException):
                self.session.delete(f"{self.address}/hub/api/users/{user}/server", timeout=60)
        for process in (self.process, self.proxy):
            process.send_signal(signal.SIGTERM)
        for process in (self.process, self.proxy):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()

    def _start(self) -> None:
        """The proxy, then the hub."""
        outside, inside, api = (
            urlsplit(self.environment[f"HUB_{name}"]) for name in ("ADDRESS", "INSIDE", "PROXY_API")
        )
        proxy = [self.home(self.users[0]) / "tmalab-course" / "node_modules" / ".bin" / "configurable-http-proxy"]
        proxy += [
            "--ip",
            outside.hostname,
            "--port",
            str(outside.port),
            "--error-target",
            f"{inside.geturl()}/hub/error",
        ]
        proxy += ["--api-ip", api.hostname, "--api-port", str(api.port)]
        hub = shlex.split(COMMANDS[-1].replace("jupyterhub_config.py", str(self.folder / "hub_config.py")))
        with open(self.folder / "hub.log", "ab") as log:
            self.proxy, self.process = (
                subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=subprocess.STDOUT)
                for command in (proxy, hub)
            )

    def home(self, user: str) -> Path:
        return self.folder / "home" / user

    def ask(self, method: str, path: str, **request: Any) -> Any:
        """What the hub, or a user's server, answers; fails with what it says where that is no success."""
        answer = self.session.request(method, self.address + path, timeout=300, **request)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:2000]}\n{self.said()}"
        return json.loads(answer.text or "null")

    def said(self) -> str:
        """The end of the log of the hub, its proxy and its servers."""
        return (self.folder / "hub.log").read_text("utf-8", "replace")[-4000:]

    def _wait(self, ready: Any) -> None:
        end = time.monotonic() + START
        while True:
            assert self.process.poll() is None, self.said()
            try:
                if ready():
                    return
            except requests.ConnectionError:
                pass
            assert time.monotonic() < end, self.said()
            time.sleep(0.3)


def _passwd(user: str, home: Path) -> str:
    """The system's accounts, with this process's own one renamed."""
    own = pwd.getpwuid(os.getuid())
    others = [
        line for line in Path("/etc/passwd").read_text("utf-8").splitlines() if line.split(":")[2] != str(own.pw_uid)
    ]
    shell = shutil.which("sh") or "/bin/sh"
    uid, gid = (own.pw_uid, own.pw_gid) if own.pw_uid == 0 else (0, 0)  # in the server's namespace
    others = [line for line in others if line.split(":")[2] != str(uid)]
    return "\n".join([f"{user}:x:{uid}:{gid}:{user}:{home}:{shell}", *others]) + "\n"


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
