# SPDX-License-Identifier: MIT
"""Shared by the tests. SOFTQAM_PYTHON_PACKAGE is the folder that the package must come from, if it is set;
SOFTQAM_TOOLS that of softqam-demod."""
import os
from pathlib import Path

import numpy as np
import pytest

import softqam


def pytest_sessionfinish(session, exitstatus):
    """Makes it a skip if nothing could be tested."""
    seen = session.config.pluginmanager.get_plugin("terminalreporter").stats
    skipped = exitstatus == 0 or exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and seen.get("skipped")
    if skipped and not seen.get("passed"):
        session.exitstatus = 77


def pytest_configure():
    folder = os.environ.get("SOFTQAM_PYTHON_PACKAGE")
    if folder and Path(folder).resolve() != Path(softqam.__file__).resolve().parent.parent:
        raise pytest.UsageError(f"softqam is {softqam.__file__}, not that of {folder}")


@pytest.fixture
def rng():
    return np.random.default_rng(20240)
