#!/usr/bin/env python3
"""The CPU's step against PyTorch's fused one, on GPT-2's tensors, in one process.

usage: cpu_step_against_torch.py LIBRARY [--threads N] [--rounds N]

LIBRARY is libadamant_cpu_step.so of a build. Both step tensors of the same shapes, by turns, and a
round's ratio is PyTorch's time over ours: 1 where they are as fast. Needs PyTorch; exits with 77,
saying so, where it cannot be imported.
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

PAUSE_SECONDS = 0.015  # idle threads go to sleep


def gpt2_shapes():
    here = os.path.dirname(os.path.abspath(__file__))
    shapes = []
    with open(os.path.join(here, "..", "models", "gpt2-124m.yaml"), encoding="utf-8") as lines:
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
        pointers = ctypes.POINTER(ctypes.c_float) * len(params)

        def addresses(tensors):
            return pointers(*(ctypes.cast(t.data_ptr(), ctypes.POINTER(ctypes.c_float)) for t in tensors))

        self.arguments = (
            ctypes.c_int(len(params)),
            addresses(params),
            addresses([p.grad for p in params]),
            addresses([m for m, _ in self.moments]),
            addresses([v for _, v in self.moments]),
            (ctypes.c_int64 * len(params))(*(p.numel() for p in params)),
        )
        self.threads = ctypes.c_int(threads)
        self.count = 0

    def step(self):
        self.count += 1
        self.step_tensors(*self.arguments, ctypes.c_int64(self.count), self.threads)


def tensors(shapes):
    generator = torch.Generator().manual_seed(7)
    params = []
    for shape in shapes:
        param = torch.randn(shape, generator=generator).requires_grad_()
        param.grad = torch.randn(shape, generator=generator) * 1e-3
        params.append(param)
    return params


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    shapes = gpt2_shapes()
    theirs_params, ours_params = tensors(shapes), tensors(shapes)
    theirs = torch.optim.AdamW(theirs_params, lr=1e-3, weight_decay=0.01, fused=True)
    ours = Ours(arguments.library, ours_params, arguments.threads)
    ratios = []
    for round_number in range(arguments.rounds + 1):
        their_seconds = timed(theirs.step)
        our_seconds = timed(ours.step)
        if round_number > 0:
            ratios.append(their_seconds / our_seconds)
    farthest = max(float((a.detach() - b.detach()).abs().max()) for a, b in zip(theirs_params, ours_params))
    quartiles = statistics.quantiles(ratios, n=4)
    print(
        f"torch {torch.__version__} fused over adamant, GPT-2, {arguments.threads} thread(s): "
        f"median {statistics.median(ratios):.3f} ({quartiles[0]:.3f} to {quartiles[2]:.3f}), "
        f"weights at most {farthest:.2g} apart after {arguments.rounds + 1} steps"
    )


if __name__ == "__main__":
    main()
