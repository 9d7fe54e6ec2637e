#!/usr/bin/env python3
"""Looks like adamant-cuda on a machine with a GPU, or on one of which it says FAKE_LACKS.

FAKE_STARTS names a file that gets a line a command. FAKE_STATUS_OF_command is what it ends with,
FAKE_FULL_AT_command a file of results whose next version finds the disk full.
"""

import json
import os
import pathlib
import signal
import sys
import time

GPU = {"count": 1, "name": "NVIDIA H200", "compute_capability": "9.0", "driver_cuda": "13.1"}


def after(option):
    return sys.argv[sys.argv.index(option) + 1]


def document(command):
    if command == "doctor":
        machine = {"adamant": "0.1.0", "machine": {"built by": "g++ 12"}, "gpus": GPU}
        lacks = os.environ.get("FAKE_LACKS")
        return {**machine, "gpus": {"count": 0}, "lacks": lacks} if lacks else machine
    if command == "bench":
        suite = after("--suite")
        values = {"": 0.93, "_least": 0.9, "_most": 0.95, "_time": 6.51}
        units = {"_time": "ms"}
        return {
            "results": [
                {"suite": suite, "name": f"{suite}_row{end}", "value": value, "unit": units.get(end, "x")}
                for end, value in values.items()
            ]
        }
    met = "FAKE_STATUS_OF_run" not in os.environ
    result = {"scenario": "One", "file": "scenarios/corpus/one.yaml", "met": met}
    law = {"law": "values.bitwise"}
    result |= {"outcome": "pass" if met else "violated", "violations": [] if met else [law]}
    skipped = [{"file": "scenarios/corpus/two.yaml", "reason": "unsupported.schedule"}]
    return {"results": [result] if command == "run" else [], "skipped": skipped, "cases": 100}


def main():
    if sys.argv[1] == "--version":
        print("adamant 0.1.0 (0123456789ab)")
        return 0
    command = sys.argv[1]
    if "FAKE_STARTS" in os.environ:
        with open(os.environ["FAKE_STARTS"], "a", encoding="utf-8") as starts:
            starts.write(f"{command} {after('--suite') if command == 'bench' else ''}".strip() + "\n")
    if full := os.environ.get("FAKE_FULL_AT_" + command):
        pathlib.Path(full + ".part").symlink_to("/dev/full")
    if command == os.environ.get("FAKE_HANG_AT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(600)
    pathlib.Path(after("--json")).write_text(json.dumps(document(command)), encoding="utf-8")
    return int(os.environ.get("FAKE_STATUS_OF_" + command, "0"))


sys.exit(main())
