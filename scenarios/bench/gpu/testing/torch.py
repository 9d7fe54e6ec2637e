"""In PyTorch's place for tests: it computes nothing, and notes on standard error what is called."""

import os
import sys

__version__ = "9.9"
float32, bfloat16 = "fp32", "bf16"


class Tensor:
    def __init__(self, dtype="fp32"):
        self.dtype = dtype
        self.grad = None

    def __mul__(self, _):
        return self

    def to(self, dtype):
        return Tensor(dtype)

    def bfloat16(self):
        return Tensor("bf16")

    def detach(self):
        return self

    def requires_grad_(self):
        return self


class Generator:
    def __init__(self, device):
        pass

    def manual_seed(self, seed):
        return self


def randn(numel, generator, device, dtype):
    return Tensor(dtype)


def zeros_like(tensor):
    return Tensor(tensor.dtype)


def ones(shape, device):
    return Tensor()


def called(what, tensors):
    print(what, len(tensors), tensors[0].dtype, file=sys.stderr)


def _foreach_copy_(to, source):
    called(f"copy from {source[0].dtype}", to)


def _fused_adamw_(weights, gradients, exp_avg, exp_avg_sq, max_exp_avg_sq, steps, **settings):
    assert len(gradients) == len(exp_avg) == len(exp_avg_sq) == len(steps) == len(weights)
    called("function", weights)


class optim:
    class AdamW:
        def __init__(self, weights, fused, **settings):
            assert fused and all(weight.grad is not None for weight in weights)
            self.weights = weights

        def step(self):
            called("optimizer", self.weights)


class cuda:
    class Event:
        def __init__(self, enable_timing):
            pass

        def record(self):
            pass

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return 0.25

    @staticmethod
    def is_available():
        return "FAKE_TORCH_HAS_NO_GPU" not in os.environ

    @staticmethod
    def synchronize():
        pass

    @staticmethod
    def empty_cache():
        pass
