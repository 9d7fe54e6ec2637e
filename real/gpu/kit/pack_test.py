"""The script in a checkout whose preset `cuda` is built, without a GPU; and the pack that it makes,
in another folder, where the sources and the system's copies of its libraries are hidden."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

KIT = pathlib.Path(__file__).resolve().parent
ROOT = KIT.parents[2]
sys.path.insert(0, str(KIT.parent))

from kit.machine import LIBRARY, find_nccl  # noqa: E402
from kit.pack import BYTES_MAX  # noqa: E402
from kit.place import BUILT_IN, Place  # noqa: E402

TRAVEL = r"lib(fmt|yaml-cpp)\.so"  # what a bare system lacks


def call(command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, **options)


def can_hide():
    return call(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).returncode == 0


class PackTest(unittest.TestCase):
    """One pack for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name) / "pack"
        cls.made = call([ROOT / "real/gpu/run", "--pack", cls.root])
        cls.nccl, _ = find_nccl(Place(ROOT), "2.0")
        env = dict(os.environ, LD_LIBRARY_PATH=str(cls.nccl))
        doctor = call([ROOT / "build/dev/adamant-cuda", "doctor", "--json", "-"], env=env)
        cls.has_gpu = json.loads(doctor.stdout)["gpus"]["count"] > 0

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def hidden(self, command):
        """Runs it where sources and libraries are hidden, and NCCL is a folder of its own."""
        if not can_hide():
            self.skipTest("no mount namespaces here: unshare -rm is refused")
        nccl = pathlib.Path(self.folder.name) / "nccl"
        (nccl / "lib").mkdir(parents=True, exist_ok=True)
        (nccl / "lib" / LIBRARY).touch()
        lines = [f"mount --bind {self.nccl / LIBRARY} {nccl / 'lib' / LIBRARY}"]
        lines += [f"mount --bind /dev/null {library}" for library in self.system_copies()]
        lines += [f"mount -t tmpfs none {ROOT}", f"cd {self.root}", f'exec env NCCL_ROOT={nccl} "$@"']
        script = " && ".join(lines)
        return call(["unshare", "-rm", "sh", "-c", script, "sh", *command], cwd="/")

    @staticmethod
    def system_copies():
        """Of the libraries that travel, as the loader finds them."""
        listing = call(["/sbin/ldconfig", "-p"]).stdout
        paths = {
            os.path.realpath(line.split(" => ")[1])
            for line in listing.splitlines()
            if re.search(TRAVEL, line)
        }
        return sorted(paths)

    def test_is_made_and_may_travel(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertRegex(self.made.stdout, r"pack: \d+ MB; on the other machine: pack/real/gpu/run")
        size = sum(path.stat().st_size for path in self.root.rglob("*"))
        self.assertLess(size, BYTES_MAX)
        self.assertEqual({path.name for path in (self.root / "bin").iterdir()}, set(BUILT_IN))
        libraries = sorted(path.name for path in (self.root / "lib").iterdir())
        self.assertEqual(len(libraries), 2, libraries)
        for library, name in zip(libraries, ("fmt", "yaml-cpp")):
            self.assertRegex(library, rf"^lib{name}\.so\.[\d.]+$")
        self.assertFalse([path for path in self.root.rglob("*") if path.is_symlink()])
        scenarios = len(list((ROOT / "scenarios/corpus").rglob("*.yaml")))
        self.assertEqual(len(list((self.root / "scenarios/corpus").rglob("*.yaml"))), scenarios)
        models = sorted(path.name for path in (ROOT / "scenarios/models").iterdir())
        self.assertEqual(sorted(path.name for path in (self.root / "share/adamant/models").iterdir()), models)
        self.assertTrue((self.root / "scenarios/bench/gpu/step_in_torch.py").exists())
        self.assertRegex(json.loads((self.root / "pack.json").read_text())["toolkit"], r"^1\d\.\d")

    def test_programs_look_for_libraries_beside_themselves_alone(self):
        for program in (self.root / "bin").iterdir():
            dynamic = call(["readelf", "-d", program]).stdout
            paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
            self.assertEqual(paths, ["$ORIGIN/../lib"], program)

    def test_the_loader_takes_what_travels_from_the_pack(self):
        env = dict(os.environ, LD_LIBRARY_PATH=str(self.nccl), LD_DEBUG="libs")
        traced = call([self.root / "bin/adamant-cuda", "--version"], env=env)
        loaded = re.findall(r"calling init: (\S+)", traced.stderr)
        taken = [path for path in loaded if re.search(TRAVEL, path)]
        self.assertEqual(len(taken), 2, loaded)
        for path in taken:
            self.assertEqual(pathlib.Path(path).resolve().parent, self.root / "lib")

    def test_every_program_starts_elsewhere(self):
        for name in sorted(set(BUILT_IN) - {"adamant-cuda"}):
            lines = f'LD_LIBRARY_PATH="$NCCL_ROOT/lib" exec bin/{name} --gtest_list_tests'
            listed = self.hidden(["sh", "-c", lines])
            self.assertEqual(listed.returncode, 0, listed.stderr)
            self.assertGreater(len(listed.stdout.splitlines()), 3, name)

    def test_a_scenario_with_a_model_is_read_elsewhere(self):
        text = "adamant: 1\nname: m\nworld: {shard: 1}\nparams: {model: gpt2-124m}\nprogram: [step]\n"
        (self.root / "model.yaml").write_text(text)
        lines = 'LD_LIBRARY_PATH="$NCCL_ROOT/lib" bin/adamant-cuda run --dry-run model.yaml; s=$?; exit $s'
        ran = self.hidden(["sh", "-c", lines])
        (self.root / "model.yaml").unlink()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_tests_that_need_no_gpu_pass_elsewhere(self):
        self.need_no_gpu()
        lines = (
            'export LD_LIBRARY_PATH="$NCCL_ROOT/lib" ADAMANT_PROGRAM=$PWD/bin/adamant-cuda; for t in bin/*_tests;'
            " do $t --gtest_brief=1 || exit 1; done"
        )
        ran = self.hidden(["sh", "-c", lines])
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_the_script_in_the_pack_ends_with_three_without_a_gpu(self):
        self.need_no_gpu()
        ran = self.hidden(["real/gpu/run", "--into", f"{self.folder.name}/results"])
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertRegex(ran.stderr, r"^run: .* needs a GPU .*; nothing was measured\n$")
        self.assertFalse((pathlib.Path(self.folder.name) / "results").exists())

    def test_the_script_in_the_checkout_ends_with_three_without_a_gpu(self):
        self.need_no_gpu()
        before = sorted(path.name for path in (ROOT / "real/results").iterdir())
        ran = call([ROOT / "real/gpu/run"])
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertRegex(ran.stderr, r"^run: .* needs a GPU .*; nothing was measured\n$")
        self.assertEqual(sorted(path.name for path in (ROOT / "real/results").iterdir()), before)

    def test_a_folder_with_other_files_is_left_alone(self):
        other = pathlib.Path(self.folder.name) / "other"
        other.mkdir()
        (other / "letter.txt").write_text("dear")
        refused = call([ROOT / "real/gpu/run", "--pack", other])
        self.assertEqual(refused.returncode, 2)
        self.assertIn("has other files, letter.txt among them: give an empty folder", refused.stderr)
        self.assertEqual([path.name for path in other.iterdir()], ["letter.txt"])
        shutil.rmtree(other)

    def need_no_gpu(self):
        if self.has_gpu:
            self.skipTest("this machine has a GPU: real/gpu/run would use it for minutes")


if __name__ == "__main__":
    unittest.main()
