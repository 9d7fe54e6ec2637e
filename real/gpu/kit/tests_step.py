"""A step that is the tests of one program."""

import time

from kit.results import Record
from kit.watch import Watch


class Tests:
    """Those tests of `program` that match `pattern`."""

    def __init__(self, name, what, share, program, pattern):
        self.record = Record(name, what)
        self.share = share  # seconds
        self.program = program
        self.pattern = pattern
        self._watch = None

    def run(self, session, seconds):
        self._watch = Watch(
            [session.place.program(self.program)], self.pattern, quiet=session.quiet,
            end=time.monotonic() + seconds, scratch=session.scratch, env=session.env,
            cwd=session.place.root, note=lambda: self._note(session),
        )  # fmt: skip
        self._go(session)

    def can_go_on(self):
        """Whether there are tests that only time was lacking for."""
        return self._watch is not None and not self._watch.trouble and bool(self._watch.pending())

    def go_on(self, session, seconds):
        self._watch.end = time.monotonic() + seconds
        self._go(session)

    def _go(self, session):
        try:
            self._watch.watch()
        finally:
            self._tell()

    def _note(self, session):
        if session.is_due():
            self._tell()
            session.write()

    def _tell(self):
        """What is known so far."""
        record, watch = self.record, self._watch
        record.counts = {**watch.count(), "processes": watch.processes}
        record.failed = []
        bad = [case for case in watch.cases.values() if not case.is_well()]
        for case in bad:
            record.add_failed(case.name, case.result, case.text)
        if watch.trouble:
            record.ends("not well", watch.trouble)
        elif bad:
            record.ends("not well", f"{len(bad)} of {len(watch.names)} tests")
        elif watch.pending():
            record.ends("cut off", f"{len(watch.pending())} of {len(watch.names)} tests were not run")
        else:
            record.ends("well")
        if bad and watch.pending():
            record.why += f"; {len(watch.pending())} were not run"
