"""adamant's adapter for accelerate over FSDP2, over the seam of `adamant_torch`."""

from adamant_accelerate.engine import AccelerateEngine

__all__ = ["AccelerateEngine"]
