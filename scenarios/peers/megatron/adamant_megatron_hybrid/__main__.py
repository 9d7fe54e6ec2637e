"""`python3 -m adamant_megatron_hybrid`: `adamant-megatron --hybrid`."""

import sys

from adamant_megatron.__main__ import main

sys.argv.append("--hybrid")
main()
