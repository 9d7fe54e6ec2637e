"""adamant's program, installed by pip: bin/adamant, and share/adamant beside it."""

import os
import sys
from pathlib import Path
from typing import NoReturn

home = Path(__file__).parent


def main() -> NoReturn:
    """Becomes the program. Its reports name the command that was called, to replay them."""
    os.execv(home / "bin" / "adamant", sys.argv)
