"""`python -m adamant_deepspeed [--engine MODULE:CLASS]`: serve requests on standard input."""

from __future__ import annotations

import os
import sys

from adamant_torch import __main__ as adapter

from adamant_deepspeed import surroundings

ENGINE = "adamant_deepspeed.engine:ZeroEngine"


def main() -> None:
    """Serve until standard input ends; without `--engine`, DeepSpeed as it is."""
    surroundings.prepare()
    if not any(argument.split("=")[0] == "--engine" for argument in sys.argv[1:]):
        sys.argv[1:] = ["--engine", ENGINE, *sys.argv[1:]]
    adapter.main()
    sys.stderr.flush()
    os._exit(0)  # what DeepSpeed imports takes a second to take down


if __name__ == "__main__":
    main()
