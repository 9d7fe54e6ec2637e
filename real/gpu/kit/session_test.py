"""How seconds are shared out among steps, and what a mistake in a step costs."""

import os
import pathlib
import sys
import tempfile
import time
import types
import unittest

KIT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(KIT.parent))

from kit.results import Record, Results, shortened  # noqa: E402
from kit.session import Session  # noqa: E402
from kit.tests_step import Tests  # noqa: E402


class Wrong:
    """A step with a mistake in it."""

    share = 10

    def __init__(self):
        self.record = Record("wrong", "fails")

    def run(self, session, seconds):
        raise KeyError("met")


class SessionTest(unittest.TestCase):
    """Steps over a program that only looks like tests, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_steps(self, steps, limit):
        results = Results(self.folder / "results", self.folder)
        results.prepare()
        place = types.SimpleNamespace(root=self.folder, program=lambda name: KIT / "testing/fake_tests.py")
        env = dict(os.environ, FAKE_TESTS=" ".join(f"A.takes_half_a_second/{i}" for i in range(12)))
        session = Session(
            place, results, steps, versions={}, env=env, scratch=self.folder, began=time.monotonic(), limit=limit, quiet=5, jobs=1,
        )  # fmt: skip
        return session.run()

    def test_tests_that_a_share_was_too_short_for_are_gone_on_with(self):
        first = Tests("first", "", 4, "program", "*")
        second = Tests("second", "", 40, "program", "*")
        self.assertEqual(self.run_steps([first, second], 80), 0)
        self.assertEqual(first.record.counts, {"ok": 12, "processes": 2})
        self.assertEqual(first.record.outcome, "well")
        self.assertEqual(second.record.counts, {"ok": 12, "processes": 1})

    def test_where_no_time_is_left_they_are_told(self):
        first = Tests("first", "", 4, "program", "*")
        second = Tests("second", "", 40, "program", "*")
        self.assertEqual(self.run_steps([first, second], 16), 0)
        self.assertEqual(first.record.outcome, "cut off")
        self.assertRegex(first.record.why, "of 12 tests were not run")

    def test_a_mistake_in_a_step_does_not_cost_the_later_ones(self):
        wrong, tests = Wrong(), Tests("tests", "", 40, "program", "*")
        self.assertEqual(self.run_steps([wrong, tests], 80), 1)
        self.assertEqual(wrong.record.why, "the script failed in it: KeyError('met')")
        self.assertEqual(tests.record.outcome, "well")

    def test_of_a_file_that_is_too_long_the_middle_is_left_out(self):
        data = shortened("a" * (20 << 20) + "end")
        self.assertLess(len(data), 16 << 20)
        self.assertTrue(data.endswith(b"end"))
        self.assertIn(b"bytes are left out here", data)


if __name__ == "__main__":
    unittest.main()
