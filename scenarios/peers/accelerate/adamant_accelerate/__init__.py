"""adamant's adapter for accelerate over FSDP2, over the seam of `adamant_torch`."""

from adamant_accelerate.engine import AccelerateEngine

__version__ = "0.1.0"

__all__ = ["AccelerateEngine", "__version__"]
