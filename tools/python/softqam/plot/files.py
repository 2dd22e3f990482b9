# SPDX-License-Identifier: MIT
"""What is known of files before their data are read, modulations, formats and metadata; and how files are written."""
from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import stat
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple


class Failure(Exception):
    """What main() says before it ends with the status."""

    def __init__(self, subject: str | None, cause: str, status: int = 1) -> None:
        super().__init__(f"{subject or repr('')}: {cause}" if subject is not None else cause)
        self.status = status


@contextlib.contextmanager
def failures_of(subject: str | None) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise Failure(subject, getattr(error, "strerror", None) or str(error)) from None


class Modulation(NamedTuple):
    """Of 3GPP TS 38.211 clause 5.1. BPSK's one bit chooses both I and Q; where a modulation rotates, symbols at odd
    positions are turned by a quarter. In level units, 1/sqrt(energy), I and Q of points are odd."""

    name: str
    n_bits: int
    axis_bits: int
    energy: int
    rotates: bool = False

    @property
    def outer(self) -> int:
        """The largest level."""
        return (1 << self.axis_bits) - 1

    @property
    def shown(self) -> str:
        return self.name.upper().replace("PI2", "\u03c0/2")


MODULATIONS = {
    modulation.name: modulation
    for modulation in (
        Modulation("bpsk", 1, 1, 2),
        Modulation("pi2-bpsk", 1, 1, 2, True),
        Modulation("qpsk", 2, 1, 2),
        Modulation("16qam", 4, 2, 10),
        Modulation("64qam", 6, 3, 42),
        Modulation("256qam", 8, 4, 170),
        Modulation("1024qam", 10, 5, 682),
    )
}


class Format(NamedTuple):
    """NumPy's type of a value, the suffixes of files, the scale of symbols, and the value of no current."""

    dtype: str
    suffixes: tuple[str, ...]
    scale: float = 1
    zero: int = 0


INPUT_FORMATS = {
    "cf32": Format("f4", (".cf32", ".fc32", ".cfile")),
    "cs16": Format("i2", (".cs16", ".sc16", ".ci16"), 1 / 32768),
    "cs8": Format("i1", (".cs8", ".sc8", ".ci8"), 1 / 128),
    "cf16": Format("f2", (".cf16",)),
    "cu8": Format("u1", (".cu8",), 1 / 128, 128),
    "cs32": Format("i4", (".cs32", ".ci32"), 1 / 2**31),
    "cf64": Format("f8", (".cf64",)),
}
SOFT_FORMATS = {name: Format(dtype, ("." + name,)) for name, dtype in
                (("u8", "u1"), ("s8", "i1"), ("s16", "i2"), ("f16", "f2"), ("f32", "f4"))}  # fmt: skip
DATATYPES = {"cf32_le": ("cf32", "<"), "cf32_be": ("cf32", ">"), "ci16_le": ("cs16", "<"), "ci16_be": ("cs16", ">"),
             "cf64_le": ("cf64", "<"), "cf64_be": ("cf64", ">"), "ci32_le": ("cs32", "<"), "ci32_be": ("cs32", ">"),
             "ci8": ("cs8", "<"), "cu8": ("cu8", "<")}  # fmt: skip
META, DATA = ".sigmf-meta", ".sigmf-data"


class Source(NamedTuple):
    """A file of symbols or soft bits: what the metadata of a recording say of it, or nothing."""

    path: str
    format: str | None = None
    order: str = "<"
    scale: float | None = None
    modulation: str | None = None
    meta: str | None = None


def one_of(names: Iterable[str]) -> str:
    return f"'{{}}' is not one of {', '.join(names)}"


def sigmf_base(path: str) -> str | None:
    """What the names of a recording's files begin with; None where the path is no recording's."""
    for suffix in (META, DATA):
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path if not os.path.exists(path) and os.path.exists(path + META) else None


