"""Writes oracle/golden/recipes.h: what numpy and ml_dtypes make of the quantised recipes.

Weights come from a generator of integers that recipes_test.cpp has too. Codes, scales and the values
that are read are many, so a digest stands for them, beside a few of them in full.
Usage: python3 recipes.py > recipes.h && clang-format-14 -style=file -i recipes.h
Needs ml_dtypes and numpy; the header records their versions and the date.
"""

import datetime

import ml_dtypes
import numpy as np

F32 = np.float32
LARGEST = np.finfo(F32).max
E4M3, E2M1, E8M0 = (
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float4_e2m1fn,
    ml_dtypes.float8_e8m0fnu,
)
ROWS, COLUMNS = 128, 256
STEPS = 20  # of fp8_delayed: longer than its history


def weights(kind: str, seed: int) -> np.ndarray:
    """A matrix of binary32: 24-bit integers times powers of two, another one for each row."""
    state, values = seed, []
    for i in range(ROWS * COLUMNS):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        mantissa = (state >> 40) - 2**23
        exponent = -149 if kind == "tiny" else -30 + (i // COLUMNS) % 24
        values.append(
            0.0 if kind == "holes" and i % 512 < 256 else mantissa * 2.0**exponent
        )
    if kind == "holes":
        values[300], values[301] = float("nan"), -0.0
    if kind == "infinite":
        values[777] = float("-inf")
    return np.array(values, F32).reshape(ROWS, COLUMNS)


def amax(w: np.ndarray) -> np.float32:
    """The largest magnitude, infinities included, NaN left out."""
    return F32(np.max(np.where(np.isnan(w), F32(0), np.abs(w)), initial=0))


def scale_to(wanted: float, largest: np.float32) -> np.float32:
    """The scale that brings the largest magnitude to what is wanted."""
    if largest == 0 or np.isinf(largest):
        return F32(1)
    return min(F32(wanted) / largest, LARGEST)


def saturated(x: np.ndarray, dtype: type, largest: float) -> np.ndarray:
    """Codes of the format; ml_dtypes alone makes NaN of what is too large."""
    x = np.clip(x, F32(-largest), F32(largest))
    codes = x.astype(dtype).view(np.uint8)
    return np.where(np.isnan(x), 0x7F if dtype is E4M3 else 0x07, codes).astype(
        np.uint8
    )


def worth(codes: np.ndarray, dtype: type) -> np.ndarray:
    """The values of codes."""
    return codes.view(dtype).astype(F32)


def blocks(w: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """All blocks, in the order of rows."""
    cut = w.reshape(ROWS // rows, rows, COLUMNS // columns, columns)
    return cut.swapaxes(1, 2).reshape(-1, rows, columns)


def together(cut: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The matrix of such blocks."""
    grid = cut.reshape(ROWS // rows, COLUMNS // columns, rows, columns)
    return grid.swapaxes(1, 2).reshape(ROWS, COLUMNS)


Result = tuple[np.ndarray, np.ndarray, np.ndarray]  # codes, scales, what is read


def fp8(w: np.ndarray, s: np.float32) -> tuple[np.ndarray, np.float32, np.ndarray]:
    """One block of E4M3 with a scale in binary32."""
    codes = saturated(w * s, E4M3, 448)
    back = F32(1) / s
    return codes, back, worth(codes, E4M3) * back


def fp8_current(w: np.ndarray) -> Result:
    """One scale, of the tensor's amax."""
    codes, back, read = fp8(w, scale_to(448, amax(w)))
    return codes, np.array([back]), read


def fp8_delayed(tensors: list[np.ndarray]) -> Result:
    """The last of several quantisations."""
    s, history = F32(1), [F32(0)] * 16
    for w in tensors:
        codes, back, read = fp8(w, s)
        history = [*history[1:], amax(w)]
        largest = max(history)
        if largest > 0 and np.isfinite(largest):
            s = scale_to(448, largest)
    return codes, np.array([back, s], F32), read


def by_block(w: np.ndarray, rows: int, columns: int, one: object) -> Result:
    """Every block by itself."""
    results = [one(block) for block in blocks(w, rows, columns)]  # type: ignore[operator]
    codes, scales, read = (np.array([each[i] for each in results]) for i in range(3))
    return (
        together(codes, rows, columns),
        scales.astype(F32),
        together(read, rows, columns),
    )


def fp8_block(w: np.ndarray) -> Result:
    """A power of two for 128 by 128."""

    def one(block: np.ndarray) -> tuple[np.ndarray, np.float32, np.ndarray]:
        _, exponent = np.frexp(scale_to(448, amax(block)))
        return fp8(block, F32(np.ldexp(0.5, exponent)))

    return by_block(w, 128, 128, one)


def mxfp8(w: np.ndarray) -> Result:
    """A power of two for 32 of a row, rounded up."""

    def one(block: np.ndarray) -> tuple[np.ndarray, np.float32, np.ndarray]:
        wanted = amax(block) * (F32(1) / F32(448))
        byte = next((b for b in range(255) if np.ldexp(1.0, b - 127) >= wanted), 254)
        codes = saturated(block * F32(np.ldexp(1.0, 127 - byte)), E4M3, 448)
        back = F32(np.ldexp(1.0, byte - 127))
        return codes, back, worth(codes, E4M3) * back

    return by_block(w, 1, 32, one)


def nvfp4(w: np.ndarray) -> Result:
    """E4M3 for 16 by 16 under one binary32."""
    s = scale_to(2688, amax(w))

    def one(block: np.ndarray) -> tuple[np.ndarray, np.float32, np.ndarray]:
        code = saturated(amax(block) * (s * (F32(1) / F32(6))), E4M3, 448)
        back = worth(code, E4M3)[()] * (F32(1) / s)
        into = min(F32(1) / back, LARGEST)
        codes = saturated(block * into, E2M1, 6)
        return codes, back, worth(codes, E2M1) * back

    return by_block(w, 16, 16, one)


def digest(values: np.ndarray) -> str:
    """FNV-1a over the bytes; every NaN is one."""
    if values.dtype == F32:
        values = np.where(np.isnan(values), F32("nan"), values)
    result = 0xCBF29CE484222325
    for byte in values.tobytes():
        result = (result ^ byte) * 0x100000001B3 % 2**64
    return f"0x{result:016x}"


def main() -> None:
    """Print the header."""
    np.seterr(all="ignore")
    versions = f"ml_dtypes {ml_dtypes.__version__}, numpy {np.__version__}"
    print(
        f"// Written by recipes.py with {versions} on {datetime.date.today()}: digests of codes, of"
    )
    print("// scales and of what is read, for each recipe and each kind of weights.")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace adamant::oracle::golden {\n")
    print("struct RecipeRow { char const* recipe; char const* kind;")
    print("std::uint64_t codes, scales, read; std::uint32_t first_scale; };")
    print("inline constexpr RecipeRow recipe_rows[] = {")
    recipes = {
        "fp8_current": fp8_current,
        "fp8_block": fp8_block,
        "mxfp8": mxfp8,
        "nvfp4": nvfp4,
    }
    for kind in ("plain", "holes", "infinite", "tiny"):
        results = {name: recipe(weights(kind, 1)) for name, recipe in recipes.items()}
        steps = [weights(kind, 1 + i) * F32(2.0 ** -(i % 7)) for i in range(STEPS)]
        results["fp8_delayed"] = fp8_delayed(steps)
        for name, (codes, scales, read) in results.items():
            digests = ", ".join(digest(each) for each in (codes, scales, read))
            first = int(scales[:1].view(np.uint32)[0])
            print(f'{{"{name}", "{kind}", {digests}, 0x{first:08x}}},')
    print("};\n\n}  // namespace adamant::oracle::golden")


if __name__ == "__main__":
    main()
