"""What the compiler makes of an access to memory: how long its arithmetic takes a warp, and its warp scheduler.

The time model hears of accesses, not of the arithmetic around them, which is often more: `tile[i // 32, i % 32]` takes
80 cycles for its address. So the kernel is compiled for sm_90a, with the learner's lines, and its machine code is
read. Each instruction carries the number of cycles after which the next one of the same warp may follow: the assembler
knows them. A scheduler issues one instruction a cycle; the pipe for integers takes one of them every other cycle, and
so does the one for products of integers (16 lanes for 32 threads; CUDA C++ Programming Guide, arithmetic throughput,
compute capability 9.0). A loop that was written out has several copies of a read, which
overlap; often the arithmetic of all of them stands before the first, so that each copy has a cost of its own.

An access reads its registers some cycles after its issue. Where they are written again soon, the assembler gives the
access one of six barriers, and has the instruction that writes them wait for it: both are noted in the machine code.

>>> code = read_code(LOOP)
>>> code[7]
Price(alone=6.0, slots=2.0, each=(Cost(alone=11.0, slots=3, taken=4), Cost(alone=1.0, slots=1, taken=0)))
>>> code[7].copies
2
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tmalab.launch import Launch

LOOP = """\
.L_x_1:
\t//## File "k.py", line 7
 /*0010*/ IADD3 R1, R1, 0x4, RZ ; /* 0x0000000000000000 */
 /* 0x000fc80000000000 */
 /*0020*/ LDS R2, [R1] ; /* 0x0000000000000000 */
 /* 0x000fc20000000000 */
 /*0030*/ LDS R3, [R1+0x80] ; /* 0x0000000000000000 */
 /* 0x000fc20000000000 */
\t//## File "k.py", line 6
 /*0040*/ @P0 BRA `(.L_x_1) ; /* 0x0000000000000000 */
 /* 0x000fcc0000000000 */
"""

_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s*(.*?)\s*;")
_SECOND_HALF = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_LINE = re.compile(r'\s*//## File ".*", line (\d+)')
_LABEL = re.compile(r"(\.L_x_\d+):")
_BRANCH = re.compile(r"\bBRA(?:\.\w+)* `\((\.L_x_\d+)\)")
_ACCESS = re.compile(r"(?:^|\s)(?:LDS|STS|LDG|STG|LD|ST|LDGSTS|ATOMS|ATOMG|RED|LDSM|STSM)(?:\.|\s|$)")
_READ = re.compile(r"(?:^|\s)(?:LDS|LDG|LD|LDSM)(?:\.|\s|$)")
_OTHER_EVENT = re.compile(
    r"(?:^|\s)(?:UTMA\w+|UBLK\w+|SYNCS|BAR|HGMMA|WARPGROUP|UCGABAR_\w+|CS2R|MEMBAR|FENCE)(?:\.|\s|$)"
)
_INTEGER = re.compile(
    r"(?:^|\s)(?:IADD3|ISETP|SEL|LOP3|PLOP3|LEA|SHF|PRMT|IMNMX|VIADD|VIMNMX|VIADDMNMX|IABS|POPC|FLO|MOV|I2F|F2I)(?:\.|\s|$)"
)
_PRODUCT = re.compile(r"(?:^|\s)IMAD(?:\.|\s|$)")
# In the second 64 bits of an instruction (observed: NVIDIA documents it not): after how many cycles the next one may
# follow; the barrier that is open until its registers have been read, 7 for none; a bit for each barrier it waits for.
STALL_AT, STALL_BITS = 41, 0b1111
HOLDS_AT, HOLDS_BITS, BARRIERS = 49, 0b111, 6
WAITS_AT, WAITS_BITS = 52, 0b111111
INTEGER_CYCLES = 2  # of a pipe for integers
ONCE = 0  # no line: what each warp does once


