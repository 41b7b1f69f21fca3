"""The drawing of figure 8: lanes of agents, the accesses, the missing edge, and the bytes in memory.

One drawing serves the browser's figure and the static one: events are groups of class e0, e1 ..., the edge as it is and
as the fix draws it are groups of class edge-missing and edge-fixed.

>>> from tmalab.figures.hazard_frames import scene_of, without_wait
>>> print(hazard_table(scene_of(*without_wait())))
read before wait: 6 events
1     full[0]           thread 0 initialises it for 1 (line 8)
2     full[0]           thread 0 promises 1,024 bytes and arrives (line 11)
3  B  the load of tile  issues the load of tile (line 12)
4  A  thread 37         reads tile[3, 8] (line 14)
5  B  the load of tile  has landed 1,024 bytes (line 12)
6     full[0]           phase 0 is complete
missing order: from the end of B to A
missing: a wait on full[0], phase 0, between the two
write: ptx.mbarrier_wait_parity(full[0], 0)  before line 14, in every thread that reads
"""

from __future__ import annotations

from html import escape

from tmalab.figures.events_svg import LEFT, TOP, events_svg
from tmalab.figures.hazard_frames import Scene
from tmalab.figures.svg import Drawing
from tmalab.figures.words import at_line
from tmalab.texts import text

NAMES, LANE, HEAD = 170, 64, 20  # pixels: of the lanes' names, of a lane, above the lanes
COLUMNS, LEAST, MOST = 500, 44, 84  # pixels of all columns, if each has neither less nor more than these
CELL = (34, 20)  # pixels of 16 bytes
LINE, SECTOR, LINES = 128, 16, 12  # bytes, bytes, lines that are drawn at most
ADDRESS = 62  # pixels of a line's address
LETTER = 6.6  # pixels
RULES = (
    "{id} .lane {{ stroke: var(--tma-line); stroke-dasharray: 2 4; }}",
    "{id} .reach {{ fill: transparent; }}",
    "{id} .dot {{ fill: var(--tma-ground); stroke: var(--tma-text); stroke-width: 1.5; }}",
    "{id} .hit {{ fill: var(--tma-text); stroke: var(--tma-text); stroke-width: 2; }}",
    "{id} .bar {{ fill: url(#{hatch}); stroke: var(--tma-text); }}",
    "{id} .in {{ fill: var(--tma-ground); font-weight: 700; text-anchor: middle; font-size: 12px; }}",
    "{id} .no {{ text-anchor: end; font-size: 11px; fill: var(--tma-muted); }}",
    "{id} .edge-missing, {id} .edge-fixed {{ pointer-events: none; }}",
    "{id} .edge {{ fill: none; stroke: var(--tma-warning); stroke-width: 2.5; stroke-dasharray: 6 4; }}",
    "{id} .edge-head {{ fill: var(--tma-warning); }}",
    "{id} .edge-words {{ fill: var(--tma-warning); font-weight: 600; paint-order: stroke;"
    " stroke: var(--tma-ground); stroke-width: 4; font-size: 12px; }}",
    "{id} .edge-fixed .edge {{ stroke: var(--tma-accent); stroke-dasharray: none; }}",
    "{id} .edge-fixed .edge-head {{ fill: var(--tma-accent); }}",
    "{id} .edge-fixed .edge-words {{ fill: var(--tma-accent); }}",
    "{id} .cell {{ fill: none; stroke: var(--tma-faint); }}",
    "{id} .cell-B {{ fill: url(#{hatch}); stroke: var(--tma-edge); }}",
    "{id} .cell-A {{ fill: none; stroke: var(--tma-text); stroke-width: 2.5; }}",
    "{id} .at {{ text-anchor: middle; font-size: 11px; font-weight: 700; fill: var(--tma-text);"
    " paint-order: stroke; stroke: var(--tma-ground); stroke-width: 3; }}",
)


def size_of(scene: Scene) -> tuple[int, int]:
    """Pixels of the picture of a scene."""
    wide = max(NAMES + _column(scene) * len(scene.frames) + 20, ADDRESS + 8 * CELL[0] + 20 if scene.places else 0, 420)
    lines = len(_memory_lines(scene)[0])
    return int(wide), HEAD + LANE * len(scene.lanes) + (44 + lines * CELL[1] if lines else 10)


