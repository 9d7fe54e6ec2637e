#!/usr/bin/env python3
"""Registers, spills, blocks and instructions of kernels, as the assembler for sm_90 makes them.

    kernels.py FILE.ptx...                     rows for KERNELS.md
    kernels.py --loops FILE.ptx...             innermost loops that touch memory, by classes
    kernels.py --check KERNELS.md FILE.ptx...  fails where a kernel spills, gives fewer blocks a
                                               multiprocessor than the page says, or has no row

Needs no GPU: ptxas, or PTXAS, which comes with nvcc, and c++filt. Instructions are counted where
cuobjdump and nvdisasm are on the path, of the Python packages nvidia-cuda-cuobjdump and
nvidia-cuda-nvdisasm. The files are made by the target adamant_ptx of the preset cuda.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

THREADS_A_BLOCK = 256
WARPS_A_BLOCK = THREADS_A_BLOCK // 32
# Of a multiprocessor of sm_90: four parts of 16,384 registers and 16 warps.
PARTS, REGISTERS_A_PART, WARPS_A_PART = 4, 16_384, 16

CLASSES = {  # the first that an instruction's name begins with
    "global": ("LDG", "STG", "ATOMG", "RED"),
    "shared": ("LDS", "STS", "ATOMS"),
    "local": ("LDL", "STL"),
    "special": ("MUFU",),
    "call": ("CALL",),
    "binary64": ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "F2F.F64", "F2F.F32.F64"),
    "conversion": ("F2F", "I2F", "F2I", "HADD2.F32", "I2I"),
    "fp32": ("FADD", "FMUL", "FFMA", "FSETP", "FSEL", "FMNMX", "FCHK"),
    "branch": ("BRA", "BSSY", "BSYNC", "EXIT", "RET", "WARPSYNC", "BREAK"),
}


@dataclass
class Kernel:
    """One entry of a module."""

    name: str
    registers: int = 0
    spills: int = 0  # bytes that are stored or loaded
    code: list[tuple[int, str, int | None]] = field(default_factory=list)  # address, name, target

    def blocks(self) -> int:
        """How many are resident on a multiprocessor, as far as registers and warps go."""
        of_a_warp = -(-self.registers // 8) * 8 * 32
        warps = min(WARPS_A_PART, REGISTERS_A_PART // of_a_warp)
        return PARTS * warps // WARPS_A_BLOCK

    def loops(self) -> list[list[str]]:
        """Innermost ranges that a branch goes back over and that touch memory."""
        ranges = [(t, a) for a, n, t in self.code if n.startswith("BRA") and t and t < a]
        innermost = [
            r for r in ranges if not any(r != o and r[0] <= o[0] and o[1] <= r[1] for o in ranges)
        ]
        loops = [[n for a, n, _ in self.code if r[0] <= a <= r[1]] for r in innermost]
        return [names for names in loops if any(n.startswith(("LDG", "STG")) for n in names)]


def class_of(instruction: str) -> str:
    """What it is counted as; address arithmetic, moves and bits are "integer"."""
    for name, beginnings in CLASSES.items():
        if instruction.startswith(beginnings):
            return name
    return "integer"


def short(name: str) -> str:
    """A kernel's name as the sources have it: without common scopes, result and arguments."""
    name = name.replace("(anonymous namespace)::", "").replace("adamant::", "")
    name = re.sub(r"\breal::", "", name)
    return re.sub(r"\([^()]*\)$", "", name).removeprefix("void ")


