"""`python -m adamant_deepspeed [--engine MODULE:CLASS]`: serve requests on standard input."""

from adamant_deepspeed import surroundings
from adamant_torch.__main__ import main

if __name__ == "__main__":
    surroundings.prepare()
    from adamant_deepspeed.engine import ZeroEngine  # DeepSpeed reads its environment

    main(ZeroEngine)
