"""Consolidation to Hugging Face files of a state dict without tensors fails.

A model whose tensors have no elements, which Hugging Face files do not hold, comes to that.
"""

import sys
import tempfile

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter as Writer


def ending(folder: str, consolidate: bool) -> str:
    """Return how a save of nothing ends."""
    writer = Writer(folder, save_distributed=True, enable_consolidation=consolidate)
    try:
        dcp.save({}, storage_writer=writer)
    except (CheckpointException, ValueError) as error:
        return str(error).strip().splitlines()[-1]
    return "a save"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as consolidated:
        expected, actual = ending(plain, False), ending(consolidated, True)
        print(f"expected: {expected}\nactual:   {actual}")
        sys.exit(actual != expected)
