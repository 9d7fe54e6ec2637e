"""The stub engine, but each world after the first begins with another bit in its first weight."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "client/testing"))

import stub_engine  # noqa: E402


class UnsteadyWorld(stub_engine.World):
    """Parameters that depend on how many worlds there were."""

    worlds = 0

    def __init__(self, request: stub_engine.Json) -> None:
        super().__init__(request)
        if UnsteadyWorld.worlds > 0:
            name = self.params[0]["name"]
            first, *others = self.values[name]
            self.values[name] = bytes([first ^ 1, *others])
        UnsteadyWorld.worlds += 1


if __name__ == "__main__":
    stub_engine.World = UnsteadyWorld
    stub_engine.main()
