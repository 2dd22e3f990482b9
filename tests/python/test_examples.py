# SPDX-License-Identifier: MIT
"""The documents' examples run as they stand, in an empty folder."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    (document, text)
    for document in ("README.md", "tools/python/README.md")
    for text in re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)
    if "import" in text
]


def test_every_document_has_one():
    assert {document for document, _ in EXAMPLES} == {"README.md", "tools/python/README.md"}


@pytest.mark.parametrize("document, text", EXAMPLES)
def test_example(tmp_path, document, text):
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for expected, printed in zip(re.findall(r"^print.*# (.*)$", text, re.M), done.stdout.splitlines()):
        assert printed.endswith(expected)
    assert not os.listdir(tmp_path)

