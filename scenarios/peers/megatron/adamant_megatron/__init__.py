"""adamant's adapter for Megatron-core."""

from adamant_megatron import stand_ins

stand_ins.install()  # before Megatron looks for CUDA

from adamant_megatron.engine import Engine  # noqa: E402
from adamant_megatron.hybrid import Hybrid  # noqa: E402

__all__ = ["Engine", "Hybrid"]
