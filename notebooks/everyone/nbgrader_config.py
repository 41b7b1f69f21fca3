"""nbgrader's settings for all accounts of a hub: copy this file to /etc/jupyter."""

c = get_config()  # noqa: F821  nbgrader hands it in

c.Execute.timeout = 300  # seconds that a cell may take when a student validates: many kernels share the computer
c.Execute.iopub_timeout = 60
