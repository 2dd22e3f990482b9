#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which tests a preset runs is said by labels alone: no filter of CMakePresets.json looks at names, each names one label that
tests/harness/runs.cmake declares, and each runs some test of this build; no test has another label.

    test_labels.py SOURCE_DIR BUILD_DIR
"""
import json
import pathlib
import re
import sys

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:])
declared = re.search(r"^set\(test_labels (.*)\)$", (SOURCE / "tests/harness/runs.cmake").read_text(encoding="utf-8"), re.M)[1].split()
# Not by asking ctest, which would begin a new log while this test runs in it.
tests = [line for path in BUILD.rglob("CTestTestfile.cmake") for line in path.read_text(encoding="utf-8").splitlines()
         if line.startswith("set_tests_properties")]
used = {label for test in tests for field in re.findall(r' LABELS "([^"]*)"', test) for label in field.split(";") if label}
wrong = [f"tests have the label {label}, which runs.cmake does not declare" for label in used - set(declared)]
for preset in json.loads((SOURCE / "CMakePresets.json").read_text(encoding="utf-8"))["testPresets"]:
    for name, how in preset.get("filter", {}).items():
        found = name == "include" and how.keys() == {"label"} and re.fullmatch(r"\^(\w+)\$", how["label"])
        if not found or found[1] not in declared:
            wrong.append(f"the preset {preset['name']} does not choose its tests by one declared label: {name} {how}")
        elif found[1] not in used:
            wrong.append(f"the preset {preset['name']} runs no test: none has the label {found[1]}")
print(*wrong, f"{len(tests)} tests, {len(declared)} labels, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong or not tests else 0)
