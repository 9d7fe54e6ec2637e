"""All that the lines of a script in plain PyTorch may name, by the names that they use."""
# ruff: noqa: F401

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from math import inf, nan
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

from adamant_torch.around import (
    by_name,
    by_position,
    completed,
    in_types_of_file,
    keeping_moments,
    make_gradients,
    make_missing_states,
    names_in_order,
    step_in_type_of_moments,
    with_steps_of_shape,
    without_empty,
)
from adamant_torch.checkpoint import (
    allocate,
    by_helpers,
    set_by_helpers,
    step_without_effect,
    tensors_of,
)
from adamant_torch.listing import Reader, Writer
from adamant_torch.model import (
    Nested,
    Unit,
    divide_by_factor,
    divide_by_hook,
    shard_units,
    units_of,
)
from adamant_torch.scale import NEVER, LocalShards, rescale, update
from adamant_torch.script.parts import exit_codes
from adamant_torch.shown import digests, flip
