"""`python -m adamant_deepspeed [--engine MODULE:CLASS]`: serve requests on standard input."""

from __future__ import annotations

from adamant_torch.__main__ import main as serve

from adamant_deepspeed import surroundings


def main() -> None:
    """Serve until standard input ends; without `--engine`, DeepSpeed as it is."""
    surroundings.prepare()
    from adamant_deepspeed.engine import ZeroEngine  # DeepSpeed reads its environment

    serve(ZeroEngine)


if __name__ == "__main__":
    main()
