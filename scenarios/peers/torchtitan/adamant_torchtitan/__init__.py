"""adamant's adapter for torchtitan's checkpoints, over the seam of `adamant_torch`."""

from adamant_torchtitan.engine import TorchtitanEngine

__all__ = ["TorchtitanEngine"]
