"""Engines that are right in different ways are accused of nothing, and their mistakes are.

Some dozen cases each; README.md has what larger numbers gave.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from formulas import WAYS
from rounding import fma
from way import MISTAKES

HERE = Path(__file__).parent
BUILT = str(HERE.parents[3] / "build/dev/adamant")
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or BUILT
needs_program = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason="there is no program: build it, or name it by ADAMANT"
)

# Two ranks, a norm that clips, decay, and a rate that changes: each mistake shows in it.
SCENARIO = """
adamant: 1
name: two rates
seed: 3
world: {shard: 2}
params: [{name: w, shape: [6, 4]}]
optimizer: {clip: 0.003}
gradients: normal
program: [{train: 3}, {set: {lr: 5.0e-4}}, {train: 1}]
"""


def adamant(scratch: Path, command: str, *flags: str) -> tuple[int, str]:
    """Exit status and report of the program with one of the engines."""
    words = [PROGRAM, *command.split(), "--jobs", "1", "--quiet", "--engine"]
    engine = f"exec:{sys.executable} {HERE / 'ways.py'} {' '.join(flags)}"
    path = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run([*words, engine], cwd=scratch, capture_output=True, text=True, env=path)
    return done.returncode, done.stdout + done.stderr


@needs_program
@pytest.mark.parametrize("way", WAYS)
def test_what_is_right_is_accused_of_nothing(tmp_path: Path, way: str) -> None:
    """Whatever the order of its operations."""
    status, report = adamant(tmp_path, "fuzz --cases 60 --seed 5 --out found", "--way", way)
    assert status == 0, report


@needs_program
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("way", WAYS)
def test_a_mistake_is_seen_in_every_arithmetic(tmp_path: Path, way: str, mistake: str) -> None:
    """By its values, where there is one."""
    (tmp_path / "rates.yaml").write_text(SCENARIO)
    status, report = adamant(tmp_path, "run rates.yaml", "--way", way, "--mistake", mistake)
    assert (status, "values." in report) == ((0, False) if mistake == "none" else (1, True)), report


def test_a_fused_multiply_add_rounds_once() -> None:
    """Sums that cancel, and ones that lie beside the middle of two numbers, among them."""
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(3000).astype(np.float32) for _ in range(2))
    near = 1 + random.integers(-3, 4, 3000).astype(np.float32) * np.float32(2**-24)
    for c in (-(a * b) * near, (a * b) * np.float32(2**-25), random.standard_normal(3000)):
        addends = c.astype(np.float32)
        for x, y, z, found in zip(a, b, addends, fma(a, b, addends), strict=True):
            exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
            others = (np.nextafter(found, np.float32(s)) for s in (-np.inf, np.inf))
            off = abs(Fraction(float(found)) - exact)
            assert all(off <= abs(Fraction(float(other)) - exact) for other in others)
