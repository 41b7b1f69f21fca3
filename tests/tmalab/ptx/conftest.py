"""A kernel in both worlds: the simulator everywhere, the GPU where a Hopper GPU is."""

from __future__ import annotations

import pytest

WORLDS = [pytest.param("simulator"), pytest.param("gpu", marks=pytest.mark.gpu)]


@pytest.fixture(params=WORLDS)
def run(request):
    """Run a kernel in one of the worlds; it must be right there, and compile for sm_90a."""

    def launch(made, *args, **options):
        done = made.run(args=args, on=request.param, **options)
        assert done.ok, str(done)
        return done

    return launch
