"""One open file of any make, unpacked on the way when it is gzip, xz or zip; errors name the file."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Protocol

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import open_plain
from lovevec.progress import Progress

HEAD_BYTES = 1 << 20
# Vectors pack to a third, those of few distinct numbers to a twentieth: beyond this a file was made to fill memory.
MAX_COMPRESSION, UNSUSPICIOUS_BYTES = 100, 1 << 22
GZIP, XZ, ZIP = b"\x1f\x8b", b"\xfd7zXZ\x00", b"PK"  # the first bytes of such files
TAR, TAR_AT = b"ustar", 257  # a tar has these bytes there
NPY, FASTTEXT = b"\x93NUMPY", (793712314).to_bytes(4, "little")

# What the standard library raises on a damaged archive.
UNPACKING_ERRORS = (struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
DAMAGE = (OSError, EOFError, ValueError, OverflowError, RuntimeError, *UNPACKING_ERRORS)


class _Stream(Protocol):
    def read(self, count: int, /) -> bytes: ...


class ByteSource:
    """The bytes of a file, unpacked; `head` shows the first ones without using them up."""

    def __init__(self, path: Path, raw: IO[bytes], stream: _Stream, compression: str | None) -> None:
        self.path, self.raw, self.stream, self.compression = path, raw, stream, compression
        self.size = os.fstat(raw.fileno()).st_size
        self.returns = False  # whether \r is to be read as \n
        self.unpacked = 0
        self.head = self._pull(HEAD_BYTES)
        self.taken = 0  # how much of the head is used up

    def read(self, count: int) -> bytes:
        start = self.head[self.taken : self.taken + count]
        self.taken += len(start)
        return start + self._pull(count - len(start))

    def _pull(self, count: int) -> bytes:
        parts = []
        while count:
            try:
                part = self.stream.read(count)
            except DAMAGE as error:
                raise FormatError(self.path, damage_report(error)) from None
            if not part:
                break
            self.unpacked += len(part)
            check_compression(self.path, self.unpacked, self.raw.tell())
            parts.append(part.replace(b"\r", b"\n") if self.returns else part)
            count -= len(part)
        return b"".join(parts)

    def end_lines_at_returns(self) -> None:
        """From now on a carriage return is a line end; nothing else moves."""
        self.returns, self.head = True, self.head.replace(b"\r", b"\n")

    def share(self) -> float:
        unread = 0 if self.compression else len(self.head) - self.taken
        return min((self.raw.tell() - unread) / self.size, 1.0)


def check_compression(path: Path, unpacked: int, packed: int) -> None:
    """Refuse an archive whose bytes are so few, packed, that what it unpacks to can be no vectors."""
    if unpacked > UNSUSPICIOUS_BYTES and unpacked > MAX_COMPRESSION * packed:
        raise FormatError(
            path, f"unpacks to more than {MAX_COMPRESSION} times its size; unpack it yourself if it is good"
        )


def damage_report(error: Exception) -> str:
    """Say that an archive is broken, in the words of the library where it has any."""
    return f"damaged or cut: {str(error) or type(error).__name__}"


@contextmanager
def open_source(path: Path) -> Iterator[ByteSource]:
    """Open `path` for reading, through gzip, xz or zip where its first bytes say so."""
    with ExitStack() as stack:
        raw = stack.enter_context(open_raw(path))
        magic = raw.read(6)
        raw.seek(0)
        if not magic:
            raise FormatError(path, "the file is empty")
        stream: _Stream = raw
        compression = None
        try:
            if magic.startswith(GZIP):
                compression = "gzip"
                stream = stack.enter_context(gzip.GzipFile(fileobj=raw))
            elif magic == XZ:
                compression = "xz"
                stream = stack.enter_context(lzma.LZMAFile(raw, format=lzma.FORMAT_XZ))
            elif magic[:4] in (ZIP + b"\x03\x04", ZIP + b"\x05\x06"):
                archive = stack.enter_context(zipfile.ZipFile(raw))
                if not any(name.endswith(".npy") for name in archive.namelist()):  # else it is an .npz
                    compression = "zip"
                    stream = stack.enter_context(open_member(path, archive, _only_member(path, archive)))
        except DAMAGE as error:
            raise FormatError(path, damage_report(error)) from None
        yield ByteSource(path, raw, stream, compression)


@contextmanager
def opening(name: Path | str, what: str) -> Iterator[None]:
    """While a file is opened: one line that says why it cannot be, and for a folder `what` it should have been."""
    try:
        yield
    except FileNotFoundError:
        raise LovevecError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise LovevecError(f"{name}: a folder, not {what}") from None
    except PermissionError:
        raise LovevecError(f"{name}: no permission to read it") from None
    except (OSError, ValueError) as error:
        raise LovevecError(f"{name}: cannot be opened: {error}") from None


def open_raw(path: Path) -> IO[bytes]:
    """Open a plain file, and say in one line why it cannot be opened."""
    with opening(path, "a file of word vectors"):
        return open_plain(path)


def _only_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        names = ", ".join(member.filename for member in members[:8]) or "none"
        raise FormatError(path, f"a zip must hold exactly one file, this one holds {len(members)}: {names}")
    return members[0]


def open_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Open a file of a zip, if it is packed in one of the two usual ways."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(path, f"{member.filename} is packed by method {member.compress_type}, not deflate")
    return archive.open(member)


def file_hash(path: Path, progress: Progress | None = None) -> str:
    """Compute the SHA-256 of a file, a few MB at a time, in hexadecimal digits."""
    digest = hashlib.sha256()
    progress = progress or Progress(quiet=True)
    with open_raw(path) as file, progress.phase("hashing", os.path.getsize(path), "bytes") as phase:
        while block := file.read(1 << 22):
            digest.update(block)
            phase.advance(len(block))
    return digest.hexdigest()
