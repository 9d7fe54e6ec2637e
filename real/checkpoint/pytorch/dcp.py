"""PyTorch DCP's side of the checkpoint tests.

  dcp.py save DIR RANKS [PREFIX]   FSDP2 on RANKS processes saves a small model and its Adam state through
                                   DCP's Hugging Face writer, with PREFIX before every key; beside the
                                   files, each whole tensor's bytes as <key>.bin
  dcp.py load DIR RANKS            DCP's Hugging Face reader loads a checkpoint of adamant's into tensors
                                   sharded over RANKS processes and compares each whole tensor with
                                   DIR/<key>.bin, a slash in the key being a dot; prints what differs and
                                   ends with 1
  dcp.py probe                     ends with 0 where all that is needed can be imported

Needs torch 2.13 and safetensors; no GPU.
"""

import json
import pathlib
import sys
import tempfile

SHAPES = {"embed": (7, 3), "one": (1, 2), "head": (37,)}


def imports():
    import safetensors  # noqa: F401
    import torch.distributed.checkpoint.hf_storage  # noqa: F401
    import torch.distributed.fsdp  # noqa: F401


def content(tensor):
    """The bytes of a tensor, row-major."""
    import torch

    return tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()


def whole(tensor):
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def save(rank, ranks, directory, prefix, meeting):
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
    from torch.distributed.checkpoint.state_dict import get_state_dict
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    torch.manual_seed(7)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, shape in SHAPES.items():
                setattr(self, name, torch.nn.Parameter(torch.randn(shape)))

        def forward(self):
            return sum((parameter * parameter).sum() for parameter in self.parameters())

    model = Model()
    fully_shard(model, mesh=init_device_mesh("cpu", (ranks,)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model().backward()
        optimizer.step()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    tensors = {f"{prefix}model.{name}": value for name, value in model_state.items()}
    for name, entries in optimizer_state["state"].items():
        for what, value in entries.items():
            tensors[f"{prefix}optim.state.{name}.{what}"] = value
    dcp.save(
        tensors,
        storage_writer=HuggingFaceStorageWriter(directory, save_distributed=True),
    )
    for key, value in tensors.items():
        value = whole(value)
        if rank == 0:
            pathlib.Path(directory, key.removeprefix(prefix) + ".bin").write_bytes(content(value))
    dist.destroy_process_group()


def load(rank, ranks, directory, meeting):
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    mesh = init_device_mesh("cpu", (ranks,))
    types = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
    body = json.loads(pathlib.Path(directory, "adamant.json").read_text())["body"]
    tensors = {}
    for entry in body["tensors"]:
        empty = torch.full(entry["shape"], 99.0, dtype=types[entry["dtype"]])
        sharded = len(entry["shape"]) > 0
        tensors[entry["key"]] = distribute_tensor(empty, mesh, [Shard(0)]) if sharded else empty
    dcp.load(tensors, storage_reader=HuggingFaceStorageReader(directory))
    wrong = 0
    for key, value in tensors.items():
        actual = content(whole(value))
        expected = pathlib.Path(directory, key.replace("/", ".") + ".bin").read_bytes()
        if rank == 0 and actual != expected:
            print(f"{key}: {actual.hex()}, expected {expected.hex()}")
            wrong += 1
    dist.destroy_process_group()
    sys.exit(1 if wrong else 0)


def main():
    imports()
    if sys.argv[1] == "probe":
        return
    import torch.multiprocessing

    verb, directory, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as scratch:
        meeting = str(pathlib.Path(scratch, "meeting"))
        if verb == "save":
            prefix = sys.argv[4] if len(sys.argv) > 4 else ""
            function, arguments = save, (ranks, directory, prefix, meeting)
        else:
            function, arguments = load, (ranks, directory, meeting)
        torch.multiprocessing.spawn(function, args=arguments, nprocs=ranks)


if __name__ == "__main__":
    main()
