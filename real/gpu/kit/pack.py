"""Packs what travels to a machine with a GPU, by CMake's own installation."""

import json
import pathlib
import shutil
import subprocess

from kit.place import NOTE, toolkit_of
from kit.refusal import BadInput, Refusal

BYTES_MAX = 40_000_000
COMPONENT = "gpu_pack"  # real/gpu/pack.cmake


def make(place, folder):
    """A sentence about the pack that was made in `folder`, which is a pack or empty before."""
    if place.is_pack:
        raise BadInput(f"{place.root} is a pack itself: copy it, or pack from a checkout")
    place.check()
    folder = pathlib.Path(folder).resolve()
    clear(folder)
    install(place.build, folder)
    without_links(folder / "lib")
    note = {"toolkit": toolkit_of(place.build)}
    (folder / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*"))
    if size > BYTES_MAX:
        raise Refusal(f"{folder} has {size / 1e6:.0f} MB, more than the {BYTES_MAX / 1e6:.0f} that travel")
    return f"{folder}: {size / 1e6:.0f} MB; on the other machine: {folder.name}/real/gpu/run"


def without_links(folder):
    """Libraries by the names that programs ask for: links are lost on some ways to travel."""
    for link in [path for path in folder.iterdir() if path.is_symlink()]:
        library = link.resolve()
        link.unlink()
        library.rename(link)


def clear(folder):
    """Only a pack of before is removed."""
    try:
        if (folder / NOTE).exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}: give another folder") from error
    if others:
        raise BadInput(f"{folder} has other files, {others[0]} among them: give an empty folder")


def install(build, folder):
    command = ["cmake", "--install", build, "--component", COMPONENT, "--strip", "--prefix", folder]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise BadInput("there is no cmake in the path: .ci/setup installs it") from error
    if done.returncode != 0:
        last = " ".join(done.stderr.split())[-500:]
        raise BadInput(f"cmake --install {build} ended with {done.returncode}: {last}")
