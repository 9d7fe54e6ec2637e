"""`python3 -m adamant_megatron_hybrid`: the same for HybridDeviceOptimizer."""

import warnings

from adamant_megatron import Hybrid
from adamant_torch.__main__ import main

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Hybrid)