def picture(scene: Scene, x: float, y: float) -> str:
    """Lanes, events, the edges and the memory, from a corner on."""
    parts = [*_lanes(scene), *_bars(scene), *_edges(scene), *_memory(scene), *_events(scene)]
    return f'<g transform="translate({x:g} {y:g})">{"".join(parts)}</g>'


def rules(hatch: str) -> list[str]:
    """The picture's style; `hatch`: the id of a hatching. {id} stays open for the selector."""
    return [rule.replace("{hatch}", hatch) for rule in RULES]


def hazard_svg(scene: Scene, step: int) -> str:
    """The picture with a list of its events; pointing at one rings it."""
    frames, hazard = scene.frames, scene.hazard
    wide, high = size_of(scene)
    heads = [(text("view.head-who"), 150), (text("view.head-does"), 300), (text("view.head-line"), 40)]
    rows = [(frame.who, f"{number}. {frame.did}", str(frame.line or "")) for number, frame in enumerate(frames, 1)]
    said = f"{scene.why}. {text('view.write', fix=hazard.fix)}"

    def drawn(drawing: Drawing, number: int) -> str:
        if not drawing.rules:
            drawing.rules += rules(f"{drawing.identity}-hatch")
            drawing.rules.append("{id} .edge-fixed {{ display: none; }}")
            drawing.parts.append(picture(scene, LEFT, TOP))
        column, lane = _x(scene, number), _y(frames[number].lane)
        return f'<circle cx="{LEFT + column:g}" cy="{TOP + lane:g}" r="17" class="o"/>'

    says = [f"{frame.says} {said}" for frame in frames]
    return events_svg(_title(scene), [text("view.order")], heads, rows, says, step, drawn, (wide, high))


def hazard_table(scene: Scene) -> str:
    """The same as text."""
    width = max((len(frame.who) for frame in scene.frames), default=0)
    lines = [text("view.table", name=_title(scene), count=len(scene.frames))]
    for number, frame in enumerate(scene.frames, 1):
        lines.append(f"{number}  {frame.letter or ' '}  {frame.who:{width}}  {at_line(frame.did, frame.line)}")
    if scene.edge:
        first, second = ends_of(scene)
        lines.append(text("view.table-missing", first=first, second=second))
    return "\n".join([*lines, scene.why, text("view.write", fix=scene.hazard.fix), *scene.notes])


def ends_of(scene: Scene) -> tuple[str, str]:
    """The letters of the two accesses that want an order: which has to come first."""
    letters = list(scene.spans)
    return letters[-1], letters[-2]


def _title(scene: Scene) -> str:
    return scene.hazard.message.splitlines()[0]


def _column(scene: Scene) -> float:
    """The width of a column."""
    return min(max(COLUMNS / max(1, len(scene.frames)), LEAST), MOST)


def _x(scene: Scene, column: int) -> float:
    return NAMES + _column(scene) * (column + 0.5)


def _y(lane: int) -> float:
    return HEAD + LANE * (lane + 0.5)


def _lanes(scene: Scene) -> list[str]:
    found = []
    end = NAMES + _column(scene) * len(scene.frames)
    for lane, name in enumerate(scene.lanes):
        most = int(NAMES / LETTER) - 1
        short = name if len(name) <= most else f"{name[: most - 7]}…{name[-6:]}"  # an index stands at the end
        found.append(f'<text x="0" y="{_y(lane) + 4:g}"><title>{escape(name)}</title>{escape(short)}</text>')
        found.append(f'<path class="lane" d="M{NAMES} {_y(lane):g}H{end:g}"/>')
    return found


def _bars(scene: Scene) -> list[str]:
    """A copy lasts from its issue to its last event."""
    found = []
    for first, last in scene.spans.values():
        if last > first:
            y = _y(scene.frames[first].lane) - 7
            width = _column(scene) * (last - first)
            found.append(f'<rect class="bar" x="{_x(scene, first):g}" y="{y:g}" width="{width:g}" height="14"/>')
    return found


def _events(scene: Scene) -> list[str]:
    found = []
    right = max(scene.edge) if scene.edge is not None else None  # whose number stands out of the edge's way
    for number, frame in enumerate(scene.frames):
        x, y = _x(scene, number), _y(frame.lane)
        look, label = ("hit", frame.letter) if frame.letter else ("dot", "")
        words = f'<text class="in" x="{x:g}" y="{y + 4:g}">{label}</text>' if label else ""
        aside = (16 if label else 9) * (1 if number == right else -1)
        anchor = ' style="text-anchor: start"' if number == right else ""
        count = f'<text class="no" x="{x + aside:g}" y="{y - (15 if label else 8):g}"{anchor}>{number + 1}</text>'
        title = f"<title>{escape(frame.says)}</title>"
        radius = 10 if label else 6
        circle = f'<circle class="{look}" cx="{x:g}" cy="{y:g}" r="{radius}"/>'
        reach = f'<circle class="reach" cx="{x:g}" cy="{y:g}" r="{LEAST / 2}"/>'  # for the pointer
        found.append(f'<g class="e{number}">{title}{reach}{circle}{words}{count}</g>')
    return found


