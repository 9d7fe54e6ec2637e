"""`python3 -m adamant_torchao_as_shipped`: serve requests on standard input."""

from adamant_torch.__main__ import main
from adamant_torchao import AsShippedEngine

main(AsShippedEngine)
