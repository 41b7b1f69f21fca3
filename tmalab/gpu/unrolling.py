"""Which loops are written out: those that name registers by their counter; and not those that wait for barriers.

Registers have no addresses, so `acc[i]` needs a loop that is written out. The compiler would leave it as it is, since
it is long, and could not name the register. So the latch of every loop with such a read gets what `#pragma unroll` is
to a C++ compiler: metadata that asks for all of it. A loop whose number of rounds is not known when the kernel is
compiled stays a loop.

A loop that waits for a barrier in each round is, where that number is not known, never written out four times over:
rounds that begin with a wait overlap with nothing, and all that code must be fetched before a short kernel can begin.

>>> from tmalab.gpu.unrolling import unrolled
>>> print(unrolled('''define void @"k"() {
... entry:
...   br label %"loop"
... loop:
...   %".1" = call float asm "mov.b32 $0, tmalab_acc$1_$2of8;", "=f,n,n"(i32 0, i64 %"i")
...   br i1 %".2", label %"loop", label %"end"
... end:
...   ret void
... }'''))
define void @"k"() {
entry:
  br label %"loop"
loop:
  %".1" = call float asm "mov.b32 $0, tmalab_acc$1_$2of8;", "=f,n,n"(i32 0, i64 %"i")
  br i1 %".2", label %"loop", label %"end", !llvm.loop !900000
end:
  ret void
}
!900000 = distinct !{!900000, !900001}
!900001 = !{!"llvm.loop.unroll.full"}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numba.cuda.cudadrv import nvvm

_READ = re.compile(r"tmalab_acc\$\d+_\$\d+of")  # a register that a variable names
_WAIT = re.compile(r"mbarrier\.(?:try|test)_wait")
_FULL, _NEVER = "llvm.loop.unroll.full", "llvm.loop.unroll.runtime.disable"
_LABEL = re.compile(r'^"?([\w.$]+)"?:')
_TARGET = re.compile(r'label %"?([\w.$]+)"?')
_FIRST = 900_000  # the number of our metadata: numba's are few


class _Block(NamedTuple):
    lines: list[int]
    targets: list[str]


@contextmanager
def loops_written_out() -> Iterator[None]:
    """While numba compiles in here, what it hands to NVVM is `unrolled`."""
    original = nvvm.compile_ir

    def compile_ir(llvmir: Any, **opts: Any) -> Any:  # with the names of the original
        return original([unrolled(ir) for ir in ([llvmir] if isinstance(llvmir, str) else llvmir)], **opts)

    nvvm.compile_ir = compile_ir
    try:
        yield
    finally:
        nvvm.compile_ir = original


def unrolled(ir: str) -> str:
    """LLVM's text of a module in which each loop says whether it is to be written out."""
    if not _READ.search(ir) and not _WAIT.search(ir):
        return ir
    lines, number = ir.split("\n"), _FIRST
    for blocks in _functions(lines):
        for latch, wish in _wishes(lines, blocks):
            lines[blocks[latch].lines[-1]] += f", !llvm.loop !{number}"
            lines.append(f"!{number} = distinct !{{!{number}, !{number + 1}}}")
            lines.append(f'!{number + 1} = !{{!"{wish}"}}')
            number += 2
    return "\n".join(lines)


def _functions(lines: list[str]) -> Iterator[dict[str, _Block]]:
    """The blocks of each function by label, in their order."""
    blocks: dict[str, _Block] = {}
    current = None
    for number, line in enumerate(list(lines)):
        label = _LABEL.match(line)
        if label:
            current = blocks[label[1]] = _Block([], [])
        elif line.startswith("}"):
            yield blocks
            blocks, current = {}, None
        elif current is not None and line.strip():
            current.lines.append(number)
            current.targets.extend(_TARGET.findall(line) if not line.lstrip().startswith("%") else [])


def _wishes(lines: list[str], blocks: dict[str, _Block]) -> list[tuple[str, str]]:
    """The last blocks of the loops that have a wish, with it."""
    reading, waiting = (
        {name for name, block in blocks.items() if any(mark.search(lines[number]) for number in block.lines)}
        for mark in (_READ, _WAIT)
    )
    wishes: dict[str, str] = {}
    for end, head in _back_edges(blocks):
        inside = _loop(blocks, end, head)
        if inside & reading:
            wishes[end] = _FULL
        elif inside & waiting:
            wishes.setdefault(end, _NEVER)
    return sorted(wishes.items())


def _back_edges(blocks: dict[str, _Block]) -> Iterator[tuple[str, str]]:
    """Jumps to a block that the way from the entry to here has passed."""
    seen: set[str] = set()
    entry = next(iter(blocks))
    way, open_ = [(entry, iter(blocks[entry].targets))], {entry}
    while way:
        name, targets = way[-1]
        target = next(targets, None)
        if target is None:
            way.pop()
            open_.discard(name)
            seen.add(name)
        elif target in open_:
            yield name, target
        elif target not in seen:
            way.append((target, iter(blocks[target].targets)))
            open_.add(target)


def _loop(blocks: dict[str, _Block], end: str, head: str) -> set[str]:
    """The blocks of the loop from `head` to `end`: all from which `end` is reached without passing the head."""
    inside, waiting = {head, end}, [end]
    while waiting:
        name = waiting.pop()
        if name == head:
            continue
        for before, block in blocks.items():
            if name in block.targets and before not in inside:
                inside.add(before)
                waiting.append(before)
    return inside
