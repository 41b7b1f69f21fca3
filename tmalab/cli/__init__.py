"""The command `tmalab`: what it is called with, what it prints, how it exits. The work is done elsewhere.

Every `--json` prints one JSON object on stdout, and nothing else goes there. Each module here holds the commands of one
kind of user.
"""

from __future__ import annotations

import click

from tmalab import __version__
from tmalab.cli.benches import bench
from tmalab.cli.learners import demo, doctor, lab, progress
from tmalab.cli.maps import judge_map
from tmalab.cli.recordings import record, verdicts, verify
from tmalab.console import print_to_any_console
from tmalab.texts import text


@click.group(help=text("cli.help"), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tmalab")
def main() -> None:
    print_to_any_console()


for command in (lab, progress, demo, doctor, judge_map, bench, record, verdicts, verify):
    main.add_command(command)
