"""The engine in NumPy with two defects, each with an option that goes around it.

`counting`: after a second step, the first parameter is told to have taken one more. `rates`: after
a `set`, the first group is told to have twice its learning rate. Both are in what `state` says.
With OF_OTHER_RELEASE in the environment its adapter asks in each step for what is not there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "peers" / "numpy"))

from adamant_numpy.launcher import Launcher  # noqa: E402
from adamant_numpy.server import Server  # noqa: E402

Json = dict[str, Any]
OPTIONS = {"counting": ["ahead", "right"], "rates": ["twice", "right"]}


class Defective(Launcher):
    """Answers as the engine does, but for what its options say."""

    options: Json = {}
    steps = 0
    changed = False
    size = 1

    def answer(self, line: bytes) -> Json:
        """The reply to a line."""
        request: Json = json.loads(line)
        name = request["request"]
        if name == "open":
            self.options = request.pop("options", {})
            request["options"] = {}
            self.steps, self.changed = 0, False
            self.size = request["world"]["shard"] * request["world"]["replicate"]
        self.steps += name == "step"
        self.changed = self.changed or name == "set"
        reply = super().answer(json.dumps(request).encode())
        if name == "hello" and reply["outcome"] == "ok":
            reply["options"] = OPTIONS
            reply["notes"] = ["zero1 9 was not tried"] if "OF_OTHER_RELEASE" in os.environ else []
            reply.update({"known": sys.argv[1:]} if len(sys.argv) > 1 else {})
        if name == "state" and reply["outcome"] == "ok":
            self.spoil(reply["ranks"])
        if name == "step" and "OF_OTHER_RELEASE" in os.environ:
            gone = {"type": "adapter", "text": "AttributeError: no x"}
            failed = {"outcome": "error", "error": gone}
            reply = {**reply, "outcome": "error", "ranks": [failed] * self.size}
        return reply

    def spoil(self, ranks: list[Json]) -> None:
        """Change what the ranks say."""
        for rank in ranks:
            if self.steps > 1 and self.options["counting"] == "ahead":
                rank["shards"][0]["steps"] += 1
            if self.changed and self.options["rates"] == "twice":
                rank["groups"][0]["lr"] *= 2


def main() -> None:
    """Line by line, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    replies = os.dup(1)
    os.dup2(2, 1)
    Defective(0, replies, Server("none").answer).run()


if __name__ == "__main__":
    main()
