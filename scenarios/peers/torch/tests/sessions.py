"""Recorded sessions of PyTorch's own engine, for tests of the scripts that are made of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from adamant_torch.protocol import Message

ONES = {"shape": [2], "values": [1.0, 1.0]}
STATE = {"request": "state", "fields": {"prefix": "$HERE/state", "whole": False}}


def opened(**changed: Any) -> Message:
    """Return an `open` of one parameter on one rank."""
    group = {"name": "", "lr": 0.5, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.0}
    fields = {
        "world": {"shard": 1, "replicate": 1},
        "layout": "fsdp2",
        "microbatches": 1,
        "params": [{"name": "w", "shape": [2], "group": 0, "unit": 0}],
        "groups": [{**group, "bias_correction": True}],
        "optimizer": {
            **{"mode": "adamw", "step_counter": "parameter"},
            **{"clip": None, "loss_scale": "none"},
        },
        "precision": dict.fromkeys(("param", "grad", "exp_avg", "exp_avg_sq"), "fp32")
        | {"main": "none"},
        "options": {"implementation": "single"},
        "initial": "$HERE/initial-0",
    }
    return {"request": "open", "fields": fields | changed}


def trained(gradients: str) -> list[Message]:
    """Return an iteration with these gradients, and a look that shows nothing."""
    fields = {"gradients": [f"$HERE/{gradients}"], "without": [], "loss_scale": 1.0}
    return [
        {"request": "backward", "fields": fields},
        {"request": "step", "fields": {}},
        {"request": "zero_grad", "fields": {"set_to_none": True}},
        STATE,
    ]


def session(requests: list[Message], **shows: Any) -> Message:
    """Return a session of PyTorch's engine that is shown by the last request."""
    hello = {"request": "hello", "fields": {"version": 1, "timeout_seconds": 15}}
    number = len(requests)
    return {
        "adamant_session": 1,
        "engine": "torch",
        "versions": {"torch": "2"},
        "engine_class": {"module": "adamant_torch.engine", "name": "Engine"},
        "options": {"implementation": ["single", "foreach", "fused"]},
        "command": "false",
        "seconds": 60,
        "shows": {"kind": "value", "request": number, "place": "w[0]", **shows},
        "files": {
            "initial-0": {"w": ONES},
            "gradients-0": {"w": ONES},
            "gradients-1": {"w": {"shape": [2], "values": [3.0, "-inf"]}},
        },
        "requests": [hello, *requests],
    }


def of_value(expected: Any, files: Message | None = None) -> Message:
    """Return a session of one step, after which w[0] is 0.5."""
    actual = {"after": 5, "rank": 0, "look": "number", "of": "local/w", "index": 0}
    found = session(
        [opened(), *trained("gradients-0")],
        expected=expected,
        number=True,
        sides={"actual": actual},
    )
    found["files"].update(files or {})
    return found


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "x.py").write_text(text)
    return subprocess.run(
        [sys.executable, "x.py"], cwd=folder, capture_output=True, text=True, check=False
    )
