#!/usr/bin/env python3
"""Looks like a GoogleTest program. Its tests are named after what they do, and FAKE_TESTS lists
them: `Suite.passes Suite.hangs`, and so on; FAKE_TESTS_OF_name does so for one program alone.
FAKE_STARTS names a file that gets a line a process."""

import os
import signal
import sys
import time

ERROR = 'C++ exception with description "step.cpp:7: cudaMemcpyAsync(): '


def passes():
    return True


def fails():
    print("Expected equality of these values: 1, 2")
    return False


def sticks():
    print(ERROR + 'cudaErrorIllegalAddress (an illegal memory access was encountered)"')
    os.environ["FAKE_STUCK"] = "1"
    return False


def sticks_unnamed():
    print(ERROR + 'cudaErrorNobodyKnows (it is broken)"')
    os.environ["FAKE_STUCK"] = "1"
    return False


def hangs():
    print("about to hang", flush=True)
    time.sleep(600)


def takes_half_a_second():
    time.sleep(0.5)
    return True


def crashes():
    print("about to crash", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def exits():
    sys.exit(7)


def floods():
    for _ in range(100000):
        print("flood " * 20)
    return True


def floods_a_line():
    for _ in range(100):
        sys.stdout.write("x" * 100000)
    sys.stdout.flush()
    return True


def talks():
    while True:
        print("still here", flush=True)
        time.sleep(0.01)


def leaves_a_child():
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    return True


def kills():
    """Sends a signal to the script itself, and waits to be killed."""
    with open("killers.txt", "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    os.kill(os.getppid(), getattr(signal, os.environ["FAKE_SIGNAL"]))
    time.sleep(600)


def chosen(names):
    for argument in sys.argv[1:]:
        if argument.startswith("--gtest_flagfile="):
            with open(argument.split("=", 1)[1], encoding="utf-8") as flags:
                pattern = next(f for f in flags.read().split() if f.startswith("--gtest_filter="))
            return [name for name in names if name in pattern.split("=", 1)[1].split(":")]
    return names


def listed(names):
    suite = ""
    for name in names:
        if name.split(".")[0] != suite:
            suite = name.split(".")[0]
            print(suite + ".")
        print("  " + name.split(".")[1] + "  # a comment")


def ran(name):
    print(f"[ RUN      ] {name}", flush=True)
    what = globals()[name.split(".")[1].split("/")[0]]
    well = not os.environ.get("FAKE_STUCK") and what()
    print(f"[{'       OK' if well else '  FAILED '} ] {name} (1 ms)", flush=True)
    return well


def main():
    own = "FAKE_TESTS_OF_" + os.path.basename(sys.argv[0])
    names = os.environ.get(own, os.environ.get("FAKE_TESTS", "A.passes")).split()
    if "FAKE_MANY" in os.environ:
        names = [f"Many.passes/{'x' * 100}{i}" for i in range(int(os.environ["FAKE_MANY"]))]
    if "--gtest_list_tests" in sys.argv:
        print("Running main() from gtest_main.cc")
        return listed(names)
    if "FAKE_STARTS" in os.environ:
        with open(os.environ["FAKE_STARTS"], "a", encoding="utf-8") as starts:
            starts.write(os.path.basename(sys.argv[0]) + "\n")
    if "FAKE_SILENT" in os.environ:
        time.sleep(600)
    well = all([ran(name) for name in chosen(names)])
    if "FAKE_CRASH_AT_EXIT" in os.environ:
        os.abort()
    return 0 if well else 1


sys.exit(main())
