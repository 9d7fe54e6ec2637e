#!/usr/bin/env python3
"""PyTorch's fused AdamW for the suite gpu_step_over_torch of `adamant-cuda bench`, by lines.

It says `torch VERSION`, or why it cannot, and answers on its standard output:

  make COMBINATION NUMEL...   made
  step optimizer              milliseconds of torch.optim.AdamW(fused=True).step()
  step function               milliseconds of torch._fused_adamw_ alone

Where the parameters are bf16 beside fp32 main weights, the gradients are cast before the step, if
they are bf16, and the parameters are cast from the main weights after it: in both ways.
"""

import sys


class Problem:
    """Tensors of one combination, and both ways to step them."""

    def __init__(self, torch, combination, numels):
        self.torch = torch
        wide = torch.float32
        weight = torch.bfloat16 if combination == "bf16" else wide
        generator = torch.Generator(device="cuda").manual_seed(7)

        def drawn(sigma, dtype):
            values = [torch.randn(n, generator=generator, device="cuda", dtype=wide) for n in numels]
            return [(value * sigma).to(dtype) for value in values]

        self.weights = drawn(0.02, weight)
        self.gradients = drawn(1e-3, weight)
        for parameter, gradient in zip(self.weights, self.gradients):
            parameter.requires_grad_()
            parameter.grad = gradient
        self.bare = [weight.detach() for weight in self.weights]  # of the same memory
        has_main = combination.startswith("bf16_main")
        self.narrow = [weight.bfloat16() for weight in self.bare] if has_main else []
        casts = combination == "bf16_main_fp32"
        self.narrow_gradients = [g.bfloat16() for g in self.gradients] if casts else []
        self.adam = torch.optim.AdamW(self.weights, lr=1e-3, weight_decay=0.1, fused=True)
        self.exp_avg = [torch.zeros_like(weight) for weight in self.bare]
        self.exp_avg_sq = [torch.zeros_like(weight) for weight in self.bare]
        self.steps = [torch.ones((), device="cuda") for _ in self.bare]

    def by_optimizer(self):
        self.adam.step()

    def by_function(self):
        self.torch._fused_adamw_(
            self.bare,
            self.gradients,
            self.exp_avg,
            self.exp_avg_sq,
            [],
            self.steps,
            lr=1e-3,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.1,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
            grad_scale=None,
            found_inf=None,
        )

    def milliseconds(self, how):
        """Of a step with its casts, by the device's clock."""
        step = {"optimizer": self.by_optimizer, "function": self.by_function}[how]
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda.synchronize()
        begin.record()
        if self.narrow_gradients:
            self.torch._foreach_copy_(self.gradients, self.narrow_gradients)
        step()
        if self.narrow:
            self.torch._foreach_copy_(self.narrow, self.bare)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)


def answer(torch, words, problem):
    """A line, and the problem of later lines."""
    if words[0] == "make":
        return "made", Problem(torch, words[1], [int(numel) for numel in words[2:]])
    return f"{problem.milliseconds(words[1]):.6f}", problem


def main():
    try:
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("it finds no GPU")
    except (ImportError, RuntimeError) as error:
        print(" ".join(str(error).split()), flush=True)
        return
    print(f"torch {torch.__version__}", flush=True)
    problem = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "make":  # the tensors of before make room
            problem = None
            torch.cuda.empty_cache()
        text, problem = answer(torch, words, problem)
        print(text, flush=True)


if __name__ == "__main__":
    main()
