"""Steps that are a tool of the CUDA toolkit over one of the programs, where the machine has it."""

import os
import shutil

from kit.child import run
from kit.results import Record

FOLDERS = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/nvidia/nsight-compute")
GRACE = 10.0  # seconds, in which a tool tells what it has seen
ERRORS = 9  # what a sanitizer is asked to end with
UNSUPPORTED = (  # what a tool says where the machine does not let it work
    "ERR_NVGPUCTRPERM",
    "Device not supported",
    "Failed to initialize the profiler",
)


def find_tool(name):
    """Its path, or None."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *FOLDERS])
    return shutil.which(name, path=path)


class Tool:
    """A tool's step; what it says goes into tools.txt."""

    def __init__(self, name, what, share, tool):
        self.record = Record(name, what)
        self.share = share
        self.tool = tool

    def run(self, session, seconds):
        path = find_tool(self.tool)
        if path is None:
            self.record.ends("lacking", f"there is no {self.tool} in the path or in {FOLDERS[0]}")
            return
        command = [path, *self.arguments(session)]
        grace = min(GRACE, seconds / 3)
        ended = run(command, seconds, env=session.env, cwd=session.place.root, grace=grace, room=1 << 20)
        lines = self.lines_of(ended.text)
        session.add_to_tools(self.record.name, "\n".join(lines))
        refusal = [line for line in ended.text.splitlines() if any(word in line for word in UNSUPPORTED)]
        if refusal:
            self.record.ends("lacking", f"{self.tool} does not work on this machine: {refusal[0].strip()}")
        else:
            self.judge(ended, lines)


class Sanitizer(Tool):
    """One of compute-sanitizer's checks over tests of kernels."""

    def __init__(self, check, share, pattern, *more):
        super().__init__(
            check, f"compute-sanitizer's {check} over tests of kernels", share, "compute-sanitizer"
        )
        self.check = check
        self.pattern = pattern
        self.more = more  # options of the check

    def arguments(self, session):
        program = session.place.program("real_gpu_tests")
        # Which errors calls may return is for the tests to say: some provoke them.
        own = ["--tool", self.check, *self.more, "--report-api-errors", "no", "--error-exitcode", ERRORS]
        return [*own, program, f"--gtest_filter={self.pattern}"]

    def lines_of(self, text):
        return [line for line in text.splitlines() if line.startswith("=========")]

    def judge(self, ended, lines):
        if ended.status == ERRORS or any(
            "ERROR SUMMARY" in line and ": 0 errors" not in line for line in lines
        ):
            self.record.ends("not well", "it reports errors")
            self.record.add_failed(self.check, "errors", "\n".join(lines))
        elif ended.cut:
            self.record.ends("cut off", f"no error until it {ended.says()}")
        elif ended.status != 0:
            self.record.ends("not well", f"compute-sanitizer {ended.says()}")
            self.record.add_failed(self.check, ended.says(), ended.text)
        else:
            self.record.ends("well")


class Counters(Tool):
    """Nsight Compute over one launch of each step's kernel in a suite."""

    def __init__(self, name, what, share, suite):
        super().__init__(name, what, share, "ncu")
        self.suite = suite

    def arguments(self, session):
        sections = ("SpeedOfLight", "LaunchStats", "Occupancy")
        wanted = [word for section in sections for word in ("--section", section)]
        # Of each combination of formats, which is a namespace, the second launch.
        which = ["--kernel-name-base", "demangled", "--kernel-id", "::regex:adam_kernel:2", "--clock-control", "none"]
        program = session.place.program("adamant-cuda")
        return [*which, *wanted, program, "bench", "--suite", self.suite, "--quiet"]

    def lines_of(self, text):
        return text.splitlines()

    def judge(self, ended, lines):
        if ended.cut:
            self.record.ends("cut off", f"it {ended.says()}")
        elif ended.status != 0:
            self.record.ends("not well", f"ncu {ended.says()}")
            self.record.add_failed(self.tool, ended.says(), ended.text)
        else:
            self.record.ends("well")
