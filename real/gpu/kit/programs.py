"""Steps that are a command of adamant-cuda, each with a document that it writes."""

import json

from kit.child import run
from kit.results import Record

GRACE = 8.0  # seconds, for a document after an interrupt


def document_at(path):
    """What a command wrote; nothing where it did not."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


class Command:
    """A command, its seconds, and what the document says."""

    def __init__(self, name, what, share):
        self.record = Record(name, what)
        self.share = share

    def call(self, session, seconds, arguments):
        """How it ended, and its document."""
        path = session.scratch / f"{self.record.name}.json"
        path.unlink(missing_ok=True)
        command = [session.place.program("adamant-cuda"), *arguments, "--json", path]
        grace = min(GRACE, seconds / 3)
        ended = run(command, seconds, env=session.env, cwd=session.place.root, grace=grace)
        return ended, document_at(path)

    def judge(self, ended, status_of_findings=1):
        """The outcome by the status, where the document says nothing worse."""
        if ended.cut:
            self.record.ends("cut off", f"the command {ended.says()}")
        elif ended.status == 0:
            self.record.ends("well")
        else:
            outcome = "lacking" if ended.status == 3 else "not well"
            self.record.ends(outcome, f"the command {ended.says()}")
        if ended.status not in (0, status_of_findings):
            self.record.add_failed(" ".join(("adamant-cuda", self.record.name)), ended.says(), ended.text)


class Bench(Command):
    """Suites of `adamant-cuda bench`, one after the other, so that each is kept."""

    def __init__(self, name, what, share, suites):
        super().__init__(name, what, share)
        self.suites = suites

    def run(self, session, seconds):
        end = session.now() + seconds
        troubles = []
        for suite in self.suites:
            left = end - session.now()
            if left < 1:
                troubles.append(("cut off", f"{suite} was not run"))
                continue
            troubles += self._measure(session, left, suite)
            session.write()
        order = ("not well", "lacking", "cut off")
        worst = min(troubles, key=lambda trouble: order.index(trouble[0]), default=("well", ""))
        self.record.ends(worst[0], "; ".join(why for _, why in troubles))

    def _measure(self, session, seconds, suite):
        ended, document = self.call(session, seconds, ["bench", "--suite", suite])
        self.record.rows += document.get("results", [])
        self.record.counts = {"rows": len(self.record.rows)}
        if ended.cut:
            return [("cut off", f"{suite} {ended.says()}")]
        if ended.status == 0:
            return []
        last = ended.text.strip().splitlines()[-1:] or [ended.says()]
        self.record.add_failed(suite, ended.says(), ended.text)
        return [("lacking" if ended.status == 3 else "not well", f"{suite}: {last[0]}")]


class Corpus(Command):
    """All scenarios of the corpus, judged by the oracle."""

    def run(self, session, seconds):
        arguments = ["run", "scenarios/corpus", "--seed", "1", "--quiet"]
        arguments += ["--jobs", session.jobs, "--timeout", int(session.quiet)]
        ended, document = self.call(session, seconds, arguments)
        self.judge(ended)
        results = document.get("results", [])
        if not results:
            return
        session.results.write("corpus.json", json.dumps(document, indent=1))
        unmet = [result for result in results if not result["met"]]
        passed_over = len(document.get("skipped", []))
        self.record.counts = {"run": len(results), "not as expected": len(unmet), "passed over": passed_over}
        for result in unmet:
            name = result.get("file") or result["scenario"]
            laws = ", ".join(violation["law"] for violation in result.get("violations", []))
            self.record.add_failed(name, result["outcome"], laws or result.get("message", ""))
        if unmet:
            self.record.ends("not well", f"{len(unmet)} of {len(results)} are not as expected")


class Fuzz(Command):
    """A search for defects; what it finds it writes as scenarios."""

    def run(self, session, seconds):
        found = session.scratch / "found"
        searches = max(1, int((seconds - GRACE) * 0.85))  # its end is up to a tenth later
        arguments = ["fuzz", "--for", f"{searches}s", "--seed", "1", "--jobs", session.jobs, "--out", found]
        ended, document = self.call(session, seconds, arguments)
        self.judge(ended)
        if document:
            session.results.write("fuzz.json", json.dumps(document, indent=1))
            found_count = len(document.get("results", []))
            self.record.counts = {"cases": document.get("cases", 0), "found": found_count}
        files = sorted(found.rglob("*.yaml")) if found.exists() else []
        if files:
            session.results.write("found.txt", "\n".join(whole_text(path, found) for path in files))
        for path in files:
            self.record.add_failed(path.name, "found", path.read_text(encoding="utf-8")[:2000])


def whole_text(path, folder):
    text = path.read_text(encoding="utf-8")
    return f"# ==== {path.relative_to(folder)} ====\n{text}"
