"""adamant's adapter for torchao's low-bit optimizers, over the seam of `adamant_torch`."""

from adamant_torchao.engine import (
    AsShippedEngine,
    CompiledEngine,
    StochasticEngine,
    TorchaoEngine,
)

__all__ = [
    "AsShippedEngine",
    "CompiledEngine",
    "StochasticEngine",
    "TorchaoEngine",
]
