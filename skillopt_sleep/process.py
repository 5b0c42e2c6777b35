"""Starts every child process, and sees to it that none is left.

A child gets a session of its own (so that a signal reaches everything it started), an environment that was chosen name
by name, pipes that only we hold, and an end: `attend` kills the whole group when time is up or the caller is cancelled.

Talking to a child is blocking and happens in a thread of its own. A child therefore belongs to no event loop: a model
that keeps its children between two `anyio.run` calls can go on using them.

Windows (process groups, `taskkill`) and macOS are written for and untested.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")

INHERITED = (
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP"),
    *("USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
)
"""What a child needs to find its files, its language and the network. Keys, tokens and sessions are not among them."""

_LONGEST_LINE = 16 * 1024 * 1024
_CHUNK = 65536
_COMPLAINT = 4096
"""Bytes of a child's error output that are kept, from its end."""


def environment(environ: Mapping[str, str], *also: str, **given: str) -> dict[str, str]:
    """The environment of a child: `INHERITED` and `also` out of `environ`, and what is `given`."""
    return {name: environ[name] for name in (*INHERITED, *also) if name in environ} | given


class Flooded(Exception):
    """A child wrote a line without end."""


class Child:
    """A process that is spoken to over pipes. Raises `OSError` where it cannot be started.

    `send` and `line` block; call them in a thread (`attend`). `end` and `kill` may be called from anywhere, repeatedly.
    """

    def __init__(self, command: Sequence[str], *, environ: Mapping[str, str], cwd: Path) -> None:
        self._process = _start(command, environ, cwd)
        self._out = bytearray()
        self._talking = threading.Lock()
        self._complaint = bytearray()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """The process's id, which is the id of its group as well."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Write all of it. A child that has gone raises `BrokenPipeError`."""
        with self._talking:
            view = memoryview(data)
            while view:
                view = view[os.write(_pipe(self._process.stdin).fileno(), view) :]

    def line(self) -> bytes:
        """The next line with its end, then what is left without one, then nothing. Raises `Flooded`."""
        with self._talking:
            searched = 0
            while (end := self._out.find(b"\n", searched)) < 0:
                searched = len(self._out)
                if searched > _LONGEST_LINE:
                    raise Flooded
                chunk = os.read(_pipe(self._process.stdout).fileno(), _CHUNK)
                if not chunk:
                    end = searched
                    break
                self._out += chunk
            line = bytes(self._out[: end + 1])
            del self._out[: end + 1]
            return line

    def last_words(self, patience: float = 1.0) -> tuple[int | None, str]:
        """Exit code (None: it is still there) and the end of the error output of a child that seems to have gone."""
        self._listener.join(patience)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        return self._process.returncode, self._complaint.decode("utf-8", "replace").strip()

    def end(self, patience: float) -> None:
        """Close its input, which tells a well-behaved child to leave, and kill what is there after `patience`."""
        if self._talking.acquire(blocking=False):  # nobody is writing
            with suppress(OSError):
                _pipe(self._process.stdin).close()
            self._talking.release()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """End the child and everything it started, now."""
        _kill_group(self._process)
        self._process.wait()
        # Whoever still reads or writes gets its end of file now. Closing under it would give its descriptor to others.
        if self._talking.acquire(timeout=1.0):
            with suppress(OSError):
                _pipe(self._process.stdin).close()
            _pipe(self._process.stdout).close()
            self._talking.release()
        self._listener.join(1.0)

    def _listen(self) -> None:
        """Keeps the pipe of error output from filling up, which would stop the child."""
        with _pipe(self._process.stderr) as stream:
            while chunk := stream.read(_CHUNK):
                self._complaint += chunk
                del self._complaint[:-_COMPLAINT]


def detach(command: Sequence[str], *, environ: Mapping[str, str], cwd: Path, log: Path) -> None:
    """Start a process that outlives us, whoever ends us and however. Raises `OSError` where it cannot be started.

    It gets a session of its own and no child-parent tie to us; its input is empty, and what it prints goes into `log`.
    """
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        _start_detached(command, environ, cwd, descriptor)
    finally:
        os.close(descriptor)


async def attend(child: Child, work: Callable[[], T], seconds: float) -> T:
    """`work` with a child in a thread. Raises `TimeoutError` after so many seconds.

    Where it is late or cancelled, or raises, the child's whole group is killed, which ends the thread as well.
    """
    finished = False
    try:
        with anyio.fail_after(seconds):
            done = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))
        finished = True
        return done
    finally:
        if not finished:
            child.kill()


async def version_of(program: str, environ: Mapping[str, str], seconds: float = 5.0) -> str:
    """The first word that `program --version` says; "of unknown version" where it says nothing in time.

    Raises `OSError` where it cannot be started.
    """
    child = Child((program, "--version"), environ=environment(environ), cwd=Path.home())
    try:
        said = await attend(child, child.line, seconds)
    except (TimeoutError, Flooded):
        return "of unknown version"
    child.kill()
    words = said.decode("utf-8", "replace").split()
    return words[0] if words else "of unknown version"


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # every child is started with all three pipes
    return stream


if sys.platform == "win32":

    def _start(command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> subprocess.Popen[bytes]:
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd=cwd,
            creationflags=flags,
        )

    def _start_detached(command: Sequence[str], environ: Mapping[str, str], cwd: Path, log: int) -> None:
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS | subprocess.CREATE_BREAKAWAY_FROM_JOB
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environ),
            cwd=cwd,
            creationflags=flags,
        )

    def _kill_group(process: subprocess.Popen[bytes]) -> None:
        tree = ("taskkill", "/T", "/F", "/PID", str(process.pid))
        subprocess.run(tree, stdin=subprocess.DEVNULL, capture_output=True, check=False)

else:

    def _start(command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd=cwd,
            start_new_session=True,
        )

    def _start_detached(command: Sequence[str], environ: Mapping[str, str], cwd: Path, log: int) -> None:
        # the shell leaves at once, so that nobody who walks our children finds the job, and no zombie stays behind
        subprocess.run(
            ("/bin/sh", "-c", '"$@" &', "sh", *command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environ),
            cwd=cwd,
            start_new_session=True,
            check=True,
        )

    def _kill_group(process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError, PermissionError):  # macOS says "not permitted" of a group that is gone
            os.killpg(process.pid, signal.SIGKILL)
