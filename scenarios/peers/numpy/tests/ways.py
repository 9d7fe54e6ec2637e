"""`ways.py --way NAME [--mistake NAME]`: engines that are right in different ways, or wrong in one.

They are there to be accused of nothing, and with a mistake to be caught. What each does is said in
formulas.py. Needs this folder's parent in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import os
import signal

from adamant_numpy import server
from adamant_numpy.launcher import Launcher
from adamant_numpy.zero1 import Rank
from formulas import WAYS
from way import MISTAKES, Way


class Server(server.Server):
    """Shows gradients in the type that they have, and whether they bear the loss scale."""

    world_: Way | None

    def type_of(self, kind: str) -> str:
        """Of gradients their own."""
        assert self.world_ is not None
        return self.world_.kept_in() if kind == "gradient" else super().type_of(kind)

    def numbers(self, rank: Rank) -> server.Json:
        """With what is there of in-place engines alone."""
        assert self.world_ is not None
        reply = super().numbers(rank)
        if self.world_.holds_in_place:
            reply["scale"]["gradients_unscaled"] = self.world_.unscaled
        return reply


def offer(way: type[Way]) -> None:
    """HELLO of the engine, as far as these formulas go."""
    if way.arithmetic == "te":
        return
    states = ["fp32"] if way.arithmetic.startswith("torch") else ["fp32", "bf16"]
    precision = {"exp_avg": states, "exp_avg_sq": states, "grad": ["fp32", "bf16"]}
    mains = ["fp32"] if way.arithmetic.startswith("torch") else ["fp32", "none"]
    server.HELLO["arithmetic"] = way.arithmetic
    server.HELLO["capabilities"].update(
        precisions=[
            {"param": ["fp32"], "main": ["none"], **precision},
            {"param": ["bf16"], "main": mains, **precision},
        ],
        gradients_in_place=way.holds_in_place,
        unscales_in_place=way.holds_in_place,
        promises=["repeated", "resumed"],
    )


def main() -> None:
    """Answers requests until standard input ends."""
    options = argparse.ArgumentParser(prog="ways", description=__doc__)
    options.add_argument("--way", choices=WAYS, required=True)
    options.add_argument("--mistake", choices=MISTAKES, default="none")
    chosen = options.parse_args()
    way = WAYS[chosen.way]
    way.mistake = chosen.mistake
    vars(server)["World"] = way
    offer(way)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    replies = os.dup(1)
    os.dup2(2, 1)
    Launcher(0, replies, Server().answer).run()


if __name__ == "__main__":
    main()