class Cost(NamedTuple):
    """What one copy of an access costs its warp, and its scheduler, in cycles. `taken`: of the scheduler at once. It
    stays with a warp until that has to wait, so the first of several reads in a row takes it for all of them."""

    alone: float
    slots: float
    taken: float


class Price(NamedTuple):
    """What one access of a line costs with the arithmetic around it, in cycles.

    alone    of its warp, when it has the scheduler for itself
    slots    of its scheduler, when other warps wait for it
    each     the same of each copy of the access in the loop as it was compiled, in their order, with the arithmetic
             that stands before it: reads of so many turns overlap. None: this is no access, but an instruction of a
             loop before which the arithmetic of the whole turn is done
    """

    alone: float
    slots: float
    each: tuple[Cost, ...] = ()

    @property
    def copies(self) -> int:
        """Of the access in its loop."""
        return len(self.each)


class _Instruction(NamedTuple):
    text: str
    line: int
    stall: float
    holds: int = BARRIERS  # none
    waits: int = 0


def ask_for_prices(launch: Launch) -> Callable[[float], dict[int, Price]]:
    """Have a kernel compiled and its machine code printed; what is returned gives the prices, by the learner's line,
    when it is told for how many cycles an access needs its registers.

    There are none where the kernel does not compile, or a tool for it is missing.
    """
    try:
        from tmalab.gpu.machine_lines import machine_lines
    except ImportError:
        return lambda hold: {}
    text = machine_lines(launch)
    return lambda hold: read_code(found, hold) if (found := text.result()) else {}


def read_code(text: str, hold: float = 0.0) -> dict[int, Price]:
    """The prices in machine code as `nvdisasm -c -hex -g` prints it. `hold`: for how many cycles an access needs its
    registers."""
    code, labels = _parsed(text)
    regions = [_held_up(region, hold) for region in _regions(code, labels)]
    found: dict[int, Price] = {}
    for number, region in enumerate(regions):
        for line, price in _of_region(region, is_loop=number < len(regions) - 1).items():
            if line not in found or (price.copies, price.alone) > (found[line].copies, found[line].alone):
                found[line] = price
    found[ONCE] = _outside(regions[-1])
    return found


def _held_up(region: Sequence[_Instruction], hold: float) -> list[_Instruction]:
    """The same instructions with what they wait for registers of accesses, in a turn of a loop that follows another."""
    open_until, at, delays = [-hold] * (BARRIERS + 2), 0.0, [0.0] * len(region)
    for _ in range(2):
        for number, one in enumerate(region):
            begin = max([at, *(open_until[bar] for bar in range(BARRIERS) if one.waits >> bar & 1)])
            delays[number] = begin - at
            if _ACCESS.search(one.text):
                open_until[one.holds] = begin + hold
            at = begin + one.stall
    return [one._replace(stall=one.stall + delay) for one, delay in zip(region, delays)]


def _outside(region: Sequence[_Instruction]) -> Price:
    """What every warp does once: lines outside of loops that access no memory."""
    accessing = {one.line for one in region if _ACCESS.search(one.text)}
    rest = [instruction for instruction in region if instruction.line not in accessing]
    return Price(*_cost(rest))


def _cost(instructions: Sequence[_Instruction]) -> tuple[float, float]:
    """Of its warp alone, and of its scheduler, which is busy as long as the busiest of what is behind it."""
    pipes = [sum(bool(pipe.search(one.text)) for one in instructions) for pipe in (_INTEGER, _PRODUCT)]
    return sum(one.stall for one in instructions), max(len(instructions), INTEGER_CYCLES * max(pipes))


