"""Worlds are used again with nothing left behind, and no rank outlives its launcher."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from adamant_torch.worlds import PROCESSES_MAX
from tests.peer import Launcher, World, different

Maker = Callable[..., World]


def gone(pids: list[int], seconds: float = 10) -> bool:
    """Wait until no process of `pids` is left."""
    for _ in range(int(seconds / 0.05)):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


def test_a_world_is_used_again_and_shows_the_bits_of_a_fresh_one(tmp_path: Path) -> None:
    with Launcher() as fresh:
        one = World(fresh, tmp_path, shard=3, loss_scale="dynamic").open()
        one.train(2)
        expected = one.whole()
    with Launcher() as used:
        other = World(used, tmp_path, shard=3, mode="adam", clip=0.1).open(initial_seed=5)
        other.train(2)
        other.backward(7)  # a gradient is left, and no step taken
        pids = used.ranks()
        small = World(used, tmp_path, shard=1).open()
        small.train()
        one = World(used, tmp_path, shard=3, loss_scale="dynamic").open()
        assert set(pids) <= set(used.ranks())
        one.train(2)
        assert different(expected, one.whole()) == []


def test_a_world_of_replicas_and_one_of_shards_share_their_ranks(world: Maker) -> None:
    one = world(shard=4).open()
    one.train()
    before, first = one.launcher.ranks(), one.whole()
    other = world(shard=2, replicate=2).open()
    other.train()
    assert one.launcher.ranks() == before
    assert different(first, other.whole()) == []


def test_worlds_that_are_kept_have_a_limit(tmp_path: Path) -> None:
    with Launcher() as launcher:
        for shard in range(1, 9):
            World(launcher, tmp_path, shard=shard).open()
        assert len(launcher.ranks()) <= PROCESSES_MAX + 8 < sum(range(1, 9))


def state(pid: int) -> str:
    """Return the letter that the system has for what a process does: `T` where it is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_worlds_that_are_kept_take_no_time(tmp_path: Path) -> None:
    with Launcher() as launcher:
        World(launcher, tmp_path, shard=3).open()
        large = launcher.ranks()
        World(launcher, tmp_path, shard=2).open().train()
        assert [state(pid) for pid in large] == ["T"] * 3
        again = World(launcher, tmp_path, shard=3).open()
        again.train()
        assert set(large) < set(launcher.ranks())
        assert "T" not in [state(pid) for pid in large]


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGKILL"])
def test_ranks_end_with_their_launcher(tmp_path: Path, how: str) -> None:
    launcher = Launcher()
    World(launcher, tmp_path, shard=3).open()
    World(launcher, tmp_path, shard=2).open()
    ranks = launcher.ranks()
    assert len(ranks) == 5
    if how == "end of input":
        assert launcher.close() == 0
    else:
        launcher.process.send_signal(getattr(signal, how))
        launcher.process.wait(timeout=10)
    assert gone(ranks)


def test_a_launcher_that_is_killed_in_a_collective_leaves_no_rank(tmp_path: Path) -> None:
    launcher = Launcher("--engine", "tests.engines:Hangs", timeout_seconds=60)
    World(launcher, tmp_path).open()
    ranks = launcher.ranks()
    assert launcher.process.stdin is not None
    launcher.process.stdin.write(b'{"id": 9, "request": "step"}\n')
    launcher.process.stdin.flush()
    os.kill(launcher.process.pid, signal.SIGKILL)
    launcher.process.wait(timeout=10)
    assert gone(ranks)


def test_no_file_and_no_socket_is_left(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    try:
        launcher = Launcher()
    finally:
        del os.environ["TMPDIR"]
    World(launcher, tmp_path, shard=3).open().train()
    ranks = launcher.ranks()
    os.kill(launcher.process.pid, signal.SIGKILL)
    launcher.process.wait(timeout=10)
    assert gone(ranks)
    # What PyTorch makes when it is imported: its compiler's cache, an empty folder a user; and 2.8
    # a module for remote calls, in a folder of its own.
    remote = list(temporary.glob("*/_remote_module_non_scriptable.py"))
    imported = {*temporary.glob("torchinductor_*"), *remote, *(path.parent for path in remote)}
    assert set(temporary.rglob("*")) <= imported


@pytest.mark.parametrize(
    ("engine", "outcome", "rank_one", "others"),
    [
        ("FailsOnRankOne", "error", "error", ("error", "timed_out")),
        ("Dies", "died", "died", ("ok",)),
        ("Exits", "died", "died", ("ok",)),
        ("Hangs", "timed_out", "timed_out", ("ok",)),
    ],
)
def test_what_one_rank_does_wrong_ends_its_world_alone(
    tmp_path: Path, engine: str, outcome: str, rank_one: str, others: tuple[str, ...]
) -> None:
    with Launcher("--engine", f"tests.engines:{engine}", timeout_seconds=3) as launcher:
        one = World(launcher, tmp_path, shard=3).open()
        ranks = launcher.ranks()
        reply = launcher.ask("step")
        assert reply["outcome"] == outcome
        assert reply["ranks"][1]["outcome"] == rank_one
        assert reply["ranks"][0]["outcome"] in others
        assert gone(ranks)
        if engine == "FailsOnRankOne":
            error = reply["ranks"][1]["error"]
            assert error["type"] == "RuntimeError"
            assert error["kind"] == "builtins.RuntimeError"
            assert error["text"] == "rank one does not want to"
            assert error["where"].split(":")[0].endswith("tests/engines.py")
            assert error["traceback"].endswith("rank one does not want to\n")
        if engine == "Dies":
            assert reply["ranks"][1]["signal"] == signal.SIGSEGV
        if engine == "Exits":
            assert reply["ranks"][1]["exit_status"] == 7
        assert launcher.ask("state", prefix="/x")["error"]["type"] == "protocol"
        one.open().backward()


def test_what_an_engine_prints_is_no_reply(tmp_path: Path) -> None:
    with Launcher("--engine", "tests.engines:Prints") as launcher:
        World(launcher, tmp_path).open()
        assert launcher.must("step")["id"] == launcher.id


def test_many_opens_leave_no_process_descriptor_or_thread(tmp_path: Path) -> None:
    with Launcher() as launcher:
        seen = []
        for round_of_sizes in range(15):
            for shard in (1, 2, 3):
                world = World(launcher, tmp_path, shard=shard).open(round_of_sizes)
                world.train()
            pids = [launcher.process.pid, *launcher.ranks()]
            counts = [
                [len(list(Path(f"/proc/{pid}/{what}").iterdir())) for what in ("fd", "task")]
                for pid in pids
            ]
            seen.append((pids, counts))
        assert seen[1] == seen[-1]


def test_an_open_that_fails_leaves_no_world_and_the_next_one_opens(world: Maker) -> None:
    one = world()
    scalar = {"name": "s", "shape": [], "group": 0, "unit": 0}
    reply = one.launcher.ask("open", **world(params=[scalar]).request())
    assert reply["outcome"] == "error"
    assert {rank["error"]["type"] for rank in reply["ranks"]} == {"ValueError"}
    one.open().train()
