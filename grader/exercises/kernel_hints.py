"""What kernels of every lesson can fail at, and the stem of its hints; a lesson adds its own to these."""

from __future__ import annotations

from tmalab.simulator.hazards import CATALOGUE

KERNEL_HINTS = dict.fromkeys(CATALOGUE, "hint.report") | {  # what has no hints of its own: how to read its report
    "compiles": "hint.compiles",
    "no-copy": "hint.no-copy",
    "not-written": "hint.not-written",
    "swapped": "hint.swapped",
    "at-origin": "hint.at-origin",
    "at-the-example": "hint.at-origin",
    "bytes": "hint.bytes",
    "read-before-wait": "hint.wait",
    "wait-ignored": "hint.wait",
    "uninitialised-read": "hint.wait",
    "exit-in-flight": "hint.left-over",
    "overwrite-in-use": "hint.again",
    "phase-alias": "hint.again",
    "barrier-mismatch": "hint.deadlock",
    "wrong-parity": "hint.parity",
    "too-few-bytes": "hint.promise",
    "too-many-bytes": "hint.promise",
    "expect-after-completion": "mbarrier.promise-late",
    "missing-arrival": "hint.arrival",
    "over-arrival": "hint.one-thread",
    "multiple-issue": "hint.one-thread",
    "init-not-visible": "hint.init",
    "barrier-not-initialised": "hint.init",
    "barrier-reinit": "hint.init",
    "misaligned": "hint.aligned",
    "misaligned_address": "hint.aligned",
    "illegal_instruction": "hint.coordinate",
    "slow": "hint.share",
    "endless_loop": "hint.endless",
    "python_error": "hint.raises",
    "out-of-bounds": "hint.out-of-bounds",
    "deadlock": "hint.deadlock",
}
