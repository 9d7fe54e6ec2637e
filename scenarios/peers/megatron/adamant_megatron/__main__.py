"""`python -m adamant_megatron [--hybrid]`: serve requests on standard input."""

from __future__ import annotations

import os
import sys
import warnings

from adamant_torch.__main__ import main as serve


def main() -> None:
    """Serve until standard input ends. `--hybrid` takes HybridDeviceOptimizer."""
    warnings.simplefilter("ignore")  # that Transformer Engine and Apex are not here
    hybrid = "--hybrid" in sys.argv[1:]
    sys.argv[1:] = ["--engine", f"adamant_megatron:{'Hybrid' if hybrid else 'Engine'}"]
    serve()
    os._exit(0)  # what Megatron imports takes seconds to take down, and nothing of it is kept


if __name__ == "__main__":
    main()