def output_of(command: list[str], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return done.stdout


def demangled(text: str) -> str:
    """With all names in it as the sources have them."""
    return output_of(["c++filt"], text)


def assembled(ptx: Path, cubin: Path) -> list[Kernel]:
    """The kernels of a module, without their code."""
    command = [os.environ.get("PTXAS", "ptxas"), "-arch=sm_90", "-v", str(ptx), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{ptx}: {done.stderr}")
    kernels: list[Kernel] = []
    for line in demangled(done.stderr).splitlines():
        if found := re.search(r"Compiling entry function '(.*)' for", line):
            kernels.append(Kernel(short(found[1])))
        elif found := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            kernels[-1].spills += int(found[1]) + int(found[2])
        elif found := re.search(r"Used (\d+) registers", line):
            kernels[-1].registers = int(found[1])
    return kernels


def add_code(kernels: list[Kernel], cubin: Path) -> None:
    """Fills in the code by cuobjdump."""
    instruction = re.compile(r"\s+/\*([0-9a-f]{4,5})\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][\w.]*)(.*)")
    code: list[tuple[int, str, int | None]] = []
    for line in demangled(output_of(["cuobjdump", "-sass", str(cubin)])).splitlines():
        if found := re.search(r"Function : (.*)", line):
            code = next(k.code for k in kernels if k.name == short(found[1].strip()))
        elif found := instruction.match(line):
            target = re.search(r"0x([0-9a-f]+)\s*;", found[3]) if found[2] == "BRA" else None
            code.append((int(found[1], 16), found[2], int(target[1], 16) if target else None))


def read(files: list[Path], with_code: bool) -> list[Kernel]:
    """All kernels, by name."""
    kernels: list[Kernel] = []
    with tempfile.TemporaryDirectory() as folder:
        for ptx in files:
            cubin = Path(folder) / "module.cubin"
            of_module = assembled(ptx, cubin)
            if with_code and of_module:
                add_code(of_module, cubin)
            kernels += of_module
    return sorted(kernels, key=lambda k: k.name)


def print_rows(kernels: list[Kernel]) -> None:
    """As the page has them, less its last column."""
    for k in kernels:
        print(f"| `{k.name}` | {k.registers} | {k.spills} | {k.blocks()} | {len(k.code) or '?'} |")


def print_loops(kernels: list[Kernel]) -> None:
    """Each loop's instructions, once for all of its branches."""
    for k in kernels:
        for names in k.loops():
            counts = Counter(class_of(n) for n in names)
            counts["fp8"] = sum(n.startswith("F2FP") and "E4M3" in n for n in names)
            print(f"{k.name}: {len(names)}", dict(counts.most_common()))


def rows_of(page: Path) -> dict[str, int]:
    """Blocks by kernel, as the first table of the page has them."""
    rows = re.findall(r"^\| `([^`]+)` \| \d+ \| \d+ \| (\d+) \|", page.read_text(), re.MULTILINE)
    return {name: int(blocks) for name, blocks in rows}


def problems(kernels: list[Kernel], expected: dict[str, int]) -> list[str]:
    """Where kernels are not as the page says."""
    found = [f"{k.name}: {k.spills} bytes of spills" for k in kernels if k.spills > 0]
    for k in kernels:
        if k.name not in expected:
            found.append(f"{k.name}: the page has no row for it")
        elif k.blocks() < expected[k.name]:
            found.append(
                f"{k.name}: {k.registers} registers, {k.blocks()} blocks, not {expected[k.name]}"
            )
    names = {k.name for k in kernels}
    return found + [f"{name}: is no kernel" for name in expected if name not in names]


def spins(files: list[Path]) -> list[str]:
    """Atomics on shared memory that are loops: all of 64 bits, and compare-and-swap."""
    pattern = re.compile(r"atom\S*\.shared\S*\.(?:cas\.\w+|\w+64)")
    found = {(f.name, atomic) for f in files for atomic in pattern.findall(f.read_text())}
    return [f"{name}: {atomic}" for name, atomic in sorted(found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--check", type=Path, metavar="PAGE")
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    has_tools = all(shutil.which(tool) for tool in ("cuobjdump", "nvdisasm"))
    kernels = read(arguments.files, with_code=has_tools and arguments.check is None)
    if not kernels:
        sys.exit("no kernels")
    if arguments.check is not None:
        found = problems(kernels, rows_of(arguments.check)) + spins(arguments.files)
        sys.exit("\n".join(found) if found else 0)
    elif arguments.loops:
        print_loops(kernels)
    else:
        print_rows(kernels)


if __name__ == "__main__":
    main()
