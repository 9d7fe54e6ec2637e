#!/usr/bin/env python3
"""The CPU's step against PyTorch's fused one and DeepSpeed's, on GPT-2's tensors, in one process.

usage: cpu_step_against_others.py LIBRARY [--bf16] [--threads N] [--rounds N]

LIBRARY is libadamant_cpu_step.so of a build. All step tensors of the same shapes, by turns, and a
round's ratio is another's time over ours: 1 where they are as fast. All numbers are fp32, or with
--bf16 all are bf16. DeepSpeed is left out where it cannot be imported; without PyTorch this exits
with 77, saying so.
"""

import argparse
import ctypes
import os
import statistics
import sys
import time

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
try:
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
    from deepspeed.ops.adam import DeepSpeedCPUAdam
except ImportError:
    DeepSpeedCPUAdam = None

PAUSE_SECONDS = 0.015  # idle threads go to sleep


def gpt2_shapes():
    here = os.path.dirname(os.path.abspath(__file__))
    shapes = []
    with open(os.path.join(here, "..", "..", "models", "gpt2-124m.yaml"), encoding="utf-8") as lines:
        for line in lines:
            if "shape:" in line:
                inside = line.split("shape:")[1].split("[")[1].split("]")[0]
                shapes.append([int(extent) for extent in inside.split(",")])
    return shapes


def timed(function):
    time.sleep(PAUSE_SECONDS)
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


class Ours:
    """The loop of the engine on tensors of its own, through plain C."""

    def __init__(self, library, params, threads):
        self.step_tensors = ctypes.CDLL(library).adamant_cpu_step
        self.step_tensors.restype = None
        self.params = params
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in params]
        pointers = ctypes.c_void_p * len(params)

        def addresses(tensors):
            return pointers(*(t.data_ptr() for t in tensors))

        self.arguments = (
            ctypes.c_int(len(params)),
            addresses(params),
            addresses([p.grad for p in params]),
            addresses([m for m, _ in self.moments]),
            addresses([v for _, v in self.moments]),
            (ctypes.c_int64 * len(params))(*(p.numel() for p in params)),
            ctypes.c_int(params[0].dtype == torch.bfloat16),
        )
        self.threads = ctypes.c_int(threads)
        self.count = 0

    def step(self):
        self.count += 1
        self.step_tensors(*self.arguments, ctypes.c_int64(self.count), self.threads)


def tensors(shapes, dtype):
    generator = torch.Generator().manual_seed(7)
    params = []
    for shape in shapes:
        param = torch.randn(shape, generator=generator).to(dtype).requires_grad_()
        param.grad = (torch.randn(shape, generator=generator) * 1e-3).to(dtype)
        params.append(param)
    return params


def others(shapes, dtype):
    """Name, parameters and optimizer of everybody who is here."""
    params = tensors(shapes, dtype)
    fused = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01, fused=True)
    found = [(f"torch {torch.__version__} fused", params, fused)]
    if DeepSpeedCPUAdam is not None:
        params = tensors(shapes, dtype)
        wide = dtype == torch.float32
        adam = DeepSpeedCPUAdam(params, lr=1e-3, weight_decay=0.01, fp32_optimizer_states=wide)
        found.append(("DeepSpeed", params, adam))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    shapes = gpt2_shapes()
    dtype = torch.bfloat16 if arguments.bf16 else torch.float32
    ours_params = tensors(shapes, dtype)
    ours = Ours(arguments.library, ours_params, arguments.threads)
    contenders = others(shapes, dtype)
    ratios = {name: [] for name, _, _ in contenders}
    for round_number in range(arguments.rounds + 1):
        our_seconds = timed(ours.step)
        for name, _, optimizer in contenders:
            their_seconds = timed(optimizer.step)
            if round_number > 0:
                ratios[name].append(their_seconds / our_seconds)
    for name, params, _ in contenders:
        farthest = max(float((a.detach() - b.detach()).abs().max()) for a, b in zip(params, ours_params))
        quartiles = statistics.quantiles(ratios[name], n=4)
        print(
            f"{name} over adamant, GPT-2 in {'bf16' if arguments.bf16 else 'fp32'}, "
            f"{arguments.threads} thread(s): median {statistics.median(ratios[name]):.3f} "
            f"({quartiles[0]:.3f} to {quartiles[2]:.3f}), "
            f"weights at most {farthest:.2g} apart after {arguments.rounds + 1} steps"
        )


if __name__ == "__main__":
    main()
