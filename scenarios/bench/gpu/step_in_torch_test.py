"""The lines of step_in_torch.py, with a module in PyTorch's place that notes what is called."""

import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "step_in_torch.py"


class StepInTorch(unittest.TestCase):
    """What it answers, and what it calls."""

    def talk(self, lines, **environment):
        env = {"PYTHONPATH": str(SCRIPT.parent / "testing"), **environment}
        command = [sys.executable, "-B", SCRIPT]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, env=env)
        return done.stdout.splitlines(), done.stderr.splitlines()

    def test_steps_both_ways(self):
        answers, calls = self.talk("make fp32 5 7\nstep optimizer\nstep function\n")
        self.assertEqual(answers, ["torch 9.9", "made", "0.250000", "0.250000"])
        self.assertEqual(calls, ["optimizer 2 fp32", "function 2 fp32"])

    def test_casts_around_steps_of_main_weights(self):
        _, calls = self.talk("make bf16_main_fp32 5\nstep optimizer\n")
        self.assertEqual(calls, ["copy from bf16 1 fp32", "optimizer 1 fp32", "copy from fp32 1 bf16"])
        _, calls = self.talk("make bf16_main_fp32_gradient_fp32 5\nstep function\n")
        self.assertEqual(calls, ["function 1 fp32", "copy from fp32 1 bf16"])

    def test_steps_weights_of_16_bits_as_they_are(self):
        _, calls = self.talk("make bf16 5\nstep optimizer\n")
        self.assertEqual(calls, ["optimizer 1 bf16"])

    def test_says_why_it_cannot(self):
        self.assertEqual(self.talk("make fp32 5\n", FAKE_TORCH_HAS_NO_GPU="1")[0], ["it finds no GPU"])


if __name__ == "__main__":
    unittest.main()
