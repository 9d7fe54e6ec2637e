"""`python3 -m adamant_torchao`: serve requests on standard input."""

from adamant_torch.__main__ import main
from adamant_torchao import TorchaoEngine

main(TorchaoEngine)
