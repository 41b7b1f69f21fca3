"""The ladder as ptxas assembles it: registers, no local memory, nothing serialized, every instruction that is meant."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.ptxas import tool
from tmalab.kernels import gemm_cluster, gemm_naive, gemm_persistent, gemm_pipelined, gemm_warp_specialized
from tmalab.kernels.gemm_tiles import TILES, Tile

MATRIX = np.zeros((256, 256), np.uint16)


def compiled(how):
    return compile_kernel(how["kernel"].function, how["args"], how["block"])


def launch_of(tile: Tile):
    return (gemm_cluster if tile.cluster == 2 else gemm_persistent).launch_of(MATRIX, MATRIX, MATRIX, tile)


def check(found, threads):
    """ptxas made it, in registers alone, and with nothing to complain of."""
    assert found.fast.by == "ptxas"
    assert (found.usage.spilled, found.usage.stack, found.usage.losses) == (0, 0, ())
    assert found.usage.registers * threads <= 65536
    assert not re.search(r"\b(LDL|STL)\b", found.sass)


@pytest.mark.parametrize("module", [gemm_naive, gemm_pipelined, gemm_warp_specialized])
def test_the_first_steps_lose_nothing_to_the_assembler(module):
    check(compiled(module.launch_of(MATRIX, MATRIX, MATRIX)), module.THREADS)


@pytest.mark.parametrize(
    "tile", [TILES[0], TILES[-1], *(pytest.param(tile, marks=pytest.mark.slow) for tile in TILES[1:-1])]
)
def test_the_persistent_products_lose_nothing_to_the_assembler(tile):
    found = compiled(launch_of(tile))
    check(found, tile.threads)
    names = re.findall(r"\b(HGMMA\.64x\d+x16|STSM|UTMASTG|UTMALDG|USETMAXREG)", found.sass)
    assert names.count(f"HGMMA.64x{tile.bn}x16") % 4 == 0  # four steps of 16 columns, as often as the loop is unrolled
    assert names.count(f"HGMMA.64x{tile.bn}x16") > 0
    assert names.count("STSM") == tile.bn // 16  # every register named in its place: the loop is written out
    assert names.count("UTMASTG") == tile.bn // 64
    assert names.count("USETMAXREG") == (2 if tile.consumers == 2 else 0)
    assert ("UTMALDG.2D.MULTICAST" in found.sass) == (tile.cluster == 2)


def test_the_assembler_of_the_extra_is_installed():
    assert tool("ptxas")
    assert tool("nvdisasm")


def test_a_prepared_launch_is_shorter_than_one_with_bounded_waits():
    """What the limit on waits costs in the loop: the clock is read only where a wait fails, but its code is there."""
    found = compiled(gemm_warp_specialized.launch_of(MATRIX, MATRIX, MATRIX))
    assert "GLOBALTIMER" not in found.sass.upper()
    assert len(found.fast.cubin) < len(found.bounded_cubin)
