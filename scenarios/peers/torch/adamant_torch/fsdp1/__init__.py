"""FSDP1 (`FullyShardedDataParallel`) in the place of FSDP2.

    python -m adamant_torch --engine adamant_torch.fsdp1:FSDP1

| file | what it knows |
|---|---|
| `engine` | what is offered, the verbs, and what a rank shows |
| `wrapping` | the model under FSDP1, and its mean |
| `scaling` | ShardedGradScaler and FSDP1's own clipping |
"""

from adamant_torch.fsdp1.engine import FSDP1

__all__ = ["FSDP1"]
