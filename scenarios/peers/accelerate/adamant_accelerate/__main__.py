"""`python3 -m adamant_accelerate`: serve requests on standard input."""

from adamant_accelerate import AccelerateEngine
from adamant_torch.__main__ import main

main(AccelerateEngine)
