# SPDX-License-Identifier: MIT
"""scikit-build-core, but a source distribution also has what lies outside this folder: the library, in `library`."""
from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_LIBRARY = ("CMakeLists.txt", "LICENSE", "cuda", "include", "reference", "src")
_IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", "results")


def _stage(folder: Path) -> None:
    """Makes a copy of this folder that needs nothing outside it."""
    shutil.copytree(_HERE, folder, ignore=_IGNORED)
    shutil.copy(_ROOT / "LICENSE", folder)
    for name in _LIBRARY:
        source, target = _ROOT / name, folder / "library" / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=_IGNORED)
        else:
            shutil.copy(source, target)
    project = folder / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("../../include", "library/include").replace("../../build/python", "build"), encoding="utf-8")


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    if (_HERE / "library").is_dir():
        return _build.build_sdist(sdist_directory, config_settings)
    directory, here = os.path.abspath(sdist_directory), os.getcwd()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "softqam"
        _stage(folder)
        try:
            os.chdir(folder)
            return _build.build_sdist(directory, config_settings)
        finally:
            os.chdir(here)
