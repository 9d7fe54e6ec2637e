"""Adding weight decay to a gradient in bf16 rounds otherwise in the elements beyond whole vectors.

`Adam` with weight_decay calls `grad.add(param, alpha=weight_decay)`. A rank's rows end where the
world says, so the world decides about the bits of moments and weights.
"""

import sys

import torch

torch.manual_seed(0)
rows, of_rank_0 = 40, 20
differ = 0
for _ in range(100):
    gradient, weight = torch.randn(rows).bfloat16(), torch.randn(rows).bfloat16()
    one_rank = gradient.add(weight, alpha=0.01)
    parts = zip(gradient.split(of_rank_0), weight.split(of_rank_0), strict=True)
    two_ranks = torch.cat([g.add(w, alpha=0.01) for g, w in parts])
    differ += int((one_rank != two_ranks).sum())
print("elements that depend on the number of ranks, of 4000: expected 0")
print(f"elements that depend on the number of ranks, of 4000: actual   {differ}")
sys.exit(1 if differ else 0)
