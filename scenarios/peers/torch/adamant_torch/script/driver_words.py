"""All that the lines of a script that drives an engine's class may name."""
# ruff: noqa: F401

import os
import shutil
import sys
from math import inf, nan
from pathlib import Path

import torch

from adamant_torch.driving import Driver, Failed, failures_end_with
from adamant_torch.shown import (
    digests,
    element,
    failure,
    flip,
    found,
    group,
    header,
    is_like,
    rows,
    shard,
    single,
)
