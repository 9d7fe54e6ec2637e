"""Does every finding show in its script? Runs the scripts beside the scenarios of a search.

    python check_findings.py FOUND

FOUND is what `adamant fuzz --engine E --out FOUND` wrote, of engine torch or exec:COMMAND. The
interpreter is this one, so for scripts in plain PyTorch it needs that, and for those that drive an
engine's class what that needs. A session that lies in place of a script is played here, where the
search was. Each has to print both sides and to end with 1. Exit status: 0 where all do, 1 where one
does not or is missing, 2 where there is nothing to check, 3 without what they need.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

SECONDS_MAX = 120
REPLAY = Path(__file__).resolve().parent.parent / "replay.py"


def shown(script: Path) -> tuple[bool, str]:
    """Run one script or session; return whether the defect shows, and its last words."""
    session = script.with_name(script.name + ".session.json")
    if not script.exists() and not session.exists():
        return False, "there is no script beside it"
    try:
        run = subprocess.run(
            [sys.executable, *([script] if script.exists() else [REPLAY, session])],
            check=False,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        return False, f"it does not end within {SECONDS_MAX} s"
    lines = run.stdout.strip().splitlines()
    sides = (": actual ", "actual: ", " has ")
    if run.returncode == 1 and any(side in line for line in lines for side in sides):
        return True, lines[-1]
    said = (lines or run.stderr.strip().splitlines() or ["nothing"])[-1]
    return False, f"exit status {run.returncode}: {said}"


def main(arguments: list[str]) -> int:
    """Check all findings of a directory and print one line for each."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    findings = sorted(Path(arguments[0]).glob("*.yaml"))
    if not findings:
        print(f"{arguments[0]}: no findings (*.yaml)", file=sys.stderr)
        return 2
    scripts = [script.read_text() for script in Path(arguments[0]).glob("*.py")]
    for module in ("torch", "adamant_torch"):
        imports = re.compile(rf"^(import|from) {module}\b", re.MULTILINE)
        if any(map(imports.search, scripts)) and importlib.util.find_spec(module) is None:
            print(f"{sys.executable} has no module {module}", file=sys.stderr)
            return 3
    failed = 0
    for finding in findings:
        shows, words = shown(finding.with_suffix(".py"))
        failed += not shows
        print(f"{'shows         ' if shows else 'DOES NOT SHOW '} {finding.name}: {words}")
    print(f"{len(findings)} findings, {failed} without a script that shows them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
