"""`python -m adamant_deepspeed.build`: compile DeepSpeed's CPU Adam into this environment.

Takes some two minutes the first time. Ends with 0 also where it fails: the adapter then offers
PyTorch's Adam alone, and says why.
"""

from __future__ import annotations

import sys

from adamant_deepspeed import surroundings


def main() -> None:
    """Compile, and say why it failed."""
    surroundings.prepare()
    reason = surroundings.compile_step()
    print(f"adamant_deepspeed: {reason or surroundings.library()}", file=sys.stderr)


if __name__ == "__main__":
    main()
