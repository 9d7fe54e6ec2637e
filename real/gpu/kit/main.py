"""The command `real/gpu/run`.

Ends with: 0 nothing that ran failed; 1 something did; 2 bad usage or input, or an output that cannot be
written; 3 this machine lacks what is needed; 128 + N cut off by signal N.
"""

import argparse
import datetime
import os
import pathlib
import re
import sys
import tempfile
import time

from kit import machine, pack
from kit.place import Place
from kit.refusal import Refusal
from kit.results import Results, unused_folder
from kit.session import Session
from kit.steps import all_steps

ROOT = pathlib.Path(__file__).resolve().parents[3]
NCCL_LEAST = "2.28"  # whose header the programs are compiled with
JOBS_MAX = 6  # processes that share one GPU


def seconds(text):
    value = float(text)
    if not 1 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 86400")
    return value


def version(text):
    if not re.fullmatch(r"\d+(\.\d+){0,2}", text):
        raise argparse.ArgumentTypeError(f"{text} is no version such as 2.30")
    return text


def step_names(text):
    known = [step.record.name for step in all_steps()]
    names = text.split(",")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no step {name}; there are {', '.join(known)}")
    return names


def parse(words):
    parser = argparse.ArgumentParser(
        prog="run", description="Everything that a machine with a GPU can say, in order of value.", epilog=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "--pack", metavar="DIR", type=pathlib.Path, help="pack what travels into DIR, and end"
    )
    parser.add_argument("--seconds", metavar="N", type=seconds, default=530.0, help="of the whole run (530)")
    parser.add_argument(
        "--into", metavar="DIR", type=pathlib.Path, help="where results go (real/results/DATE-CARD)"
    )
    parser.add_argument(
        "--nccl", metavar="VERSION", type=version, default=NCCL_LEAST, help="the least (%(default)s)"
    )
    parser.add_argument(
        "--hang", metavar="N", type=seconds, default=25.0, help="seconds of silence that are one (25)"
    )
    parser.add_argument("--steps", metavar="A,B", type=step_names, help="these alone, in their order")
    return parser.parse_args(words)


def measure(place, options, began):
    """Checks, then the run."""
    place.check()
    results = Results(options.into, place.root) if options.into else None
    if results:
        results.prepare()
    try:
        with tempfile.TemporaryDirectory(prefix="adamant-gpu-", ignore_cleanup_errors=True) as scratch:
            session = prepared(place, options, results, pathlib.Path(scratch), began)
            return session.run()
    except Refusal:
        if results:
            results.remove_if_empty()
        raise


def prepared(place, options, results, scratch, began):
    folder, nccl = machine.find_nccl(place, options.nccl)
    env = machine.environment(place, folder)
    doctor = machine.ask_doctor(place, env, scratch)
    made = place.made_with()
    machine.check(doctor)
    if results is None:
        name = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}-{machine.card_of(doctor['gpus']['name'])}"
        results = Results(unused_folder(place.root / "real" / "results", name), place.root)
        results.prepare()
    steps = [step for step in all_steps() if not options.steps or step.record.name in options.steps]
    return Session(
        place, results, steps, versions=versions(place, env, doctor, made, nccl), env=env, scratch=scratch, began=began,
        limit=options.seconds, quiet=options.hang, jobs=max(1, min(JOBS_MAX, os.cpu_count() or 1)),
    )  # fmt: skip


def versions(place, env, doctor, made, nccl):
    gpus = doctor["gpus"]
    return {
        "card": gpus["name"],
        "cards": gpus["count"],
        "compute_capability": gpus["compute_capability"],
        "adamant": machine.output_of([place.program("adamant-cuda"), "--version"], env=env).strip(),
        "toolkit": made["toolkit"],
        "driver_cuda": gpus["driver_cuda"],
        "nccl": nccl,
        "compiler": doctor["machine"]["built by"],
        **{name.replace(".", "_"): value for name, value in machine.smi().items()},
    }


def main(words=None):
    began = time.monotonic()
    options = parse(words)
    place = Place(ROOT)
    try:
        if options.pack:
            print(pack.make(place, options.pack))
            return 0
        return measure(place, options, began)
    except Refusal as refusal:
        print(f"run: {refusal}", file=sys.stderr)
        return refusal.status
    except KeyboardInterrupt:
        return 130  # before anything was measured
