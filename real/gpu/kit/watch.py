"""All tests of a GoogleTest program, in one process as far as it gets.

A test that says nothing for some seconds is killed: a hang. One that ends the process is a crash.
After an error that sticks to the CUDA context, and after a few failures in a row, which may be one
that nobody named, a fresh process goes on with the next test. So each costs seconds, not the run.
What failed behind another failure is run again in a process of its own, and that is what counts.
"""

import re
import time

from kit.child import Child, Tail, in_words, run, undisturbed

RUN = re.compile(r"\[ RUN      \] (\S+)\s*$")
END = re.compile(r"\[\s+(OK|FAILED|SKIPPED)\s+\] (\S+?)(?:,|\s|$)")
STICKY = re.compile(
    r"cudaError(IllegalAddress|MisalignedAddress|LaunchFailure|LaunchTimeout|Assert|"
    r"HardwareStackError|IllegalInstruction|InvalidAddressSpace|InvalidPc|ECCUncorrectable|"
    r"ContextIsDestroyed|Unknown)\b"
)
IN_A_ROW = 3  # failures, then a fresh process
TALKS = 4  # times as long as a silent test may one take that talks
LINE_MAX = 1 << 14  # bytes; what is longer is cut in lines of it
TEXT_MAX = 3000  # bytes kept of a test's output


class Case:
    """A test that was run."""

    def __init__(self, name, result, seconds, text, behind=False):
        self.name = name
        self.result = result  # ok, failed, skipped, hang, crash
        self.seconds = seconds
        self.text = text  # the end of its output
        self.behind = behind  # a failure in the same process

    def is_well(self):
        return self.result in ("ok", "skipped")


def list_tests(command, pattern, seconds, *, env, cwd):
    """Names of the tests that match; and, where there are none, why."""
    ended = run(
        [*command, "--gtest_list_tests", f"--gtest_filter={pattern}"],
        seconds, env=env, cwd=cwd, room=1 << 22,
    )  # fmt: skip
    if ended.status != 0 or ended.cut:
        return [], f"the list of its tests: the program {ended.says()}: {ended.text[-500:].strip()}"
    names, suite = [], ""
    for line in ended.text.splitlines():
        word = line.split("#")[0].rstrip()
        if word.startswith("  ") and suite:
            names.append(suite + word.strip())
        elif re.fullmatch(r"\S+\.", word):
            suite = word
    names = [name for name in names if "DISABLED_" not in name]
    return names, "" if names else f"no test matches {pattern}"


class Watch:
    """One program and what is known of its tests so far."""

    def __init__(self, command, pattern, *, quiet, end, scratch, env, cwd, note=lambda: None):
        self.command = command
        self.quiet = quiet  # seconds
        self.end = end  # by time.monotonic()
        self.scratch = scratch  # a folder
        self.env = env
        self.cwd = cwd
        self.note = note  # called now and then
        self.cases = {}
        self.processes = 0
        seconds = max(1.0, min(quiet, end - time.monotonic()))
        self.names, self.trouble = list_tests(command, pattern, seconds, env=env, cwd=cwd)

    def pending(self):
        return [name for name in self.names if name not in self.cases]

    def watch(self):
        """Runs until all tests are done, the time is over, or a process has done nothing new."""
        self._run_pending()
        for case in [case for case in self.cases.values() if case.behind]:
            if time.monotonic() < self.end:
                Process(self, [case.name]).watch()

    def _run_pending(self):
        while self.pending() and time.monotonic() < self.end:
            done = len(self.cases)
            how = Process(self, self.pending()).watch()
            self.trouble = self.trouble or how
            if len(self.cases) == done:
                if time.monotonic() < self.end:
                    self.trouble = self.trouble or "it ended without having run all tests that it lists"
                return

    def count(self):
        counts = {"ok": 0}
        for case in self.cases.values():
            counts[case.result] = counts.get(case.result, 0) + 1
        if self.pending():
            counts["not run"] = len(self.pending())
        return counts


class Process:
    """One process of the program, over some of its tests."""

    def __init__(self, watched, names):
        self.watched = watched
        watched.processes += 1
        flags = watched.scratch / "gtest_flags"  # names of all tests may be more than an argument holds
        flags.write_text("--gtest_color=no\n--gtest_filter=" + ":".join(names) + "\n")
        command = [*watched.command, f"--gtest_flagfile={flags}"]
        self.child = Child(command, env=watched.env, cwd=watched.cwd)
        self.current = None
        self.tail = Tail(TEXT_MAX)
        self.began = time.monotonic()
        self.line = b""
        self.failures = 0  # in a row
        self.failed = False  # some test before

    def watch(self):
        """What went wrong outside of the tests, or nothing."""
        try:
            with undisturbed():
                how = self._follow()
        except BaseException:
            self._drain()
            raise
        finally:
            status = self.child.end()
        if how == "hang" and not self.current:
            return f"it said nothing for {self.watched.quiet:.0f} s, in no test"
        if how == "hang":
            self._close("hang")
        if how != "end":
            return ""
        if self.current:
            self._close("crash", f"the process {in_words(status)}")
            return ""
        return self._after_tests(status)

    def _after_tests(self, status):
        """GoogleTest ends with 1 where a test failed, and else with 0."""
        if status in (0, 1):
            return ""
        last = self.tail.text().strip()[-500:]
        return f"the program {in_words(status)} outside of its tests: {last}"

    def _follow(self):
        """Until the end of the output, or a reason to end the process."""
        heard = time.monotonic()
        while True:
            self.watched.note()
            data = self.child.read(0.2)
            now = time.monotonic()
            if data == b"":
                self._wait()
                return "end"
            if data:
                heard = now
                if self._take(data):
                    return "fresh"
            if now > self.watched.end:
                return "over"
            talks = self.current and now - self.began > TALKS * self.watched.quiet
            if now - heard > self.watched.quiet or talks:
                return "hang"

    def _drain(self):
        """What was said before the run was cut off counts."""
        for _ in range(100):
            data = self.child.read(0)
            if not data or self._take(data):
                return

    def _wait(self):
        """A program that has closed its output ends soon, or is killed."""
        last = time.monotonic() + 2
        while self.child.process.poll() is None and time.monotonic() < last:
            time.sleep(0.01)

    def _take(self, data):
        """Whether the next test needs a fresh process."""
        *whole, self.line = (self.line + data).split(b"\n")
        if len(self.line) > LINE_MAX:
            whole.append(self.line)
            self.line = b""
        # What the process did after an error that sticks is not looked at.
        return any(self._take_line(line.decode(errors="replace")) for line in whole)

    def _take_line(self, line):
        if started := RUN.search(line):
            self.current, self.began, self.tail = started[1], time.monotonic(), Tail(TEXT_MAX)
            return False
        ended = END.search(line)
        if not self.current or not ended or ended[2] != self.current:
            self.tail.add(line.encode() + b"\n")
            return False
        result = ended[1].lower()
        text = self._close(result)
        self.failed = self.failed or result == "failed"
        self.failures = self.failures + 1 if result == "failed" else 0
        return result == "failed" and (bool(STICKY.search(text)) or self.failures >= IN_A_ROW)

    def _close(self, result, how=""):
        text = self.tail.text().strip()
        text = f"{text}\n{how}".strip() if how else text
        seconds = time.monotonic() - self.began
        behind = self.failed and result not in ("ok", "skipped")
        case = Case(self.current, result, seconds, "" if result == "ok" else text, behind)
        self.watched.cases[self.current] = case
        self.current, self.tail = None, Tail(TEXT_MAX)
        return text
