"""adamant's adapter for torchtitan's checkpoints, over the seam of `adamant_torch`."""

from adamant_torchtitan.engine import TorchtitanEngine

__version__ = "0.1.0"

__all__ = ["TorchtitanEngine", "__version__"]
