"""`tmalab demo`: the main job without a notebook. One tile, simulated, and compared with what a Hopper GPU wrote.

The tensor is 16x128 fp16 and its 16-bit patterns count from 0, so that every element tells where it came from. Lesson
1's kernel copies the 8x64 tile at column 64, row 8, without a swizzle and with the 128-byte one.

>>> case = simulate(Swizzle.B128)
>>> case.sector_at(3, 0)                # row 3 of shared memory begins with the tile's sector 3 XOR 0
(3, 3)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from tmalab import Swizzle, TensorMap, recorded
from tmalab.gpu.device import hopper, why_no_gpu
from tmalab.kernels.copy_2d import COLS, ROWS, copy_2d
from tmalab.run import Run
from tmalab.texts import text

SHAPE = (16, 128)
CORNER = (64, 8)  # of the tile: column, row
SECTORS = 8  # of 16 bytes in a row of the tile
PER_SECTOR = COLS // SECTORS
COLOURS = ("red", "green", "yellow", "blue", "magenta", "cyan", "bright_red", "bright_green")  # by sector of the tile
RECORDING = "lesson-1"


class NoHardware(Exception):
    """There is nothing to compare with: no GPU and no recording. The message is one sentence."""


@dataclass(frozen=True)
class Case:
    """One tile: how it lay in shared memory in the simulator, and how that run went."""

    tensor_map: TensorMap
    shared: np.ndarray  # uint16, (8, 64)
    run: Run

    @property
    def name(self) -> str:
        """The case in words."""
        return text(
            "cli.demo-case", rows=ROWS, columns=COLS, x=CORNER[0], y=CORNER[1], swizzle=self.tensor_map.swizzle.name
        )

    def sector_at(self, row: int, place: int) -> tuple[int, int] | None:
        """The sector (row, sector) of the tile that a place of shared memory shows; None if it shows none."""
        found = self.shared[row, place * PER_SECTOR : (place + 1) * PER_SECTOR]
        tensor_row, column = divmod(int(found[0]), SHAPE[1])
        sector = ((tensor_row - CORNER[1]), (column - CORNER[0]) // PER_SECTOR)
        whole = np.array_equal(found, found[0] + np.arange(PER_SECTOR)) and column % PER_SECTOR == 0
        return sector if whole and 0 <= sector[0] < ROWS and 0 <= sector[1] < SECTORS else None

    def picture(self) -> Table:
        """Shared memory as it was found: in each 16-byte place, the row and sector of the tile that lie there."""
        table = Table(title=self.name, title_justify="left", caption=text("cli.demo-caption"), caption_justify="left")
        table.add_column(text("cli.demo-line"), justify="right")
        for place in range(SECTORS):
            table.add_column(str(place))
        for row in range(ROWS):
            table.add_row(f"0x{row * 2 * COLS:04x}", *(self._cell(row, place) for place in range(SECTORS)))
        return table

    def _cell(self, row: int, place: int) -> str:
        sector = self.sector_at(row, place)
        return "?" if sector is None else f"[{COLOURS[sector[1]]}]{sector[0]}·{sector[1]}[/]"


@dataclass(frozen=True)
class Comparison:
    """A case against the hardware."""

    case: Case
    mismatches: int  # bytes
    hardware: str  # "live" or "recorded"
    source: str  # which GPU, and when

    @property
    def ok(self) -> bool:
        """Every byte as on the hardware, and nothing to report about the simulated run."""
        return self.mismatches == 0 and self.case.run.ok

    def as_json(self) -> dict[str, object]:
        """A case of what `--json` prints."""
        hazards = [hazard.name for hazard in self.case.run.hazards]
        compared = {"bytes": self.case.shared.nbytes, "source": self.source, "hazards": hazards}
        compared["run"] = str(self.case.run)
        return {"name": self.case.name, "mismatches": self.mismatches, "hardware": self.hardware, **compared}


def tensor() -> np.ndarray:
    """The 16x128 fp16 tensor whose bits count."""
    return np.arange(SHAPE[0] * SHAPE[1], dtype=np.uint16).view(np.float16).reshape(SHAPE)


def simulate(swizzle: Swizzle) -> Case:
    """Copy the tile in the simulator."""
    return launch(swizzle, "simulator")


def launch(swizzle: Swizzle, on: str) -> Case:
    """Copy the tile with lesson 1's kernel."""
    tensor_map = TensorMap.from_array(tensor(), (ROWS, COLS), swizzle)
    out = np.zeros((ROWS, COLS), np.float16)
    run = copy_2d.run(args=(tensor_map, out, *CORNER), on=on)
    return Case(tensor_map, out.view(np.uint16), run)


def compare(case: Case) -> Comparison:
    """Compare a case with the GPU in this computer, or with the recording. Raises NoHardware where there is neither."""
    if why_no_gpu() is None:
        live = launch(case.tensor_map.swizzle, "gpu")
        if not live.run.ok:
            raise NoHardware(text("cli.demo-gpu-failed", reason=live.run))
        expected: Any = live.shared.view(np.uint8).reshape(-1)
        hardware, source = "live", hopper().name
    else:
        recording = _recording()
        found = recording.find("load", case.tensor_map, CORNER)
        if found is None:
            raise NoHardware(text("cli.demo-not-recorded", recording=RECORDING, case=case.name))
        expected, hardware = recording.results[found][: case.shared.nbytes], "recorded"
        source = text("cli.demo-source", gpu=recording.provenance["gpu"], date=recording.provenance["date"])
    mismatches = int(np.count_nonzero(expected != case.shared.view(np.uint8).reshape(-1)))
    return Comparison(case, mismatches, hardware, source)


def _recording() -> recorded.Recording:
    try:
        return recorded.read(RECORDING)
    except KeyError:
        raise NoHardware(text("cli.demo-no-recording", recording=RECORDING)) from None


def run() -> list[Comparison]:
    """The demonstration: both swizzles, each simulated and compared. Raises NoHardware."""
    return [compare(simulate(swizzle)) for swizzle in (Swizzle.NONE, Swizzle.B128)]


def save_svg(path: Path) -> None:
    """Save the picture of the swizzled tile: the tensor and the box on the left, shared memory on the right."""
    from tmalab.figures.tile import TileFigure

    figure = TileFigure(TensorMap.from_array(tensor(), (ROWS, COLS), Swizzle.B128), CORNER)
    path.write_text(figure.svg(), "utf-8")
