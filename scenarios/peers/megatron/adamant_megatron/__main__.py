"""`python -m adamant_megatron [--hybrid]`: serve requests on standard input."""

from __future__ import annotations

import sys
import warnings

from adamant_torch.__main__ import main as serve

from adamant_megatron import Engine, Hybrid


def main() -> None:
    """Serve until standard input ends. `--hybrid` takes HybridDeviceOptimizer."""
    warnings.simplefilter("ignore")  # that Transformer Engine and Apex are not here
    hybrid = "--hybrid" in sys.argv[1:]
    if hybrid:
        sys.argv.remove("--hybrid")
    serve(Hybrid if hybrid else Engine)


if __name__ == "__main__":
    main()
