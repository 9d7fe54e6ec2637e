"""Records scenarios/engine.session.jsonl: `python3 scenarios/peers/numpy/tests/record_session.py`.

Every request at least once, an error, a crash, and a load in a new job on another world. Lines
alternate: request, reply.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from conversation import PARAMS, Conversation, Json

SESSION = Path(__file__).parents[4] / "scenarios" / "engine.session.jsonl"
SHOWN_AS = "/tmp/adamant"  # what stands for the scratch directory of the recording


def recorded() -> list[Json]:
    """All lines, in their order."""
    lines: list[Json] = []
    with tempfile.TemporaryDirectory() as scratch:
        with Conversation(Path(scratch)) as talk:
            talk.log = lines.append
            _converse(talk, scratch)
        return [json.loads(json.dumps(line).replace(scratch, SHOWN_AS)) for line in lines]


def _converse(talk: Conversation, scratch: str) -> None:
    talk.ok("hello", version=1, timeout_seconds=20)
    talk.ask("step")  # an error: no world is open
    optimizer = {"mode": "adamw", "step_counter": "group", "clip": 2.0, "loss_scale": 8.0}
    talk.open(optimizer=optimizer)
    talk.backward(loss_scale=8.0)
    talk.ok("clip")
    talk.ok("step")
    talk.ok("zero_grad", set_to_none=True)
    talk.ok("set", groups=[{"name": "", "lr": 0.0625}], clip=None, loss_scale="none")
    talk.state(whole=False)
    talk.ok("save", directory=f"{scratch}/a")
    talk.train(without=["b"])
    talk.ask("save", directory=f"{scratch}/a", crash={"rank": 1, "operation": 2})
    talk.open(shard=4, fill=-77.0, params=PARAMS[::-1], anew=True)
    talk.ok("load", directory=f"{scratch}/a", anew=True)
    overflow = {"rank": 2, "name": "a.weight", "index": 9, "value": "inf"}
    talk.backward(4, overflow=overflow)
    talk.ok("step")
    talk.state()
    talk.ask("load", directory=f"{scratch}/b")  # an error: there is no such checkpoint
    types = {"param": "fp8_current", "main": "fp32", "exp_avg": "fp8", "exp_avg_sq": "fp16"}
    talk.open(precision={**types, "grad": "fp32", "state_scale": "local"})
    talk.train()
    talk.state()
    talk.ok("close")


def main() -> None:
    """Writes the file."""
    SESSION.write_text("".join(json.dumps(line) + "\n" for line in recorded()))


if __name__ == "__main__":
    main()
