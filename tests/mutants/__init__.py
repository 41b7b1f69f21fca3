"""Right kernels in many styles, and wrong ones made from them by one edit each: what the simulator is held to.

    python -m tests.mutants                       the tables: every kernel, what was found, in how many orders
    python -m tests.mutants --seeds 200 --json    the same as data
    python -m tests.mutants --table docs/mutants.md   the page of the documentation

`right` holds the kernels, `wrong` the mutants with the names under which each must be reported, `mechanical` the edits
that a machine makes at every place of a kernel, and `equivalent.toml` why some of those change nothing.
"""
