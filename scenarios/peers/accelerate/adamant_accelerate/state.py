"""An Accelerator on CPU ranks that uses FSDP2, which accelerate does for other devices alone.

On a machine without a device accelerate chooses `MULTI_CPU`, and a plugin for FSDP is not looked
at. Here its state is told of `MULTI_GPU` while it chooses; everything after that is accelerate's.
"""

from __future__ import annotations

import os
from functools import cache

import torch.distributed as dist
from accelerate import Accelerator, FullyShardedDataParallelPlugin, ParallelismConfig
from accelerate.state import AcceleratorState, GradientState, PartialState
from accelerate.utils import DistributedType
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy

UNIT = "Unit"  # the class of modules that are sharded by themselves


def tell_environment() -> None:
    """Set what a launcher of accelerate's would; the process group is there already."""
    rank, ranks = str(dist.get_rank()), str(dist.get_world_size())
    os.environ.update(
        {
            "RANK": rank,
            "WORLD_SIZE": ranks,
            "LOCAL_RANK": rank,
            "LOCAL_WORLD_SIZE": ranks,
            "MASTER_ADDR": "127.0.0.1",
            "OMP_NUM_THREADS": "1",
            "ACCELERATE_TORCH_DEVICE": "cpu",
            "ACCELERATE_USE_CPU": "true",
        }
    )


@cache  # a mesh makes process groups, which are kept while the process lives
def parallelism(shard: int, replicate: int) -> ParallelismConfig:
    """Return the configuration of a world of that form."""
    return ParallelismConfig(dp_replicate_size=replicate, dp_shard_size=shard)


def accelerator(
    *,
    shard: int,
    replicate: int,
    steps: int,
    policy: MixedPrecisionPolicy | None,
    mixed_precision: str,
    state_dict_type: str,
    cpu_ram_efficient_loading: bool,
) -> Accelerator:
    """Return a new Accelerator; there is one at a time in a process."""
    tell_environment()
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()
    chosen = PartialState(cpu=True)._shared_state
    chosen["distributed_type"] = DistributedType.MULTI_GPU
    if chosen["backend"] is None:  # one process
        chosen["backend"] = "gloo"
    plugin = FullyShardedDataParallelPlugin(
        fsdp_version=2,
        auto_wrap_policy="transformer_based_wrap",
        transformer_cls_names_to_wrap=[UNIT],
        mixed_precision_policy=policy,
        state_dict_type=state_dict_type,
        cpu_ram_efficient_loading=cpu_ram_efficient_loading,
        reshard_after_forward=True,
    )
    made = Accelerator(
        cpu=True,
        mixed_precision=mixed_precision,
        gradient_accumulation_steps=steps,
        fsdp_plugin=plugin,
        parallelism_config=parallelism(shard, replicate) if replicate > 1 and shard > 1 else None,
    )
    if replicate > 1 and shard == 1:  # accelerate refuses: there is nothing to shard over
        made.state.parallelism_config = parallelism(shard, replicate)
        made.state.device_mesh = replicas_alone(replicate)
    return made


@cache
def replicas_alone(replicate: int) -> DeviceMesh:
    """Return the mesh that accelerate would make if one rank were a dimension."""
    names = ("dp_replicate", "dp_shard_cp")
    return init_device_mesh("cpu", (replicate, 1), mesh_dim_names=names)
