"""A program that is run within seconds, whatever it does: it may hang, flood its output, leave
children behind, or not die."""

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import time

CHUNK = 1 << 16
CUT_OFF_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_libc = ctypes.CDLL(None)


def _die_with_parent():
    pr_set_pdeathsig = 1
    _libc.prctl(pr_set_pdeathsig, signal.SIGKILL)


@contextlib.contextmanager
def _mask(how):
    before = signal.pthread_sigmask(how, CUT_OFF_BY)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def undisturbed():
    """In it, signals that end the run come only while a child is waited for: so nothing that was
    read is lost on its way to where it counts."""
    return _mask(signal.SIG_BLOCK)


class Child:
    """A program in a session of its own, whose two streams are one pipe."""

    def __init__(self, command, *, env, cwd):
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            bufsize=0,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        self._ready = selectors.DefaultSelector()
        self._ready.register(self.process.stdout, selectors.EVENT_READ)

    def read(self, seconds):
        """Some bytes; none after the end, None where nothing came in time.

        The end is also where the program has ended and its children hold the pipe in silence.
        """
        with _mask(signal.SIG_UNBLOCK):
            is_ready = self._ready.select(timeout=max(0.0, seconds))
        if is_ready:
            return os.read(self.process.stdout.fileno(), CHUNK)
        return None if self.process.poll() is None else b""

    def signal(self, number):
        """To the program and its children; those that are gone do not mind."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def end(self):
        """Kills what is left of it, and says how it ended: as subprocess does, or None.

        None is a process that does not die: one that waits in the driver for ever.
        """
        self.signal(signal.SIGKILL)
        self._ready.close()
        self.process.stdout.close()
        try:
            return self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return None


class Tail:
    """The last bytes of what may be endless."""

    def __init__(self, room):
        self._room = room
        self._bytes = bytearray()
        self.dropped = 0

    def add(self, data):
        self._bytes += data
        too_many = len(self._bytes) - self._room
        if too_many > self._room:  # seldom, so that little is moved
            self._drop(too_many)

    def _drop(self, count):
        del self._bytes[:count]
        self.dropped += count

    def text(self):
        self._drop(max(0, len(self._bytes) - self._room))
        return self._bytes.decode(errors="replace")


class Ended:
    """What became of a program."""

    def __init__(self, status, text, cut, seconds):
        self.status = status  # as subprocess has it, None where it did not die
        self.text = text  # the end of its output
        self.cut = cut  # it was ended, because its seconds were over
        self.seconds = seconds

    def says(self):
        """Its status in words."""
        if self.cut:
            return f"was ended after {self.seconds:.0f} s"
        return in_words(self.status)


def in_words(status):
    if status is None:
        return "does not die"
    if status < 0:
        return f"died of {signal.Signals(-status).name}"
    return f"ended with {status}"


def run(command, seconds, *, env, cwd, grace=0.0, room=1 << 16):
    """Runs a program for at most `seconds`. For the last `grace` of them it knows by SIGINT."""
    began = time.monotonic()
    child = Child(command, env=env, cwd=cwd)
    tail = Tail(room)
    interrupted = False
    try:
        while True:
            gone = time.monotonic() - began
            if gone >= seconds:
                cut = True
                break
            if gone >= seconds - grace and grace > 0 and not interrupted:
                interrupted = True
                child.signal(signal.SIGINT)
            data = child.read(min(0.5, seconds - gone))
            if data == b"":
                cut = interrupted
                break
            tail.add(data or b"")
        if not cut:
            child.process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        cut = True  # it closed its output and went on
    finally:
        status = child.end()
    return Ended(status, tail.text(), cut, time.monotonic() - began)