def _edges(scene: Scene) -> list[str]:
    """The edge as it is missing, and as the fix draws it."""
    if scene.edge is None:
        return []
    start, end = scene.edge
    (x, y), (to_x, to_y) = ((_x(scene, column), _y(scene.frames[column].lane)) for column in (start, end))
    bend = min(y, to_y) - 30 if y == to_y else (y + to_y) / 2
    down = 1 if to_y > y else -1
    gap = 18  # out of the ring around an event
    stop = to_y - down * gap if y != to_y else to_y - gap
    begin = y + down * gap if y != to_y else y - gap
    path = f"M{x:g} {begin:g}C{x:g} {bend:g} {to_x:g} {bend:g} {to_x:g} {stop - down * 6:g}"
    head = f"M{to_x - 6:g} {stop - down * 8:g}h12L{to_x:g} {stop:g}Z"
    fits = max(x, to_x) + 150 < size_of(scene)[0]
    beside = max(x, to_x) + 14 if fits else min(x, to_x) - 14
    level = (y + to_y) / 2 + 4 if y != to_y else y - 32
    found = []
    for name, words in (("edge-missing", "view.missing-edge"), ("edge-fixed", "view.fixed-edge")):
        anchor = "start" if fits else "end"
        label = f'<text class="edge-words" x="{beside:g}" y="{level:g}" text-anchor="{anchor}">{text(words)}</text>'
        drawn = f'<path class="edge" d="{path}"/><path class="edge-head" d="{head}"/>'
        found.append(f'<g class="{name}">{drawn}{label}</g>')
    return found


def _memory_lines(scene: Scene) -> tuple[range, int]:
    """The 128-byte lines that are drawn, and how many there are."""
    if not scene.places:
        return range(0), 0
    first = min(address for _, address, _, _ in scene.places) // LINE
    last = max(address + size - 1 for _, address, size, _ in scene.places) // LINE
    count = last - first + 1
    if count > LINES:  # around the smallest of the accesses
        _, address, _, _ = min(scene.places, key=lambda place: place[2])
        first = min(max(first, address // LINE - LINES // 2), last - LINES + 1)
    return range(first, min(first + LINES, last + 1)), count


def _memory(scene: Scene) -> list[str]:
    lines, count = _memory_lines(scene)
    if not lines:
        return []
    top = HEAD + LANE * len(scene.lanes) + 36
    title = text("view.memory", space=scene.space)
    names = ", ".join(f"{letter}: {name}" for letter, _, _, name in scene.places)
    part = f" {text('view.memory-part', drawn=len(lines), count=count)}" if count > len(lines) else ""
    found = [f'<text class="m" x="0" y="{top - 12}">{escape(f"{title}; {names}.{part}")}</text>']
    for row, line in enumerate(lines):
        y = top + row * CELL[1]
        found.append(f'<text class="h" x="{ADDRESS - 6}" y="{y + 14}">0x{line * LINE:04X}</text>')
        for column in range(LINE // SECTOR):
            found.append(_cell(scene, line * LINE + column * SECTOR, ADDRESS + column * CELL[0], y))
    return found


def _cell(scene: Scene, address: int, x: float, y: float) -> str:
    here = [letter for letter, start, size, _ in scene.places if start < address + SECTOR and address < start + size]
    wide, high = CELL
    frame = f'x="{x}" y="{y}" width="{wide}" height="{high}"'
    cell = f'<rect class="cell" {frame}/>'
    inside = f'x="{x + 1.5}" y="{y + 1.5}" width="{wide - 3}" height="{high - 3}"'
    if set(here) - {"A"}:
        cell += f'<rect class="cell-B" {inside}/>'
    if len(here) > 1 or here == ["A"]:
        cell += f'<rect class="cell-A" {inside}/>'
    if here:
        cell += f'<text class="at" x="{x + wide / 2:g}" y="{y + 14}">{"+".join(here)}</text>'
    return cell
