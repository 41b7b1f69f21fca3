"""Submissions to lesson 1 for the tests: notebooks made of cells, and the lesson's own cells by their ids."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tests.lessons import COURSE

LESSON = "01-copy-2d"
SOURCE = COURSE / "source" / LESSON / "copy-2d.ipynb"

SETUP = """
import numpy as np
from numba import cuda
from tmalab import DataType, Swizzle, TensorMap, device, kernel, ptx
import grader
ROWS, COLS = 8, 64
TILE_BYTES = ROWS * COLS * 2
BOX_ROWS, BOX_COLS = ROWS + 2, COLS + 16
"""
COUNTS = 'counts = {"element by element": 4096, "cp.async": 1024, "TMA": 1}'
WRONG_COUNTS = 'counts = {"element by element": 7, "cp.async": 7, "TMA": 7}'
CHECK_COUNTS = 'grader.check("copy-2d.count", counts)'
SECTOR = """
def physical_sector(row, sector, span):
    address = row * span + sector * 16
    return (address ^ (address >> 3 & span - 16)) % span // 16
"""
WRONG_SECTOR = "def physical_sector(row, sector, span):\n    return -1\n"
NO_WAIT = """
@kernel
def copy_tile(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]
"""


def notebook(*cells: str, **metadata: Any) -> dict[str, Any]:
    """A notebook of code cells."""
    code = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in cells]
    return {"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@cache
def _solved() -> str:
    return SOURCE.read_text("utf-8")


def solved() -> dict[str, Any]:
    """The instructor's notebook: all answers right."""
    return json.loads(_solved())


def cell(of: dict[str, Any], identifier: str) -> dict[str, Any]:
    """A cell by its id."""
    return next(each for each in of["cells"] if each["id"] == identifier)


def without(of: dict[str, Any], *identifiers: str) -> dict[str, Any]:
    """The notebook without some cells."""
    of["cells"] = [each for each in of["cells"] if each["id"] not in identifiers]
    return of
