"""Grade with the workers of a Dask cluster, of this computer or of many.

Start it anywhere: `dask scheduler`, then on each computer `dask worker ADDRESS --nworkers N --nthreads 1`, with this
course installed and, on Linux, bubblewrap. Files need not be shared: a submission's bytes go to the worker, plain data
comes back, and the one process that holds the journal notes it. A worker that is lost costs nothing: what it had goes
to another.

`--resources "GPU=1"` says that a worker may use a GPU: kernels that are to run on one go nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from distributed import Client, Future, as_completed, get_worker

from grader.classroom.pool import AHEAD
from grader.classroom.work import Job, Outcome, start, work
from grader.limits import HostFault
from grader.sandbox.host import NoSandbox
from grader.texts import text
from grader.trusted import versions

CONNECT = 10.0  # seconds until a scheduler must have answered, and a first worker be there
GPU = {"GPU": 1}  # what a worker declares that may run kernels on a GPU


class Cluster:
    """What grades jobs on the workers of the scheduler at an address; `gpu`: only on those that declare a GPU.

    Use it as a context. Raises HostFault where there is no scheduler, or no such worker.
    """

    def __init__(self, address: str, gpu: bool = False):
        self.address, self._resources = address, GPU if gpu else {}

    def __enter__(self) -> Cluster:
        try:
            self._client = Client(self.address, timeout=CONNECT, set_as_default=False)
            self._client.wait_for_workers(1, timeout=CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise HostFault(text("cluster.none", address=self.address, reason=error)) from None
        if not self._threads():
            self._client.close()
            raise HostFault(text("cluster.no-gpu", address=self.address))
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.close()

    def ready(self, workers: int) -> None:
        """Wait until so many workers are there and each has started its sandbox."""
        self._client.wait_for_workers(workers)
        self._client.run(start)

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[tuple[str, Outcome]]:
        """Outcomes as they come, by the job's name. Raises NoSandbox, and HostFault where the cluster is lost."""
        running: dict[Future, Job] = {}
        done = as_completed(loop=self._client.loop)

        def fill() -> None:
            while len(running) < AHEAD * max(self._threads(), 1) and (job := next(jobs, None)) is not None:
                future = self._client.submit(_work, job, pure=False, resources=self._resources)
                running[future] = job
                done.add(future)

        fill()
        while running:
            future = next(done)
            job = running.pop(future)
            yield job.name, _outcome(future)
            fill()

    def outcome(self, job: Job) -> Outcome:
        """The outcome of one job, when its turn has come. Raises NoSandbox and HostFault."""
        future = self._client.submit(_work, job, pure=False, resources=self._resources)
        return _outcome(next(as_completed([future], loop=self._client.loop)))  # `wait` asks for a default client

    def _threads(self) -> int:
        """How many jobs can run at a time, as far as workers are there now."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return sum(worker["nthreads"] for worker in workers if self._resources.items() <= worker["resources"].items())


def _outcome(future: Future) -> Outcome:
    """What came of a job. Raises NoSandbox."""
    if future.status != "finished":
        return {"not_graded": text("classroom.not-graded", reason=_reason(future))}
    told: Mapping[str, Any] = future.result()
    if "set-up" in told:
        raise NoSandbox(text("cluster.worker", address=told["worker"], reason=told["set-up"]))
    if told["versions"] != versions():
        words = {"address": told["worker"], "theirs": _shown(told["versions"]), "ours": _shown(versions())}
        raise HostFault(text("cluster.other-versions", **words))
    return told["outcome"]


def _work(job: Job) -> dict[str, Any]:
    """In a worker: the outcome, with the versions that it rests on; or why there is no sandbox."""
    told = {"worker": get_worker().address, "versions": versions()}
    try:
        return told | {"outcome": work(job)}
    except NoSandbox as error:
        return told | {"set-up": str(error)}


def _reason(future: Future) -> str:
    error = future.exception() if future.status == "error" else None
    return f"{type(error).__name__}: {error}"[:200] if error else str(future.status)


def _shown(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
