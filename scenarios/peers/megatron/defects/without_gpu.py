"""For the scripts beside this one: Megatron-core in one process, on a machine without a GPU.

Megatron asks tensors whether they lie on the device and makes others there. Inside `device()` every
tensor says that it does, but for what `cpu()` made. No value is touched.
"""

import contextlib
import os
import sys
import traceback
import warnings

import torch
import torch.distributed as dist
from torch.overrides import TorchFunctionMode

warnings.simplefilter("ignore")
# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


class OnHost(torch.Tensor):
    """What `cpu()` made, and what is computed from it."""


class Stream:
    """A stream that has nothing to wait for: all work is done at once."""

    def __init__(self, *_, **__):
        pass

    def wait_stream(self, _):
        pass

    def record_event(self):
        return self

    def wait(self, _=None):
        pass

    def synchronize(self):
        pass


torch.cuda.Stream = Stream
torch.cuda.current_stream = lambda _=None, one=Stream(): one  # noqa: B008
torch.cuda.stream = lambda _: contextlib.nullcontext()
torch.cuda.current_device = lambda: torch.device("cpu")
torch.cuda.synchronize = lambda *_: None


class device(TorchFunctionMode):  # noqa: N801 (it reads as a place)
    """Where tensors say that they lie on the device."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if str(kwargs.get("device")).startswith("cuda"):
            kwargs["device"] = "cpu"
        kwargs.pop("pin_memory", None)
        name = getattr(func, "__name__", "")
        if func == torch.Tensor.is_cuda.__get__:
            return not isinstance(args[0], OnHost)
        if name == "type" and len(args) == 1 and not kwargs:
            return func(*args).replace("torch.", "torch.cuda.", 1)
        if name == "cpu" or (name == "to" and args[1:] == ("cpu",)):
            return args[0].detach().clone().as_subclass(OnHost)
        if name == "cuda" or (name == "to" and args[1:] == ("cuda",)):
            return args[0].detach().clone().as_subclass(torch.Tensor)
        if name == "pin_memory":
            return args[0]
        return func(*args, **kwargs)


def join():
    """Enter a process group of one rank, and Megatron's own."""
    from megatron.core import parallel_state

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    parallel_state.initialize_model_parallel(create_gloo_process_groups=False)


def train(shapes):
    """Return a bf16 model and its DistributedOptimizer after a step with gradients of ones."""
    from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
    from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
    from megatron.core.transformer.module import MegatronModule
    from megatron.core.transformer.transformer_config import TransformerConfig

    config = TransformerConfig(num_layers=1, hidden_size=1, num_attention_heads=1)
    module = MegatronModule(config)
    for name, shape in shapes.items():
        value = torch.ones(shape, dtype=torch.bfloat16)
        module.register_parameter(name, torch.nn.Parameter(value))
    module.forward = lambda: sum(p.float().sum() for p in module.parameters())
    model = DistributedDataParallel(
        config,
        DistributedDataParallelConfig(grad_reduce_in_fp32=True, use_distributed_optimizer=True),
        module,
    )
    optimizer = get_megatron_optimizer(
        OptimizerConfig(
            optimizer="adam", lr=0.1, min_lr=0.0, bf16=True, use_distributed_optimizer=True
        ),
        [model],
        config_overrides={},
        use_gloo_process_groups=False,
    )
    model.zero_grad_buffer()
    model().backward()
    model.finish_grad_sync()
    optimizer.step()
    return model, optimizer


def end(expected, found, right):
    """Print both; end with status 0 where they are the same, else 1."""
    print(f"expected: {expected}\nfound:    {found}")
    sys.stdout.flush()
    os._exit(0 if right else 1)
