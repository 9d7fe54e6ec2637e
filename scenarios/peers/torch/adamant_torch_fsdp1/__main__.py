"""`python3 -m adamant_torch_fsdp1`: serve requests on standard input."""

from adamant_torch.__main__ import main
from adamant_torch.fsdp1 import FSDP1

main(FSDP1)
