"""What tests ask of a page that holds one figure: its grids, numbered from the left, its sentence, its model."""

from __future__ import annotations

from collections.abc import Callable

from tests.pace import within


def cell(page, side: int, row: int, column: int):
    rows = page.get_by_role("grid").nth(side).get_by_role("row")
    return rows.nth(row + 1).get_by_role("gridcell").nth(column)  # row 0 holds the headings


def spoken(page) -> str:
    return page.get_by_role("status").inner_text()


def marked(page, side: int, mark: str = "shown") -> str | None:
    """The (row, column) of the cell that a side marks, or None."""
    script = """([side, mark]) => {
      const rows = [...document.querySelectorAll('[role=grid]')[side].querySelectorAll('[role=row]')].slice(1);
      const cells = rows.map((row) => [...row.querySelectorAll('[role=gridcell]')]);
      for (const [y, row] of cells.entries())
        for (const [x, cell] of row.entries()) if (cell.hasAttribute(`data-${mark}`)) return [y, x];
      return null;
    }"""
    found = page.evaluate(script, [side, mark])
    return found and tuple(found)


def kernel(page, name: str):
    return page.evaluate("name => tma.kernel.state[name]", name)


def names(page, side: int) -> list[list[str]]:
    rows = page.get_by_role("grid").nth(side).get_by_role("row").all()[1:]
    return [row.get_by_role("gridcell").all_inner_texts() for row in rows]


FRAME = 16  # ms
EVENTS = 80  # of which one in twenty may take longer


def processor_clock(page) -> Callable[[], float]:
    """A clock of the processor time, in ms, that the page's main thread has used, painting included."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration") * 1000

    return spent


def processor_ms(page, act: str, count: int) -> float:
    """Processor time of an event: the 95th percentile of `count`."""
    spent, times = processor_clock(page), []
    for event in range(count):
        before = spent()
        page.evaluate(f"(event) => {{ ({act})(event); document.body.getBoundingClientRect(); }}", event)
        times.append(spent() - before)
    return sorted(times)[int(0.95 * count)]


def is_within_a_frame(page, act: str) -> bool:
    """Whether events are answered within a frame, by a processor as fast as this one is just now; once more where not,
    since other tests disturb it. Tells how long they take."""
    taken = processor_ms(page, act, EVENTS)
    print(f"{taken:.1f} ms of processor time, 95th percentile of {EVENTS} events")
    return within(taken, FRAME) or within(processor_ms(page, act, EVENTS), FRAME)


def drawing_ms(page) -> float:
    """Processor time in which a page's figure is drawn once more."""
    spent = processor_clock(page)
    before = spent()
    page.evaluate("draw(document.esm, tma.kernel.state)")
    return spent() - before
