"""JupyterHub for this course on one computer: accounts of the system, formgrader for who is in formgrade-tmalab.

    npm install --prefix . configurable-http-proxy@5
    jupyterhub -f jupyterhub_config.py
"""

from pathlib import Path

c = get_config()  # noqa: F821  JupyterHub hands it in

HERE = Path(__file__).resolve().parent
INSTRUCTORS = ["instructor"]
STUDENTS = []  # as the system names them; who is in neither list can't log in
SEED = "0"  # the class's: with another one than 0 it gets questions and inputs of its own

c.Authenticator.allowed_users = {*INSTRUCTORS, *STUDENTS}
c.JupyterHub.load_groups = {
    "formgrade-tmalab": {"users": INSTRUCTORS},
    "nbgrader-tmalab": {"users": STUDENTS},
}

c.ConfigurableHTTPProxy.command = [str(HERE / "node_modules" / ".bin" / "configurable-http-proxy")]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {"TMALAB_CLASS_SEED": SEED}
