"""Why a task came to its end, from facts that do not depend on when somebody looked.

These are: what its watcher has done, the status that the kernel kept of its first process, and what it used. A task
cannot send itself SIGKILL (`confine`), so one that died of it without its watcher was ended by the kernel: at the last
limit of the processor's time, or for want of memory.

>>> reason_of("", -signal.SIGXCPU, Limits(), cpu=0.7)  # the kernel counts by ticks, and so may count more
'cpu'
>>> reason_of("", 3, Limits(cpu=1), cpu=0.99)
'died'
"""

from __future__ import annotations

import signal
from typing import Any

from grader.limits import Failed, HostFault
from grader.sandbox.limits import MIB, Limits
from grader.texts import text

CPU, WALL, MEMORY = "cpu", "wall", "memory"  # limits
STOPPED = "stopped"  # the grader wanted no more of it
EXIT, DIED = "exit", "died"  # by itself
START, LOST, KILLED = AT_FAULT = ("start", "lost", "killed")  # the computer's doing
OVER_TIME = -getattr(signal, "SIGXCPU", 1000)
BY_KERNEL = -getattr(signal, "SIGKILL", 1000)


def reason_of(act: str, code: int, limits: Limits, cpu: float = 0.0, memory: int = 0) -> str:
    """The reason for an end.

    act   why its watcher ended it; empty where it did not
    code  the first process's exit code, or the negative number of the signal that ended it
    cpu, memory  what it used: seconds, bytes at most
    """
    if act in (CPU, WALL, MEMORY):
        return act
    if code == OVER_TIME:
        return CPU
    if code == BY_KERNEL and cpu > limits.cpu / 2:  # much less than the last limit, which is counted by ticks
        return CPU
    if act == STOPPED:
        return act
    if code == BY_KERNEL:
        return MEMORY if memory > limits.memory / 2 else KILLED
    return DIED if code else EXIT


def failure(ending: dict[str, Any], limits: Limits) -> Failed | HostFault:
    """What an end without an answer is to the grader."""
    reason = ending["reason"]
    if reason in AT_FAULT:
        return HostFault(text(f"sandbox.{reason}", reason=ending.get("words") or "?"))
    if reason in (CPU, WALL):
        seconds = limits.cpu if reason == CPU else limits.wall
        return Failed("time", text("sandbox.time", seconds=seconds), seconds)
    if reason == MEMORY:
        return Failed("memory", text("sandbox.memory", mebibytes=limits.memory // MIB))
    return Failed("crashed", text("sandbox.crashed"))
