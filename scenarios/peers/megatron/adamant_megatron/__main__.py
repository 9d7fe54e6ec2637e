"""`python3 -m adamant_megatron`: serve requests on standard input."""

import warnings

from adamant_megatron import Engine
from adamant_torch.__main__ import main

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that Transformer Engine and Apex are not here
    main(Engine)
