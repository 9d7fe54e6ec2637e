"""The script from end to end, over programs that only look like those of the project."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

KIT = pathlib.Path(__file__).resolve().parent
PROGRAMS = (
    "real_gpu_tests", "conformance_gpu_tests", "engine_on_gpu_tests", "scenarios.cuda_tests",
    "scenarios.program_gpu_tests",
)  # fmt: skip
NCCL = 'extern "C" int ncclGetVersion(int* version) { *version = 22809; return 0; }'


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
    return status.split()[0] != "Z"


class RunTest(unittest.TestCase):
    """Each test has a pack of its own."""

    @classmethod
    def setUpClass(cls):
        cls.nccl = tempfile.TemporaryDirectory()
        library = pathlib.Path(cls.nccl.name) / "lib" / "libnccl.so.2"
        library.parent.mkdir()
        command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library]
        subprocess.run(command, input=NCCL, text=True, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.nccl.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name) / "pack"
        shutil.copytree(KIT, self.root / "real/gpu/kit", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(KIT.parent / "run", self.root / "real/gpu/run")
        (self.root / "pack.json").write_text('{"toolkit": "13.0.88"}')
        (self.root / "bin").mkdir()
        for name in PROGRAMS:
            shutil.copy(KIT / "testing/fake_tests.py", self.root / "bin" / name)
        shutil.copy(KIT / "testing/fake_program.py", self.root / "bin/adamant-cuda")
        self.into = pathlib.Path(self.folder.name) / "results"
        # Nobody is left to empty it after SIGKILL, so it goes with the test's own folder.
        self.scratch = pathlib.Path(self.folder.name) / "tmp"
        self.scratch.mkdir()

    def call(self, *arguments, into=True, **environment):
        """Ended, with what it printed; FAKE_ variables are for the programs."""
        usual = {"NCCL_ROOT": self.nccl.name, "PATH": "/usr/bin:/bin", "TMPDIR": str(self.scratch)}
        env = {**os.environ, **usual, **environment}
        env.pop("LD_LIBRARY_PATH", None)
        command = [sys.executable, self.root / "real/gpu/run", *arguments]
        command += ["--into", self.into] if into else []
        began = time.monotonic()
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env)
        self.took = time.monotonic() - began
        if done.returncode != -signal.SIGKILL:
            self.assertEqual(list(self.scratch.iterdir()), [])
        return done

    def document(self):
        return json.loads((self.into / "results.json").read_text())

    def steps(self):
        return {step["name"]: step for step in self.document()["steps"]}

    def files(self):
        return sorted(path.name for path in self.into.iterdir())

    # ---- what it does ----------------------------------------------------------------------------

    def test_runs_all_in_order_and_writes_eight_files_at_most(self):
        starts = pathlib.Path(self.folder.name) / "starts"
        done = self.call(FAKE_STARTS=str(starts), FAKE_TESTS="A.passes AKernel.passes")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(starts.read_text().splitlines(), [
            "doctor", "real_gpu_tests", "bench gpu_step_over_copy", "bench gpu_passes_over_copy",
            "bench gpu_quantise_over_copy", "bench gpu_step_over_torch", "conformance_gpu_tests",
            "engine_on_gpu_tests", "run", "fuzz", "real_gpu_tests", "bench gpu_captured_step",
            "scenarios.cuda_tests", "scenarios.program_gpu_tests",
        ])  # fmt: skip
        self.assertEqual(self.files(), ["corpus.json", "fuzz.json", "log.txt", "page.md", "results.json"])
        for name in self.files():
            self.assertNotIn(self.folder.name, (self.into / name).read_text())
        document = self.document()
        self.assertEqual(document["ended"], "whole")
        versions = document["versions"]
        self.assertEqual(versions["adamant"], "adamant 0.1.0 (0123456789ab)")
        self.assertEqual(versions["nccl"], "2.28.9")
        self.assertEqual(versions["toolkit"], "13.0.88")
        steps = self.steps()
        self.assertEqual(steps["conformance"]["outcome"], "well")
        self.assertEqual(steps["ratios"]["rows"][0]["value"], 0.93)
        self.assertEqual(steps["memcheck"]["outcome"], "lacking")  # there is no such tool in the path
        page = (self.into / "page.md").read_text()
        self.assertIn("# NVIDIA H200, ", page)
        self.assertIn("None of 2 that were looked at.", page)
        self.assertIn(
            "| gpu_step_over_copy | gpu_step_over_copy_row | 0.93 x | 0.9 to 0.95 | 6.51 ms |", page
        )
        self.assertNotIn("_least", page)
        self.assertEqual(steps["corpus"]["counts"], {"run": 1, "not as expected": 0, "passed over": 1})

    def test_writes_into_a_folder_of_the_day_and_the_card(self):
        for suffix in ("", "-2"):
            done = self.call("--steps", "runner", into=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            (folder,) = re.findall(r"the run is whole: (.*)", done.stdout)
            self.assertRegex(folder, rf"/real/results/\d\d\d\d-\d\d-\d\d-h200{suffix}$")
            self.assertTrue((pathlib.Path(folder) / "page.md").exists())

    def test_names_each_rule_that_deviates(self):
        tests = {"FAKE_TESTS_OF_conformance_gpu_tests": "Events.passes Graphs.fails Pools.crashes"}
        done = self.call("--steps", "conformance", **tests)
        self.assertEqual(done.returncode, 1)
        page = (self.into / "page.md").read_text()
        rules = page.split("## Conformance: rules from which this card deviates")[1]
        self.assertIn("- `Graphs.fails`: failed", rules)
        self.assertIn("Expected equality of these values: 1, 2", rules)
        self.assertIn("- `Pools.crashes`: crash", rules)
        self.assertNotIn("Events.passes", rules)

    def test_names_scenarios_that_are_not_as_expected(self):
        done = self.call("--steps", "corpus", FAKE_STATUS_OF_run="1")
        self.assertEqual(done.returncode, 1)
        failed = self.steps()["corpus"]["failed"]
        self.assertEqual(failed[0]["name"], "scenarios/corpus/one.yaml")
        self.assertEqual(failed[0]["last_lines"], ["values.bitwise"])

    def tool(self, name, text):
        """A tool of the toolkit, as a script in the path."""
        folder = pathlib.Path(self.folder.name) / "tools"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n" + text)
        (folder / name).chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    def test_keeps_what_sanitizers_say(self):
        says = (
            "errors=0; test $2 = racecheck && errors=2; echo [ RUN ]; "
            'echo "========= ERROR SUMMARY: $errors errors"; test $errors = 0 || exit 9\n'
        )
        path = self.tool("compute-sanitizer", says)
        done = self.call("--steps", "memcheck,racecheck", PATH=path)
        self.assertEqual(done.returncode, 1)
        steps = self.steps()
        self.assertEqual(steps["memcheck"]["outcome"], "well")
        self.assertEqual(steps["racecheck"]["why"], "it reports errors")
        self.assertEqual((self.into / "tools.txt").read_text(), (
            "==== memcheck ====\n========= ERROR SUMMARY: 0 errors\n"
            "==== racecheck ====\n========= ERROR SUMMARY: 2 errors\n"
        ))  # fmt: skip

    def test_says_where_tools_do_not_work(self):
        path = self.tool("ncu", "echo ==ERROR== ERR_NVGPUCTRPERM; exit 1\n")
        self.tool("compute-sanitizer", "echo ========= Error: Device not supported; exit 1\n")
        done = self.call("--steps", "memcheck,counters", PATH=path)
        self.assertEqual(done.returncode, 0)
        for step, word in (("memcheck", "Device not supported"), ("counters", "ERR_NVGPUCTRPERM")):
            self.assertEqual(self.steps()[step]["outcome"], "lacking")
            self.assertIn("does not work on this machine: =", self.steps()[step]["why"])
            self.assertIn(word, self.steps()[step]["why"])

    def test_a_suite_that_fails_is_told_and_the_others_are_kept(self):
        done = self.call("--steps", "ratios", FAKE_STATUS_OF_bench="1")
        self.assertEqual(done.returncode, 1)
        ratios = self.steps()["ratios"]
        self.assertEqual(ratios["outcome"], "not well")
        self.assertEqual(len(ratios["failed"]), 3)
        self.assertEqual(ratios["counts"], {"rows": 12})

    def test_a_hang_costs_its_seconds_and_the_later_steps_run(self):
        tests = {"FAKE_TESTS_OF_conformance_gpu_tests": "A.hangs B.passes"}
        done = self.call("--steps", "conformance,properties", "--hang", "4", **tests)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.steps()["conformance"]["counts"], {"ok": 1, "hang": 1, "processes": 2})
        self.assertEqual(self.steps()["properties"]["outcome"], "well")

    def test_ends_in_its_seconds_and_tells_what_did_not_run(self):
        done = self.call("--seconds", "20", FAKE_HANG_AT="run", FAKE_TESTS="A.passes AKernel.passes")
        self.assertLess(self.took, 60)
        self.assertEqual(done.returncode, 0, done.stdout)
        steps = self.steps()
        self.assertEqual(steps["corpus"]["outcome"], "cut off")
        self.assertEqual((steps["fuzz"]["outcome"], steps["fuzz"]["why"]), ("not run", "the time was over"))
        self.assertIn("| fuzz | generated scenarios on the engine cuda | not run: the time was over |",
                      (self.into / "page.md").read_text())  # fmt: skip

    def test_runs_on_where_nobody_reads_what_it_says(self):
        env = {**os.environ, "NCCL_ROOT": self.nccl.name}
        command = [sys.executable, self.root / "real/gpu/run", "--into", self.into, "--steps", "runner"]
        done = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, env=env)
        done.stdout.close()
        self.assertEqual(done.wait(), 0)
        self.assertEqual(self.document()["ended"], "whole")

    # ---- cut off ---------------------------------------------------------------------------------

    def cut_off_by(self, name):
        tests = {"FAKE_TESTS_OF_engine_on_gpu_tests": "A.passes A.kills", "FAKE_TESTS": "AKernel.passes"}
        done = self.call("--steps", "kernels,conformance,properties,corpus", FAKE_SIGNAL=name, **tests)
        steps = self.steps()
        self.assertEqual(steps["kernels"]["outcome"], "well")
        self.assertEqual(steps["conformance"]["outcome"], "well")
        self.assertEqual(steps["properties"]["outcome"], "cut off")
        self.assertEqual(steps["corpus"]["outcome"], "not run")
        self.assertIn("## Steps", (self.into / "page.md").read_text())
        self.assertLessEqual(len(self.files()), 8)
        test = int((self.root / "killers.txt").read_text())
        deadline = time.monotonic() + 60
        while alive(test) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(alive(test), "the test outlives the script")
        return done

    def test_sigterm_leaves_whole_results(self):
        self.assertEqual(self.cut_off_by("SIGTERM").returncode, 128 + 15)
        self.assertEqual(self.document()["ended"], "cut off by SIGTERM")
        self.assertEqual(self.steps()["properties"]["counts"]["ok"], 1)

    def test_sigint_leaves_whole_results(self):
        self.assertEqual(self.cut_off_by("SIGINT").returncode, 128 + 2)
        self.assertEqual(self.document()["ended"], "cut off by SIGINT")

    def test_sigkill_leaves_whole_results(self):
        self.assertEqual(self.cut_off_by("SIGKILL").returncode, -9)
        self.assertIn("cut off", self.document()["ended"])

    def test_a_disk_that_becomes_full_leaves_whole_results(self):
        for name, kept in (("corpus.json", 3), ("results.json", 4)):
            with self.subTest(name):
                self.into = pathlib.Path(self.folder.name) / ("full_" + name)
                full = str(self.into / name)
                done = self.call("--steps", "conformance,corpus,fuzz", FAKE_FULL_AT_run=full)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                sentence = f"the disk under {self.into} is full: {name} could not be written, and what was"
                self.assertIn(sentence, done.stderr)
                self.assertEqual(self.steps()["conformance"]["outcome"], "well")
                self.assertEqual(self.steps()["fuzz"]["outcome"], "not run")
                self.assertEqual(len(self.files()), kept)

    # ---- bad input -------------------------------------------------------------------------------

    def refused(self, status, sentence, *arguments, **environment):
        into = environment.pop("into", True)
        done = self.call(*arguments, into=into, **environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_what_the_program_lacks_is_three_and_leaves_no_folder(self):
        self.refused(3, "run: the GPU is too old; nothing was measured", FAKE_LACKS="the GPU is too old")
        self.assertFalse(self.into.exists())

    def test_no_nccl_is_three(self):
        self.refused(3, "there is no libnccl.so.2 in /nowhere/lib", NCCL_ROOT="/nowhere")

    def test_an_nccl_older_than_asked_for_is_three(self):
        sentence = f"NCCL is 2.28.9 in {self.nccl.name}/lib; 2.30 or newer is needed: set NCCL_ROOT"
        self.refused(3, sentence, "--nccl", "2.30")

    def test_an_unknown_option_is_two(self):
        self.refused(2, "unrecognized arguments: --fast", "--fast")

    def test_values_that_are_none_are_two(self):
        self.refused(2, "argument --seconds", "--seconds", "many")
        self.refused(2, "0 is not between 1 and 86400", "--seconds", "0")
        self.refused(2, "newest is no version such as 2.30", "--nccl", "newest")
        self.refused(2, "there is no step dance; there are kernels,", "--steps", "dance")

    def test_a_folder_that_cannot_be_written_is_two(self):
        self.into = self.root / "pack.json" / "results"
        self.refused(2, "cannot be written: Not a directory: give another folder by --into DIR")

    def test_a_folder_with_other_results_is_two(self):
        self.into.mkdir()
        (self.into / "results.json").write_text("{}")
        self.refused(2, "has the results of another run")
        self.assertEqual((self.into / "results.json").read_text(), "{}")

    def test_a_missing_program_is_two(self):
        (self.root / "bin/engine_on_gpu_tests").unlink()
        self.refused(2, "engine_on_gpu_tests is missing: make the pack anew")
        (self.root / "pack.json").unlink()
        self.refused(2, "adamant-cuda is missing: build it by .ci/setup --cuda")

    def test_programs_that_do_not_start_are_two(self):
        self.refused(2, "doctor ended with 127", FAKE_STATUS_OF_doctor="127")

    def test_a_pack_is_not_packed(self):
        self.refused(2, "is a pack itself", "--pack", str(self.into), into=False)


if __name__ == "__main__":
    unittest.main()
