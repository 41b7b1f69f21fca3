"""What tests of the compiler need in a module of its own, where pytest rewrites no assert."""

from tmalab import device


@device
def thrice(x):
    return 3 * x


@device
def sixfold(x):
    return 2 * thrice(x)


def asserts(out):
    assert out[0] == 1  # here
