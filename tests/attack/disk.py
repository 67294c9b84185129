"""A disk that is watched: every operation of a command on files, and what each kind of accident would leave behind.

Counted are new files, raw writes, syncs, renames, removals and new folders below the command's own folder. Before each
one the folder is looked at, so that one run of the command gives the state after an accident at every operation:

kill    the process is gone; what was written is there
cut     the same, with half of the bytes of this write
power   the power is gone: names are there, but a file has only the content that was flushed
names   the power is gone: a folder has only the names that were flushed, and files the content that was flushed

An operation can also fail, as on a full disk; for that the command has to be run.
"""

from __future__ import annotations

import builtins
import errno
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .arena import nothing

State = dict[str, bytes | None]
"""Path in the folder -> content; None for a folder."""

KINDS = ("kill", "cut", "power", "names")
DATABASE = (".db", ".db-wal", ".db-shm", ".db-journal")
"""SQLite writes and flushes without our seeing it: what is there counts as flushed."""


class Disk:
    """Counts the operations of this process below a folder.

    fail_at   the operation that fails (from 1); 0 for none
    states    where every different state is kept, as folders; None counts operations alone
    """

    def __init__(self, folder: Path, *, fail_at: int = 0, states: Path | None = None) -> None:
        self.folder, self.fail_at, self.states, self.count = str(folder.resolve()), fail_at, states, 0
        self.flushed: dict[int, bytes] = {}
        self.names: dict[int, dict[str, int]] = {}
        self.held: dict[int, int] = {}
        """An open handle for every file and folder seen, so that no number is given to another one."""

    def install(self, before: Callable[[], object] = nothing) -> None:
        """Put itself before the system's functions, after something else was done."""
        before()
        if self.states is not None:
            for path, inode in self._walk():
                if os.path.isdir(path):
                    self._flush_names(path, inode)
                else:
                    self.flushed[inode] = _read(path)
        disk, real_open, real_create, real_sync = self, io.open, os.open, os.fsync

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                view = memoryview(data).cast("B")
                disk.step(self.fileno(), bytes(view[: len(view) // 2]), os.lseek(self.fileno(), 0, os.SEEK_CUR))
                written = super().write(view)
                return written if written is not None else 0

        def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
            if isinstance(file, int) or not set(mode) & set("wax+"):
                return real_open(file, mode, buffering, *rest, **named)
            if "w" in mode or not os.path.exists(file):
                disk.step(file)
            raw = Raw(file, mode.replace("b", "").replace("t", ""), opener=named.get("opener"))
            if buffering == 0:
                return raw
            buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            encoding = named.get("encoding") or (rest[0] if rest else None)
            return io.TextIOWrapper(buffered, encoding, named.get("errors"), named.get("newline"))

        def created(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            if flags & os.O_CREAT or flags & os.O_TMPFILE == os.O_TMPFILE:
                disk.step(path)
            return real_create(path, flags, *rest, **named)

        def synced(handle: Any) -> None:
            disk.step(handle)
            real_sync(handle)
            disk.sync(handle)

        io.open = builtins.open = opened
        os.open, os.fsync = created, synced  # type: ignore[assignment]
        for name in ("replace", "rename", "unlink", "rmdir", "mkdir", "chmod", "ftruncate"):
            setattr(os, name, self._counted(getattr(os, name)))
        import gwn.io

        gwn.io._exchange = self._counted(gwn.io._exchange)

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(path: Any, *rest: Any, **named: Any) -> Any:
            self.step(path)
            return real(path, *rest, **named)

        return counted

    def step(self, path: Any, half: bytes | None = None, offset: int = 0) -> None:
        """One operation is about to happen; `half` are the bytes of a write that was cut, at `offset`."""
        place = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.path.realpath(os.fspath(path))
        if not place.startswith(self.folder):
            return
        self.count += 1
        if self.states is not None:
            self._keep(place, half, offset)
        if self.count == self.fail_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)

    def sync(self, handle: int) -> None:
        """A file or a folder was flushed."""
        place, inode = os.readlink(f"/proc/self/fd/{handle}"), os.fstat(handle).st_ino
        if self.states is None or not place.startswith(self.folder):
            return
        if os.path.isdir(place):
            self._flush_names(place, inode)
        else:
            self.flushed[inode] = _read(place)

    def ended(self) -> None:
        """The command ended well: from now on everything it wrote must survive."""
        if self.states is not None:
            self.count += 1
            self._keep("", None, 0)

    def _flush_names(self, folder: str, inode: int) -> None:
        self.names[inode] = {each.name: each.inode() for each in os.scandir(folder)}

    def _walk(self) -> Iterator[tuple[str, int]]:
        """Every folder and file with its number, the top one first."""
        waiting = [self.folder]
        while waiting:
            path = waiting.pop()
            inode = os.stat(path).st_ino
            if inode not in self.held:
                self.held[inode] = _raw_open(path)
            yield path, inode
            if os.path.isdir(path):
                waiting.extend(sorted(each.path for each in os.scandir(path)))

    def _keep(self, place: str, half: bytes | None, offset: int) -> None:
        """Keep what each kind of accident would leave now."""
        found = list(self._walk())
        content = {path: _read(path) for path, _ in found if not os.path.isdir(path)}
        kept: dict[str, State] = {"kill": {self._inside(path): content.get(path) for path, _ in found}}
        if half and place in content:  # a file without a name is gone with its process
            now = content[place]
            kept["cut"] = {**kept["kill"], self._inside(place): now[:offset] + half + now[offset + len(half) :]}
        kept["power"] = {
            self._inside(path): None
            if path not in content
            else content[path]
            if path.endswith(DATABASE)
            else self.flushed.get(inode, b"")
            for path, inode in found
        }
        kept["names"] = {
            **{self._inside(path): content[path] for path in content if path.endswith(DATABASE)},
            **dict(self._named("", os.stat(self.folder).st_ino)),
        }
        assert self.states is not None
        lines = [f"{self.count} {kind} {_store(state, self.states)}\n" for kind, state in kept.items()]
        handle = _raw_open(str(self.states / "list"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, "".join(lines).encode())
        os.close(handle)

    def _named(self, inside: str, inode: int) -> Iterator[tuple[str, bytes | None]]:
        """What the flushed names lead to."""
        for name, number in self.names[inode].items():
            path = f"{inside}/{name}" if inside else name
            if number in self.names:
                yield path, None
                yield from self._named(path, number)
            elif number in self.held and os.path.isdir(f"/proc/self/fd/{self.held[number]}"):
                yield path, None  # a folder whose own names were never flushed
            elif not path.endswith(DATABASE):
                yield path, self.flushed.get(number, b"")

    def _inside(self, path: str) -> str:
        return os.path.relpath(path, self.folder)


_open, _real_file = os.open, io.open


def _raw_open(path: str, flags: int = os.O_RDONLY) -> int:
    return _open(path, flags, 0o666)


def _read(path: str) -> bytes:
    with _real_file(path, "rb") as file:
        return file.read()


def _store(state: State, states: Path) -> str:
    """Keep a state in a folder that is called by its content; its name."""
    digest = hashlib.sha256()
    for name, content in sorted(state.items()):
        digest.update(f"{name} {'folder' if content is None else len(content)}\n".encode() + (content or b""))
    key = digest.hexdigest()[:16]
    if not os.path.isdir(folder := f"{states}/{key}"):
        _mkdir(folder)
        for name, content in sorted(state.items()):
            path = f"{folder}/{name}"
            if content is None:
                if name != ".":
                    _makedirs(path)
                continue
            _makedirs(os.path.dirname(path))
            with _real_file(path, "wb") as file:
                file.write(content)
    return key


_mkdir = os.mkdir


def _makedirs(path: str) -> None:
    if not os.path.isdir(path):
        _makedirs(os.path.dirname(path))
        _mkdir(path)
