"""TmaFault: what makes a running kernel fault on the hardware.

A fault is no Python error of the learner's program: on the GPU it ends the kernel, and CUDA reports one of these errors
at some later call. Here it says at once what was wrong and why.

>>> TmaFault("misaligned_address", "destination 0x40 is not 128-byte aligned").kind
'misaligned_address'
"""

from __future__ import annotations

from tmalab.plain_traceback import PlainTraceback

KINDS = {  # kind: the CUDA error that the hardware's fault becomes (measured, H200)
    "illegal_instruction": "CUDA_ERROR_ILLEGAL_INSTRUCTION (715)",
    "misaligned_address": "CUDA_ERROR_MISALIGNED_ADDRESS (716)",
    "illegal_address": "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
    "launch_failed": "CUDA_ERROR_LAUNCH_FAILED (719)",
}


class TmaFault(PlainTraceback, Exception):
    """A copy that faults on hardware. `.kind` is a key of KINDS; `.cuda_error` is what CUDA would report.

    Of a kernel that was run, `.file`, `.line` and `.thread` say where.
    """

    file: str | None
    line: int | None
    thread: str

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind
        self.cuda_error: str | None = KINDS[kind]

    def __reduce__(self):
        return TmaFault, (self.kind, str(self))
