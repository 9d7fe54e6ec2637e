"""Writes oracle/golden/small_formats.h: where rounding to 8 and 4 bits goes from code to code.

For each code but 0 the smallest positive binary32 that ml_dtypes rounds to it, and last the one that
is beyond the largest finite number. Between two of these all numbers have one code, so together they
say what becomes of every binary32.
Usage: python3 small_formats.py > small_formats.h && clang-format-14 -style=file -i small_formats.h
Needs ml_dtypes and numpy; the header records their versions and the date.
"""

import datetime

import ml_dtypes
import numpy as np

FORMATS = {
    "e4m3": (ml_dtypes.float8_e4m3fn, 0x7F),
    "e5m2": (ml_dtypes.float8_e5m2, 0x7C),
    "e2m1": (ml_dtypes.float4_e2m1fn, 0x07),
}
INFINITY = 0x7F800000


def code(bits: int, dtype: type) -> int:
    """The code of the binary32 with these bits."""
    value = np.array([bits], np.uint32).view(np.float32)
    return int(value.astype(dtype).view(np.uint8)[0])


def threshold(wanted: int, dtype: type) -> int:
    """The bits of the smallest positive binary32 whose code is `wanted` or above."""
    low, high = 0, INFINITY
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if code(middle, dtype) >= wanted else (middle, high)
    return high


def main() -> None:
    """Print the header."""
    versions = f"ml_dtypes {ml_dtypes.__version__}, numpy {np.__version__}"
    print(
        f"// Written by small_formats.py with {versions} on {datetime.date.today()}: for each code"
    )
    print(
        "// but 0 the bits of the smallest positive binary32 that is rounded to it; the last is what"
    )
    print(
        "// is rounded beyond the largest finite number, except in e2m1, where nothing is."
    )
    print("#pragma once\n\n#include <cstdint>\n\nnamespace adamant::oracle::golden {\n")
    for name, (dtype, last) in FORMATS.items():
        rows = ", ".join(
            f"0x{threshold(each, dtype):08x}" for each in range(1, last + 1)
        )
        print(f"inline constexpr std::uint32_t {name}_thresholds[] = {{{rows}}};")
    print("\n}  // namespace adamant::oracle::golden")


if __name__ == "__main__":
    main()
