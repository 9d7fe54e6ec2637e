"""`python3 -m adamant_megatron_fsdp_as_it_is`: serve requests on standard input."""

from adamant_megatron_fsdp import AsItIs
from adamant_torch.__main__ import main

main(AsItIs)
