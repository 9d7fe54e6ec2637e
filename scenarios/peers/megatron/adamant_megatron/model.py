"""The model under test in Megatron's clothes: parameters, a loss whose gradient is given, DDP.

The loss is the sum of `parameter * x`, so the gradient of each parameter is `x` exactly, and it
goes through the real buffers and the real reduce-scatter.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
from megatron.core.transformer.module import MegatronModule
from megatron.core.transformer.transformer_config import TransformerConfig
from torch import nn

from adamant_torch.model import DTYPES, module_name
from adamant_torch.requests import Opening

BUCKETS = {"one": None, "small": 1}  # elements after which Megatron begins another bucket


class Model(MegatronModule):  # type: ignore[misc]
    """All parameters, registered in the scenario's order, by names in which dots are slashes."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config=config)

    def forward(self, gradients: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return a loss whose gradient by each parameter named is the tensor given for it.

        The product is fp32, so that a loss scale meets `x` there and the gradient is rounded to
        the parameter's type once.
        """
        own = dict(self.named_parameters())
        parts = [(own[module_name(name)].float() * x).sum() for name, x in gradients.items()]
        return torch.stack(parts).sum()


def build(opening: Opening, initial: Mapping[str, torch.Tensor]) -> Model:
    """Return the model with the scenario's initial values, rounded to the parameters' type."""
    config = TransformerConfig(
        num_layers=1,
        hidden_size=1,
        num_attention_heads=1,
        # Sums and no division: Megatron then leaves the mean to whoever counts tokens.
        calculate_per_token_loss=not averages(opening),
    )
    model = Model(config)
    dtype = DTYPES[opening.precision.param]
    for param in opening.params:
        value = initial[param.name].reshape(param.shape).to(dtype).clone()
        model.register_parameter(module_name(param.name), nn.Parameter(value))
    return model


def averages(opening: Opening) -> bool:
    """Return whether Megatron's own average over ranks is the mean over the microbatches.

    It is where each rank is a microbatch and one collective divides once. With replicas Megatron
    averages twice, which rounds twice.
    """
    return opening.microbatches == opening.ranks and opening.replicate == 1


def distribute(model: Model, opening: Opening) -> DistributedDataParallel:
    """Return the model in Megatron's DDP: its buffers of parameters and of gradients."""
    bucket = BUCKETS[opening.options["buckets"]]
    config = DistributedDataParallelConfig(
        grad_reduce_in_fp32=opening.precision.grad == "fp32",
        # Megatron makes several buckets only where reductions overlap with the backward.
        overlap_grad_reduce=bucket is not None,
        bucket_size=bucket,
        use_distributed_optimizer=True,
        num_distributed_optimizer_instances=opening.replicate,
        average_in_collective=averages(opening),
    )
    return DistributedDataParallel(model.config, config, model)
