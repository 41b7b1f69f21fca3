"""A fault carries its kind and what CUDA would call it, also through a pickle (runs come back from other processes)."""

import pickle

import pytest

from tmalab import TmaFault


@pytest.mark.parametrize(
    ("kind", "cuda_error"),
    [
        ("illegal_instruction", "CUDA_ERROR_ILLEGAL_INSTRUCTION (715)"),
        ("misaligned_address", "CUDA_ERROR_MISALIGNED_ADDRESS (716)"),
        ("illegal_address", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        ("launch_failed", "CUDA_ERROR_LAUNCH_FAILED (719)"),
    ],
)
def test_a_fault_knows_the_cuda_error_that_it_becomes(kind, cuda_error):
    fault = pickle.loads(pickle.dumps(TmaFault(kind, "why")))
    assert (fault.kind, fault.cuda_error, str(fault)) == (kind, cuda_error, "why")


def test_a_fault_of_no_known_kind_cannot_be_made():
    with pytest.raises(KeyError):
        TmaFault("segfault", "why")