def _parsed(text: str) -> tuple[list[_Instruction], dict[str, int]]:
    code: list[_Instruction] = []
    labels: dict[str, int] = {}
    line = 0
    for row in text.splitlines():
        if found := _LINE.match(row):
            line = int(found[1])
        elif found := _LABEL.match(row):
            labels[found[1]] = len(code)
        elif found := _INSTRUCTION.match(row):
            code.append(_Instruction(found[1], line, 0))
        elif (found := _SECOND_HALF.match(row)) and code:
            bits = int(found[1], 16)
            stall, holds = bits >> STALL_AT & STALL_BITS, bits >> HOLDS_AT & HOLDS_BITS
            code[-1] = code[-1]._replace(stall=stall, holds=holds, waits=bits >> WAITS_AT & WAITS_BITS)
    return code, labels


def _regions(code: Sequence[_Instruction], labels: dict[str, int]) -> Iterator[list[_Instruction]]:
    """The instructions of each loop without those of loops within it, and at last those outside all loops."""
    loops = []
    for at, instruction in enumerate(code):
        found = _BRANCH.search(instruction.text)
        if found and labels.get(found[1], at) < at:
            loops.append((labels[found[1]], at))
    of_code = [min(_around(at, loops), key=lambda loop: loop[1] - loop[0], default=None) for at in range(len(code))]
    for loop in loops:
        yield [instruction for instruction, inside in zip(code, of_code) if inside == loop]
    yield [instruction for instruction, inside in zip(code, of_code) if inside is None]


def _around(at: int, loops: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return (loop for loop in loops if loop[0] <= at <= loop[1])


def _of_region(region: Sequence[_Instruction], is_loop: bool) -> dict[int, Price]:
    """A line's accesses pay for the line. What stands on lines without an event is paid for once in a turn of a loop:
    by its first instruction that is no access, or where there is none by the accesses. Each access pays for what stands
    before it, since the one before; what comes after the last one is before the first one of the next turn."""
    accessing = {one.line for one in region if _ACCESS.search(one.text)}
    events = {one.line for one in region if _OTHER_EVENT.search(one.text)} - accessing
    payer = min(events, default=None)
    rest = [one for one in region if is_loop and one.line not in accessing and one.line not in events]
    found = {} if payer is None else {payer: Price(*_cost(rest))}
    for line, parts in _before_each(region, accessing, [] if payer is not None else rest).items():
        each = _in_rows([_cost(part) for part in parts], [_reads(part, line) for part in parts])
        found[line] = Price(*(sum(costs) / len(each) for costs in list(zip(*each))[:2]), each)
    return found


def _before_each(
    region: Sequence[_Instruction], accessing: Collection[int], rest: Sequence[_Instruction]
) -> dict[int, list[list[_Instruction]]]:
    """For each access, by its line, the instructions that it pays for: those of the line since its access before, and
    those of the `rest` since the access before of any line."""
    ends = [at for at, one in enumerate(region) if _ACCESS.search(one.text)]
    turned = [*region[ends[-1] + 1 :], *region[: ends[-1] + 1]] if ends else []
    common, loose, own = set(map(id, rest)), [], defaultdict(list)
    found: dict[int, list[list[_Instruction]]] = defaultdict(list)
    for one in turned:
        if id(one) in common:
            loose.append(one)
        elif one.line in accessing:
            own[one.line].append(one)
        if _ACCESS.search(one.text):
            found[one.line].append(own.pop(one.line, []) + loose)
            loose = []
    for line, left in own.items():
        found[line][0] += left
    return found


def _reads(part: Sequence[_Instruction], line: int) -> bool:
    return any(_READ.search(one.text) for one in part if one.line == line)


def _in_rows(costs: Sequence[tuple[float, float]], reads: Sequence[bool]) -> tuple[Cost, ...]:
    """The costs of a line's accesses, of which the first of several reads in a row takes the scheduler for all."""
    found: list[Cost] = []
    first = 0
    for number, (alone, slots) in enumerate(costs):
        if number and reads[number] and reads[number - 1]:
            found[first] = found[first]._replace(taken=found[first].taken + slots)
            found.append(Cost(alone, slots, 0))
        else:
            first = number
            found.append(Cost(alone, slots, slots))
    return tuple(found)
