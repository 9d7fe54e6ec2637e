"""FSDP1 (`FullyShardedDataParallel`) in the place of FSDP2.

    python -m adamant_torch --engine adamant_torch.fsdp1:FSDP1

| file | what it knows |
|---|---|
| `engine` | the verbs, and what a rank shows |
| `wrapping` | the model under FSDP1, and its mean |
| `pieces` | tensors put together of what the ranks hold of them |
| `scaling` | ShardedGradScaler and FSDP1's own clipping |
| `hello` | what is offered |
"""

from adamant_torch.fsdp1.engine import FSDP1

__all__ = ["FSDP1"]
