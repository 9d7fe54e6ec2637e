"""The engine in NumPy with a defect, and with an option that it ignores.

No step corrects its bias. With `order: any` a world says that its operations have an order of their
own, so the same wrong number breaks another law; it computes what it computes without.
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
PLAIN = [{"param": ["fp32"], "main": ["none"], "exp_avg": ["fp32"], "exp_avg_sq": ["fp32"],
          "grad": ["fp32"]}]  # fmt: skip


class Ignoring(Launcher):
    """Answers as the engine does, but for what it says of its arithmetic."""

    def answer(self, line: bytes) -> Json:
        """The reply to a line."""
        request: Json = json.loads(line)
        options: Json = request.get("options", {})
        if request["request"] == "open":
            request["options"] = {}
        reply = super().answer(json.dumps(request).encode())
        if request["request"] == "hello" and reply["outcome"] == "ok":
            capabilities = {**reply["capabilities"], "precisions": PLAIN}
            reply = {**reply, "capabilities": capabilities, "options": {"order": ["fixed", "any"]}}
        if options.get("order") == "any":
            reply["arithmetic"] = "interval"
        return reply


def main() -> None:
    """Line by line, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    replies = os.dup(1)
    os.dup2(2, 1)
    Ignoring(0, replies, Server("no_bias_correction").answer).run()


if __name__ == "__main__":
    main()
