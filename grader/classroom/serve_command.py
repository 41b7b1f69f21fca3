"""`grader serve`: a queue for learners' own notebooks before the workers of a cluster."""

from __future__ import annotations

import click

from grader.exits import SET_UP, leave
from grader.texts import text


@click.command()
@click.option("--scheduler", metavar="ADDRESS", required=True, help="The Dask scheduler whose workers check.")
@click.option("--gpu", is_flag=True, help="Only workers that declare a GPU, where right kernels run on it.")
@click.option("--host", default="127.0.0.1", help="The address to listen at; by default this computer's own.")
@click.option("--port", type=click.IntRange(0, 65535), default=8790, help="The port; 0: any that is free.")
@click.option("--seed", type=int, default=None, help="The class's seed; by default TMALAB_CLASS_SEED, or 0.")
def serve(scheduler: str, gpu: bool, host: str, port: int, seed: int | None) -> None:
    """Check learners' notebooks, which they send by `grader check NOTEBOOK --server URL`; one queue for all of them."""
    from grader.checking import class_seed
    from grader.limits import HostFault

    try:
        from grader.classroom.cluster import Cluster
        from grader.classroom.serve import Server
    except ImportError as error:
        leave(SET_UP, text("cli.no-distributed", module=error.name or "distributed"))
    try:
        with (
            Cluster(scheduler, gpu) as cluster,
            Server((host, port), cluster.outcome, class_seed() if seed is None else seed, gpu) as server,
        ):
            click.echo(text("serve.ready", host=host, port=server.server_address[1]))
            server.serve_forever()
    except (HostFault, OSError) as error:
        leave(SET_UP, str(error))
    except KeyboardInterrupt:
        return
