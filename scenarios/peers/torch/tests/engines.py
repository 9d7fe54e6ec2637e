"""Engines that go wrong, for tests of the launcher."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping

import torch
import torch.distributed as dist

from adamant_torch import Engine
from adamant_torch.requests import Overflow


class FailsOnRankOne(Engine):
    """Raises on one rank while the others go into a collective."""

    def step(self) -> bool:
        """Fail on rank 1; gather on the others."""
        if self.rank == 1:
            raise RuntimeError("first line\nrank one does not want to")
        self.parameters["a.weight"].full_tensor()  # type: ignore[attr-defined]
        return True


class KnowsNothing(Engine):
    """Has no defects that are known."""

    @classmethod
    def known(cls) -> None:
        """Return no file."""
        return None


class Hangs(Engine):
    """Never answers a step on rank 1."""

    def step(self) -> bool:
        """Sleep longer than anyone waits."""
        if self.rank == 1:
            time.sleep(3600)
        return True


class Dies(Engine):
    """Ends in a step on rank 1."""

    def step(self) -> bool:
        """Die of a signal."""
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        return True


class Exits(Engine):
    """Leaves in a step on rank 1."""

    def step(self) -> bool:
        """Exit with a status."""
        if self.rank == 1:
            os._exit(7)
        return True


class Prints(Engine):
    """Prints where replies go."""

    def step(self) -> bool:
        """Print, from Python and from below it."""
        print("noise")
        os.write(1, b"more noise\n")
        return True


class RefusesInTheMiddle(Engine):
    """Every rank refuses a load, and rank 0 after it has begun a collective."""

    def load(self, _: str) -> list[str]:
        """Refuse."""
        if self.rank == 0:
            dist.all_reduce(torch.ones(1), async_op=True)
        raise RuntimeError("no")


class RefusesInTheMiddleOfItsOwn(Engine):
    """The same in a process group that the engine made for itself."""

    def load(self, _: str) -> list[str]:
        """Refuse."""
        group = dist.new_group()
        if self.rank == 0:
            dist.all_reduce(torch.ones(1), group=group, async_op=True)
        raise RuntimeError("no")


class PartsReplicas(Engine):
    """Moves the weights of the second replica alone."""

    @torch.no_grad()
    def step(self) -> bool:
        """Step, and add on one side of the mesh."""
        applied = super().step()
        if self.mesh.ndim == 2 and self.mesh.get_local_rank("replicate") == 1:
            for parameter in self.parameters.values():
                parameter.to_local().add_(0.25)  # type: ignore[attr-defined]
        return applied


class LeavesOutACollective(Engine):
    """Gathers and reduces on all ranks but the second."""

    def backward(
        self, gradients: Mapping[str, torch.Tensor], without: list[str], overflow: Overflow | None
    ) -> None:
        """Leave the others waiting."""
        if self.rank != 1:
            super().backward(gradients, without, overflow)