def members_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, no name of which comes twice, and whose strings C has too."""
    if len(dict(pairs)) < len(pairs) or any("\0" in text for pair in pairs for text in pair if isinstance(text, str)):
        raise ValueError
    return dict(pairs)


def read_metadata(path: str) -> tuple[Mapping[str, Any], list[Any]]:
    """The objects 'global' and 'captures'."""
    with failures_of(path), open(path, "rb") as file:
        try:
            metadata = json.load(file, object_pairs_hook=members_of)
        except (ValueError, RecursionError):
            raise Failure(path, "not JSON, or an object in it has a name twice or a zero character") from None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("global"), dict):
        raise Failure(path, "not SigMF: there is no object 'global'")
    if not isinstance(metadata.get("captures"), (list, type(None))):
        raise Failure(path, "captures: not an array")
    return metadata["global"], metadata.get("captures") or []


def source_of(path: str, named: str | None) -> Source:
    """A file of symbols. One whose format is named is plain, whatever its name."""
    base = None if named is not None else sigmf_base(path)
    if base is None:
        return Source(path)
    meta = base + META
    whole, captures = read_metadata(meta)

    def member(name: str, kinds: Any, default: Any, fits: Callable[[Any], bool], cause: str) -> Any:
        """A member of 'global', of a kind, and if that is a number not negative."""
        value = whole.get(name, default)
        is_number = isinstance(value, (int, float))
        if name in whole and (isinstance(value, bool) or not isinstance(value, kinds) or is_number and not 0 <= value < 2**63):
            raise Failure(meta, f"{name}: not what SigMF has there")
        if not fits(value):
            raise Failure(meta, f"{name}: {cause.format(value)}")
        return value

    # Versions 0 and 1 mean the same by what is read here; what a later one means is not known.
    member("core:version", str, "1.0.0", lambda value: re.fullmatch(r"[01]\.[0-9]+\.[0-9]+", value) is not None,
           "'{}' is not supported, only versions 0 and 1")  # fmt: skip
    extensions = whole.get("core:extensions")
    for extension in extensions if isinstance(extensions, list) else ():
        if isinstance(extension, dict) and extension.get("optional") is False and extension.get("name") != "softqam":
            raise Failure(meta, f"core:extensions: '{extension.get('name')}' is required to read it, and not supported")
    format_, order = DATATYPES[member("core:datatype", str, "", DATATYPES.__contains__, one_of(DATATYPES))]
    modulation = member("softqam:modulation", str, None, {None, *MODULATIONS}.__contains__, one_of(MODULATIONS))
    scale = member("softqam:input_scale", (int, float), None, lambda value: value != 0, "not a positive number")
    member("core:num_channels", int, 1, lambda value: value == 1, "{}, but 1 is needed")
    member("softqam:c_init", int, 0, lambda value: value < 2**31, "not a whole number from 0 to 2147483647")
    for gap in ("core:dataset", "core:trailing_bytes", "core:header_bytes", "core:metadata_only"):
        if any(isinstance(where, dict) and where.get(gap, 0) != 0 for where in (whole, *captures)):
            raise Failure(meta, f"{gap}: data that do not conform to SigMF; copy the samples out of them")
    return Source(base + DATA, format_, order, scale, modulation, meta)


def is_file_of(path: str, source: Source) -> bool:
    """Whether it is a regular file that the source is read from, by whatever name or link."""
    with contextlib.suppress(OSError, ValueError):
        read = [other for other in (source.path, source.meta) if other and os.path.exists(other)]
        return os.path.isfile(path) and any(os.path.samefile(path, other) for other in read)
    return False


def write(path: str, data: bytes) -> None:
    """A regular file is replaced at once and whole; anything else is written to. No signal ends the program between the
    file's temporary name and its own."""
    replaced = None
    with failures_of(path):
        with contextlib.suppress(FileNotFoundError):
            replaced = os.stat(path)
        if replaced:
            with open(path, "ab") as file:  # which may not be allowed
                if not stat.S_ISREG(replaced.st_mode):
                    file.write(data)
                    return
        path = os.path.realpath(path)
        temporary = os.path.join(os.path.dirname(path), f".softqam-plot-{os.getpid()}-{os.urandom(4).hex()}.tmp")
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
        try:
            with open(temporary, "xb") as file:
                if replaced:
                    os.fchmod(file.fileno(), replaced.st_mode & 0o777)
                file.write(data)
            os.rename(temporary, path)
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
