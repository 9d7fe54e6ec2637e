"""`python3 -m adamant_torchtitan`: serve requests on standard input."""

from adamant_torch.__main__ import main
from adamant_torchtitan import TorchtitanEngine

main(TorchtitanEngine)
