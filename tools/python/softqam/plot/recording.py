# SPDX-License-Identifier: MIT
"""Files of symbols and of soft bits, and what the metadata of a SigMF recording of symbols say."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, NamedTuple

from .failure import Failure, cause_of
from .modulation import MODULATIONS

META, DATA = ".sigmf-meta", ".sigmf-data"
DATATYPES = {"cf32_le": ("cf32", "<"), "cf32_be": ("cf32", ">"), "ci16_le": ("cs16", "<"), "ci16_be": ("cs16", ">"),
             "cf64_le": ("cf64", "<"), "cf64_be": ("cf64", ">"), "ci32_le": ("cs32", "<"), "ci32_be": ("cs32", ">"),
             "ci8": ("cs8", "<"), "cu8": ("cu8", "<")}  # fmt: skip


class Source(NamedTuple):
    """A file of symbols or soft bits: what the metadata of a recording say of it, or nothing."""

    path: str
    format: str | None = None
    order: str = "="
    scale: float | None = None
    modulation: str | None = None
    meta: str | None = None


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


def read_metadata(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            metadata = json.load(file, object_pairs_hook=members_of)
    except OSError as error:
        raise Failure(path, cause_of(error)) from None
    except (ValueError, RecursionError):
        raise Failure(path, "not JSON, or an object in it has a name twice or a zero character") from None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("global"), dict):
        raise Failure(path, "not SigMF: there is no object 'global'")
    return metadata


def member(path: str, members: Mapping[str, Any], name: str, kind: type | tuple[type, ...], default: Any) -> Any:
    """A member of the metadata, of a kind, and if that is a number not negative."""
    if name not in members:
        return default
    value = members[name]
    if (
        isinstance(value, bool)
        or not isinstance(value, kind)
        or isinstance(value, (int, float))
        and not 0 <= value < 2**63
    ):
        raise Failure(path, f"{name}: not what SigMF has there")
    return value


def check_versions(path: str, whole: Mapping[str, Any]) -> None:
    """Versions 0 and 1 mean the same by what is read here. What a later one means is not known, nor what an extension
    does that must be understood."""
    version = member(path, whole, "core:version", str, "1.0.0")
    if not re.fullmatch(r"[01]\.[0-9]+\.[0-9]+", version):
        raise Failure(path, f"core:version: '{version}' is not supported, only versions 0 and 1")
    extensions = whole.get("core:extensions")
    for extension in extensions if isinstance(extensions, list) else ():
        if isinstance(extension, dict) and extension.get("optional") is False and extension.get("name") != "softqam":
            raise Failure(path, f"core:extensions: '{extension.get('name')}' is required to read it, and not supported")


def source_of(path: str, named: str | None) -> Source:
    """A file of symbols. One whose format is named is plain, whatever its name."""
    base = None if named is not None else sigmf_base(path)
    if base is None:
        return Source(path)
    meta = base + META
    metadata = read_metadata(meta)
    whole, captures = metadata["global"], metadata.get("captures")
    check_versions(meta, whole)
    datatype = member(meta, whole, "core:datatype", str, "")
    if datatype not in DATATYPES:
        raise Failure(meta, f"core:datatype: '{datatype}' is not one of {', '.join(DATATYPES)}")
    modulation = member(meta, whole, "softqam:modulation", str, None)
    if modulation is not None and modulation not in MODULATIONS:
        raise Failure(meta, f"softqam:modulation: '{modulation}' is not one of {', '.join(MODULATIONS)}")
    n_channels = member(meta, whole, "core:num_channels", int, 1)
    if n_channels != 1:
        raise Failure(meta, f"core:num_channels: {n_channels}, but 1 is needed")
    if captures is not None and not isinstance(captures, list):
        raise Failure(meta, "captures: not an array")
    for gap in ("core:dataset", "core:trailing_bytes", "core:header_bytes", "core:metadata_only"):
        if any(isinstance(where, dict) and where.get(gap, 0) != 0 for where in (whole, *(captures or ()))):
            raise Failure(meta, f"{gap}: data that do not conform to SigMF; copy the samples out of them")
    scale = member(meta, whole, "softqam:input_scale", (int, float), None)
    if scale == 0:
        raise Failure(meta, "softqam:input_scale: not a positive number")
    if member(meta, whole, "softqam:c_init", int, 0) >= 2**31:
        raise Failure(meta, "softqam:c_init: not a whole number from 0 to 2147483647")
    format_, order = DATATYPES[datatype]
    return Source(base + DATA, format_, order, scale, modulation, meta)
