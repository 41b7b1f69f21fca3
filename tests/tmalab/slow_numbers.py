"""What reductions compute, one element at a time in exact arithmetic, written from the measured facts.

Elements are bit patterns as ints; types have the driver's numbers, 0..12.
"""

from __future__ import annotations

from fractions import Fraction

BITS = {2: 32, 3: 32, 4: 64, 5: 64, 6: 16, 7: 32, 8: 64, 9: 16, 10: 32, 11: 32, 12: 32}
SIGNED = (3, 5)
FORMATS = {6: (5, 10), 9: (8, 7), 7: (8, 23), 10: (8, 23), 11: (8, 23), 12: (8, 23), 8: (11, 52)}  # exponent, mantissa
FLUSHING = (10, 12)
REDUCIBLE = {  # operation: the types that have it
    "add": (2, 3, 4, 6, 7, 8, 9, 10, 11, 12),
    "min": (2, 3, 4, 5, 6, 9),
    "max": (2, 3, 4, 5, 6, 9),
    "inc": (2,),
    "dec": (2,),
    "and": (2, 3, 4),
    "or": (2, 3, 4),
    "xor": (2, 3, 4),
}


def combine(op: str, data_type: int, before: int, coming: int) -> int:
    if data_type in FORMATS:
        return add(data_type, before, coming) if op == "add" else choose(op, data_type, before, coming)
    bits = BITS[data_type]
    if op in ("min", "max"):
        values = [v - (1 << bits) if data_type in SIGNED and v >> (bits - 1) else v for v in (before, coming)]
        return (min(values) if op == "min" else max(values)) % (1 << bits)
    return {
        "add": (before + coming) % (1 << bits),
        "inc": 0 if before >= coming else before + 1,
        "dec": coming if before == 0 or before > coming else before - 1,
        "and": before & coming,
        "or": before | coming,
        "xor": before ^ coming,
    }[op]


def parts(data_type: int, bits: int) -> tuple[int, int, int]:
    """Sign, exponent field, mantissa field."""
    exponent, mantissa = FORMATS[data_type]
    return bits >> exponent + mantissa, bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1


def is_nan(data_type: int, bits: int) -> bool:
    _, exponent, mantissa = parts(data_type, bits)
    return exponent == (1 << FORMATS[data_type][0]) - 1 and mantissa != 0


def is_infinite(data_type: int, bits: int) -> bool:
    _, exponent, mantissa = parts(data_type, bits)
    return exponent == (1 << FORMATS[data_type][0]) - 1 and mantissa == 0


def value(data_type: int, bits: int) -> Fraction:
    """The number, exactly; neither infinite nor NaN."""
    width, fraction = FORMATS[data_type]
    sign, exponent, mantissa = parts(data_type, bits)
    whole = mantissa + (1 << fraction if exponent else 0)
    power = max(exponent, 1) - (1 << width - 1) + 1 - fraction
    return (-1) ** sign * whole * Fraction(2) ** power


def nearest(data_type: int, number: Fraction) -> int:
    """The bit pattern of the nearest number, of two equally near the even one; positive or negative, not 0."""
    width, fraction = FORMATS[data_type]
    sign = number < 0
    number = abs(number)
    lowest = 2 - (1 << width - 1) - fraction  # power of two of a subnormal's last bit
    power = max(lowest, _floor_log2(number) - fraction)
    units = number / Fraction(2) ** power
    whole = units.numerator // units.denominator
    rest = units - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    pattern = whole + (power - lowest << fraction)  # the leading bit of a normal number counts up the exponent
    largest = (1 << width) - 1 << fraction
    return min(pattern, largest) | sign << width + fraction


def _floor_log2(number: Fraction) -> int:
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def flushed(data_type: int, bits: int) -> int:
    sign, exponent, _ = parts(data_type, bits)
    return bits if exponent else sign << sum(FORMATS[data_type])


def add(data_type: int, before: int, coming: int) -> int:
    width, fraction = FORMATS[data_type]
    all_ones = (1 << width + fraction) - 1
    nans = [bits for bits in (coming, before) if is_nan(data_type, bits)]
    if nans:
        return nans[0] if data_type == 8 else all_ones
    if data_type in FLUSHING:
        before, coming = flushed(data_type, before), flushed(data_type, coming)
    infinite = {bits for bits in (before, coming) if is_infinite(data_type, bits)}
    if len(infinite) == 2:
        return 0xFFF8000000000000 if data_type == 8 else all_ones
    if infinite:
        return infinite.pop()
    total = value(data_type, before) + value(data_type, coming)
    if total == 0:
        return before & coming & 1 << width + fraction  # -0 only of two of them
    result = nearest(data_type, total)
    return flushed(data_type, result) if data_type in FLUSHING else result


def choose(op: str, data_type: int, before: int, coming: int) -> int:
    """min and max: -0 is less than +0, a number wins over a NaN."""
    numbers = [bits for bits in (before, coming) if not is_nan(data_type, bits)]
    if not numbers:
        return 0x7FFF

    def order(bits: int) -> tuple[bool, Fraction | int]:
        sign = parts(data_type, bits)[0]
        magnitude = bits & 0x7FFF
        return (not sign, -magnitude if sign else magnitude)

    return min(numbers, key=order) if op == "min" else max(numbers, key=order)
