"""The watcher over a program that does what tests on a GPU might do."""

import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import unittest
from unittest import mock

FAKE = pathlib.Path(__file__).resolve().parent / "testing" / "fake_tests.py"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from kit.watch import TEXT_MAX, Watch  # noqa: E402


class WatchTest(unittest.TestCase):
    """What has to wait for silence waits few seconds here, of which a start may take each."""

    def watch(self, tests, *, quiet=6, seconds=60.0, pattern="*", **environment):
        """The program's tests by name, with what became of them."""
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            starts = scratch / "starts"
            env = dict(os.environ, FAKE_TESTS=tests, FAKE_STARTS=str(starts), **environment)
            self.began = time.monotonic()
            self.watched = watched = Watch(
                [sys.executable, FAKE], pattern, quiet=quiet, end=self.began + seconds,
                scratch=scratch, env=env, cwd=scratch,
            )  # fmt: skip
            watched.watch()
            self.took = time.monotonic() - self.began
            self.starts = len(starts.read_text().splitlines()) if starts.exists() else 0
        return {name: case.result for name, case in watched.cases.items()}

    def test_all_pass_in_one_process(self):
        results = self.watch("A.passes B.passes B.passes/1")
        self.assertEqual(results, {"A.passes": "ok", "B.passes": "ok", "B.passes/1": "ok"})
        self.assertEqual(self.starts, 1)
        self.assertEqual(self.watched.trouble, "")
        self.assertEqual(self.watched.count(), {"ok": 3})

    def test_a_failure_keeps_its_last_lines_and_the_process(self):
        results = self.watch("A.passes A.fails B.passes")
        self.assertEqual(results["A.fails"], "failed")
        self.assertEqual(results["B.passes"], "ok")
        self.assertIn("Expected equality", self.watched.cases["A.fails"].text)
        self.assertEqual(self.starts, 1)

    def test_a_hang_costs_its_seconds(self):
        results = self.watch("A.passes A.hangs B.passes")
        self.assertEqual(results, {"A.passes": "ok", "A.hangs": "hang", "B.passes": "ok"})
        self.assertIn("about to hang", self.watched.cases["A.hangs"].text)
        self.assertEqual(self.starts, 2)

    def test_a_crash_says_of_what(self):
        results = self.watch("A.crashes B.passes")
        self.assertEqual(results, {"A.crashes": "crash", "B.passes": "ok"})
        self.assertIn("SIGSEGV", self.watched.cases["A.crashes"].text)

    def test_an_exit_in_a_test_is_a_crash(self):
        results = self.watch("A.exits B.passes")
        self.assertEqual(results, {"A.exits": "crash", "B.passes": "ok"})
        self.assertIn("ended with 7", self.watched.cases["A.exits"].text)

    def test_an_error_that_sticks_spoils_no_other_test(self):
        results = self.watch("A.sticks B.passes C.passes")
        self.assertEqual(results, {"A.sticks": "failed", "B.passes": "ok", "C.passes": "ok"})
        self.assertEqual(self.starts, 2)

    def test_neither_does_one_that_nobody_named(self):
        tests = " ".join(f"T.passes/{i}" for i in range(5))
        results = self.watch("A.sticks_unnamed " + tests)
        self.assertEqual(list(results.values()), ["failed"] + ["ok"] * 5)
        self.assertEqual(self.starts, 4)  # two were spoilt, and each is run again

    def test_what_fails_by_itself_fails_behind_another_failure_too(self):
        results = self.watch("A.fails B.fails C.passes")
        self.assertEqual(results, {"A.fails": "failed", "B.fails": "failed", "C.passes": "ok"})
        self.assertEqual(self.starts, 2)

    def test_a_flood_is_read_and_not_kept(self):
        results = self.watch("A.floods A.floods_a_line A.fails")
        self.assertEqual(results, {"A.floods": "ok", "A.floods_a_line": "ok", "A.fails": "failed"})
        self.assertLess(len(self.watched.cases["A.fails"].text), TEXT_MAX)

    @mock.patch("kit.watch.TALKS", 1)
    def test_one_that_talks_for_ever_hangs_too(self):
        results = self.watch("A.talks B.passes")
        self.assertEqual(results, {"A.talks": "hang", "B.passes": "ok"})
        self.assertLess(len(self.watched.cases["A.talks"].text), 2 * TEXT_MAX)

    def test_children_that_hold_the_pipe_do_not_hold_the_run(self):
        results = self.watch("A.leaves_a_child B.passes", quiet=60)
        self.assertEqual(results, {"A.leaves_a_child": "ok", "B.passes": "ok"})
        self.assertLess(self.took, 60)

    def test_silence_before_the_first_test_is_told(self):
        self.assertEqual(self.watch("A.passes", FAKE_SILENT="1"), {})
        self.assertIn("said nothing", self.watched.trouble)
        self.assertEqual(self.watched.count(), {"ok": 0, "not run": 1})

    def test_a_crash_behind_the_last_test_is_told(self):
        self.assertEqual(self.watch("A.passes", FAKE_CRASH_AT_EXIT="1"), {"A.passes": "ok"})
        self.assertIn("SIGABRT outside of its tests", self.watched.trouble)

    def test_a_signal_loses_nothing_that_was_read(self):
        class CutOff(Exception):
            pass

        def cut_off(*_):
            raise CutOff

        seen = bytearray()

        def read(file, size, read=os.read):
            data = read(file, size)
            seen.extend(data)
            if re.search(rb"OK \] B\.passes.*\n", seen):  # a line may come in parts
                seen.clear()
                os.kill(os.getpid(), signal.SIGTERM)
            return data

        before = signal.signal(signal.SIGTERM, cut_off)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        with mock.patch("kit.child.os.read", read), self.assertRaises(CutOff):
            self.watch("A.passes B.passes A.hangs")
        self.assertEqual(self.watched.count(), {"ok": 2, "not run": 1})

    def test_what_the_time_leaves_out_was_not_run(self):
        results = self.watch("A.passes A.hangs B.passes", quiet=60, seconds=12)
        self.assertEqual(results, {"A.passes": "ok"})
        self.assertEqual(self.watched.count(), {"ok": 1, "not run": 2})
        self.assertLess(self.took, 60)

    def test_no_test_is_told(self):
        self.watch("")
        self.assertIn("no test matches", self.watched.trouble)

    def test_more_names_than_an_argument_holds(self):
        results = self.watch("", FAKE_MANY="2000")
        self.assertEqual(list(results.values()), ["ok"] * 2000)


if __name__ == "__main__":
    unittest.main()
