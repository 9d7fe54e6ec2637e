"""The engine in NumPy, but every load is refused: its checkpoints are damaged, it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "numpy"
DAMAGED = {"type": "damaged_checkpoint", "text": "index.json is not what was written"}


def main() -> None:
    """Hand on all other requests, line by line, until there are no more."""
    with subprocess.Popen(
        [sys.executable, str(ENGINE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        for line in sys.stdin:
            request = json.loads(line)
            if request.get("request") == "load":
                refusal = {"outcome": "error", "error": DAMAGED, "holds": True}
                print(json.dumps({"id": request["id"], **refusal}), flush=True)
                continue
            print(line, end="", file=engine.stdin, flush=True)
            print(engine.stdout.readline(), end="", flush=True)
        engine.stdin.close()


if __name__ == "__main__":
    main()
