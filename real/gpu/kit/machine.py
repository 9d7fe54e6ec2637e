"""What the machine has, as `adamant-cuda doctor` says it, and whether that is enough.

Where it is not, a sentence says what was found, what is needed and what to do.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from kit.child import run
from kit.refusal import BadInput, Lacking

LIBRARY = "libnccl.so.2"
ASK_NCCL = """
import ctypes, sys
number = ctypes.c_int()
if ctypes.CDLL(sys.argv[1]).ncclGetVersion(ctypes.byref(number)) == 0:
    print(number.value)
"""
FOLDERS_OF_PYTHON = """
import sys
for entry in sys.path:
    print(entry + "/nvidia/nccl/lib")
"""


def numbers_of(version):
    """(2, 28) of "2.28"."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def pythons():
    """Interpreters that may have PyTorch: the one that is named, that of the path, this one."""
    named = [os.environ.get("ADAMANT_PYTHON"), shutil.which("python3"), sys.executable]
    return list(dict.fromkeys(python for python in named if python))


def output_of(command, seconds=20, env=None):
    """What a command prints; nothing where it fails."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            check=True,
            env=env,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def nccl_folders(place):
    """Where a libnccl may be: in what is named, the build, the path of libraries, PyTorch's."""
    if "NCCL_ROOT" in os.environ:
        yield pathlib.Path(os.environ["NCCL_ROOT"]) / "lib"
    yield place.root / "build" / "nccl" / "lib"
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder:
            yield pathlib.Path(folder)
    for python in pythons():
        for folder in output_of([python, "-c", FOLDERS_OF_PYTHON]).split():
            yield pathlib.Path(folder)
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib"):
        yield pathlib.Path(folder)


def nccl_version(library):
    """Such as "2.28.9"; nothing where it cannot be loaded."""
    number = output_of([sys.executable, "-c", ASK_NCCL, str(library)]).strip()
    if not number.isdigit():
        return ""
    number = int(number)
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def find_nccl(place, least):
    """The folder and the version of the first NCCL that is as new as asked for."""
    too_old = []
    looked = []
    for folder in dict.fromkeys(nccl_folders(place)):
        library = folder / LIBRARY
        if not library.exists():
            looked.append(str(folder))
            continue
        version = nccl_version(library)
        if version and numbers_of(version) >= numbers_of(least):
            return folder, version
        too_old.append(f"{version or 'one that cannot be loaded'} in {folder}")
    what_to_do = "set NCCL_ROOT to one, or call an ADAMANT_PYTHON that has nvidia-nccl-cu13"
    if too_old:
        raise Lacking(f"NCCL is {', '.join(too_old)}; {least} or newer is needed: {what_to_do}")
    raise Lacking(
        f"there is no {LIBRARY} in {', '.join(looked)}; NCCL {least} or newer is needed: {what_to_do}"
    )


def environment(place, nccl):
    """Of all programs: the libraries by folders, the program that tests start by its path."""
    folders = [nccl, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    return dict(
        os.environ,
        LD_LIBRARY_PATH=":".join(str(folder) for folder in folders if str(folder)),
        ADAMANT_PROGRAM=str(place.program("adamant-cuda")),
        PYTHONDONTWRITEBYTECODE="1",
        # With 8, as it is without, streams share queues, and one waits for what another is behind.
        CUDA_DEVICE_MAX_CONNECTIONS="32",
    )


def ask_doctor(place, env, scratch):
    """The document of `adamant-cuda doctor`."""
    path = scratch / "doctor.json"
    program = place.program("adamant-cuda")
    ended = run([program, "doctor", "--quiet", "--json", path], 60, env=env, cwd=place.root)
    if ended.status != 0:
        text = " ".join(ended.text.split())[-500:]
        raise BadInput(f"{program} doctor {ended.says()}: {text}: the programs do not start here")
    return json.loads(path.read_text(encoding="utf-8"))


def check(doctor):
    """Lacking where the programs cannot run on this machine's GPUs, in their own words."""
    if doctor.get("lacks"):
        raise Lacking(f"{doctor['lacks']}; nothing was measured")


def card_of(name):
    """A short name for a folder: h200 of "NVIDIA H200", rtx-pro-6000 of a longer one."""
    words = re.findall(r"[A-Za-z0-9]+", name.lower())
    noise = {"nvidia", "tesla", "geforce", "graphics", "device"}
    words = [
        word for word in words if word not in noise and not re.fullmatch(r"\d+gb|hbm\d\w*|sxm\d?|pcie", word)
    ]
    return "-".join(words[:4]) or "gpu"


def smi():
    """What nvidia-smi says of the first card's driver, clocks and power, by name; or nothing."""
    names = [
        "driver_version",
        "clocks.max.sm",
        "clocks.max.memory",
        "power.limit",
        "memory.total",
        "ecc.mode.current",
    ]
    lines = output_of(["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader"]).splitlines()
    values = [value.strip() for value in lines[0].split(",")] if lines else []
    return dict(zip(names, values)) if len(values) == len(names) else {}
