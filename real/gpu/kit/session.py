"""One run: steps in order within seconds, results that are whole after each and at its end, however
it ends."""

import datetime
import json
import signal
import subprocess
import sys
import time
import traceback

from kit import page
from kit.child import CUT_OFF_BY
from kit.refusal import Refusal

WRITE_EVERY = 5.0  # seconds, within a step
END = 4.0  # seconds kept for the end
LEAST = 3.0  # seconds; with less no step begins


class CutOff(Exception):
    """A signal that ends the run."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def _cut_off(number, _frame):
    for other in CUT_OFF_BY:
        signal.signal(other, signal.SIG_IGN)  # what has to be written now is written
    raise CutOff(number)


class Session:
    """What steps need: programs, an environment, a scratch folder, results."""

    def __init__(self, place, results, steps, *, versions, env, scratch, began, limit, quiet, jobs):
        self.place = place
        self.results = results
        self.steps = steps
        self.versions = versions
        self.env = env
        self.scratch = scratch
        self.limit = limit  # seconds
        self.quiet = quiet  # seconds
        self.jobs = jobs
        self.ended = "cut off: this is what had been done"
        self._began = began  # by time.monotonic()
        self._began_at = datetime.datetime.now(datetime.timezone.utc)
        self._written = 0.0
        self._log = []
        self._tools = ""

    @staticmethod
    def now():
        return time.monotonic()

    def left(self):
        return self.limit - END - (self.now() - self._began)

    def is_due(self):
        return self.now() - self._written > WRITE_EVERY

    def add_to_tools(self, name, text):
        self._tools += f"==== {name} ====\n{text}\n"
        self.results.write("tools.txt", self._tools)

    def say(self, text):
        line = f"{self.now() - self._began:5.0f} s  {text}"
        self._log.append(line)
        try:
            print(line, flush=True)
        except OSError:
            pass  # nobody reads it any more; the log has it

    def as_json(self):
        return {
            "adamant_gpu_run": 1,
            "began": self._began_at.isoformat(timespec="seconds"),
            "seconds": round(self.now() - self._began, 1),
            "limit_seconds": self.limit,
            "ended": self.ended,
            "versions": self.versions,
            "steps": [step.record.as_json() for step in self.steps],
        }

    def write(self):
        """The JSON, the page and the log of what is known now."""
        document = self.as_json()
        self.results.write("results.json", json.dumps(document, indent=1) + "\n")
        self.results.write("page.md", page.of(document))
        self.results.write("log.txt", "\n".join(self._log) + "\n")
        self._written = self.now()

    def run(self):
        """The command's status: 0 nothing failed, 1 something did, 128 + N cut off by a signal."""
        for number in CUT_OFF_BY:
            signal.signal(number, _cut_off)
        try:
            self.write()
            with Awake(self.env):
                for step in self.steps:
                    self._take(step)
                self._go_on()
            self.ended = "whole"
            status = 1 if any(step.record.outcome == "not well" for step in self.steps) else 0
        except CutOff as cut:
            self.ended = f"cut off by {signal.Signals(cut.number).name}"
            status = 128 + cut.number
        self.say(f"the run is {self.ended}: {self.results.folder}")
        self.write()
        return status

    def _take(self, step):
        record = step.record
        if self.left() < LEAST:
            record.ends("not run", "the time was over")
            return
        record.ends("cut off", "it had begun")
        self.say(f"{record.name}: {record.what}")
        self.write()  # who is killed in it leaves that it had begun
        self._within(step, lambda seconds: step.run(self, seconds), step.share)

    def _within(self, step, act, share):
        """Whatever a step does, the next one is taken."""
        record, began = step.record, self.now()
        try:
            act(min(share, self.left()))
        except (CutOff, Refusal):
            raise
        except Exception as error:  # a mistake in a step must not cost the others
            record.ends("not well", f"the script failed in it: {error!r}")
            record.add_failed("script", type(error).__name__, traceback.format_exc())
        finally:
            record.seconds += self.now() - began
        self.say(f"    {record.outcome}{': ' + record.why if record.why else ''}")
        self.write()

    def _go_on(self):
        """With what time is left to tests that only their share was too short for."""
        for step in self.steps:
            more = getattr(step, "can_go_on", lambda: False)()
            if more and self.left() > LEAST:
                self.say(f"{step.record.name}: goes on")
                self._within(step, lambda seconds, step=step: step.go_on(self, seconds), self.left())


class Awake:
    """A process that holds a context on the GPU for as long as this one lives."""

    def __init__(self, env):
        self._env = env
        self._process = None

    def __enter__(self):
        program = str(page.HERE / "awake.py")
        self._process = subprocess.Popen(
            [sys.executable, program], stdin=subprocess.PIPE, env=self._env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def __exit__(self, *_):
        self._process.kill()
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass  # it waits in the driver; its end is not ours to wait for
