"""GradScaler judges each optimizer apart: of two, one may step and the other skip.

This is documented and meant so. Parameters that one optimizer would step or skip together part.
"""

import sys

import torch

weights = [torch.nn.Parameter(torch.ones(1)) for _ in range(2)]
optimizers = [torch.optim.SGD([weight], lr=0.5) for weight in weights]
scaler = torch.amp.GradScaler("cpu")
scaler.scale(sum(weight.sum() for weight in weights)).backward()
weights[0].grad.fill_(float("inf"))
for optimizer in optimizers:
    scaler.step(optimizer)
scaler.update()
expected, actual = [1.0, 1.0], [weight.item() for weight in weights]
print(f"weights after a step with an infinity: expected {expected}, actual {actual}")
sys.exit(actual != expected)
