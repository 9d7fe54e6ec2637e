"""`python3 -m adamant_megatron_fsdp`: serve requests on standard input."""

from adamant_megatron_fsdp import MegatronFsdpEngine
from adamant_torch.__main__ import main

main(MegatronFsdpEngine)
