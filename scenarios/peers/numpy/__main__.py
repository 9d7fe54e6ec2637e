"""`python3 scenarios/peers/numpy [--bug NAME]`: the same where it is not installed."""

from adamant_numpy.__main__ import main

main()
