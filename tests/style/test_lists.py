#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists that no compiler can hold against the one they must agree with: instruction sets, formats and modulations by
name, in files of other languages, tests, tools and documents. A name that is added must be in each of these files.

    test_lists.py SOURCE_DIR
"""
import pathlib
import re
import sys


def names_of(text, pattern, what):
    found = re.findall(pattern, text)
    if len(found) < 3:
        sys.exit(f"{what}: found only {found}")
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])

    def read(name):
        return (root / name).read_text(encoding="utf-8")

    formats = read("src/params.h")

    def list_of(name):
        return names_of(re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", formats).group(1), r'\(\w+, "([^"]+)"', name)

    outputs, inputs = list_of("OUTPUT_FORMAT_LIST"), list_of("INPUT_FORMAT_LIST")
    modulations = [name.lower() for name in list_of("MODULATION_LIST")]
    shells = [name.replace("/", "-").replace("pi-2", "pi2") for name in modulations]
    variants = names_of(read("src/cpu/variant.c"), r"&softqam_cpu_(\w+)", "variants")
    checks = [
        ("an instruction set", variants, [
            "include/softqam/softqam.h", "tests/harness/runs.cmake", "tests/llr/llr_fixture.c", "tests/fuzz/fuzz_api.c",
            "tools/bench/host.c", "tests/README.md"]),
        ("an output format", outputs, [
            "README.md", "tools/demod/options.c", "tools/python/softqam/_names.py",
            "tools/python/softqam/plot.py", "tools/python/README.md",
            "tests/tools/output_formats.py", "tests/python/reference.py", "tests/harness/harness.c"]),
        ("an input format", inputs, [
            "tools/demod/options.c", "tests/harness/harness.c"]),
        ("a modulation", shells, [
            "tools/demod/options.c", "tools/gen/gen.c", "tools/common/modulation.c", "tools/python/softqam/_names.py",
            "tools/receivers/gnuradio/softqam_demapper.py", "tools/receivers/gnuradio/softqam_demapper.block.yml",
            "tests/harness/runs.cmake", "tests/harness/harness.c", "tests/README.md", "tests/tools/tools_harness.py",
            "tests/python/reference.py", "tests/vectors/llr/generate.c"]),
    ]
    wrong = []
    for what, names, files in checks:
        for name in files:
            text = read(name).lower()
            wrong += [f"{name}: does not name {what}, {each}" for each in names
                      if not re.search(rf"(?<![a-z0-9]){re.escape(each)}(?![a-z0-9])", text)]
    print("\n".join(wrong))
    print(f"{sum(len(files) for _, _, files in checks)} files, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


main()
