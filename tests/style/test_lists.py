#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists that no compiler can hold against the one they must agree with: instruction sets, formats and modulations by
name, in files of other languages, tests, tools and documents; and the fields of segments where the library reads them
and where trials give them values. A name that is added must be in each of these files.

    test_lists.py SOURCE_DIR
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])


def read(names):
    """The text of some files, whose names are separated by spaces."""
    return "".join((ROOT / name).read_text(encoding="utf-8") for name in names.split())


def names_of(text, pattern, what):
    found = re.findall(pattern, text)
    if len(found) < 3:
        sys.exit(f"{what}: found only {found}")
    return [name.lower().replace("pi/2-", "pi2-") for name in found]


def list_of(name):
    """The names in a macro of src/params.h."""
    rows = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", read("src/params.h")).group(1)
    return names_of(rows, r'\(\w+, "([^"]+)"', name)


def fields_of(struct):
    """The fields of a public structure, without the reserved ones."""
    header = re.sub(r"/\*.*?\*/", "", read("include/softqam/softqam.h include/softqam/softqam_ldpc.h"), flags=re.S)
    body = re.search(rf"typedef struct {struct} {{(.*?)\n}}", header, re.S).group(1)
    return names_of(body, r"\b(?!reserved)(\w+)(?:\[[^\]]*\])?;", struct)


CHECKS = [
    ("an instruction set", names_of(read("src/cpu/variant.c"), r"&softqam_cpu_(\w+)", "variants"), [
        "include/softqam/softqam.h", "tests/harness/runs.cmake", "tests/llr/llr_fixture.c",
        "tools/bench/host.c", "tests/README.md"]),
    ("an output format", list_of("OUTPUT_FORMAT_LIST"), [
        "README.md", "tools/demod/options.c", "tools/python/softqam/_names.py",
        "tools/python/softqam/plot.py", "tools/python/README.md",
        "tests/tools/output_formats.py", "tests/python/symbols.py", "tests/harness/harness.c"]),
    ("an input format", list_of("INPUT_FORMAT_LIST"), [
        "tools/demod/options.c", "tests/harness/harness.c"]),
    ("a modulation", list_of("MODULATION_LIST"), [
        "tools/demod/options.c", "tools/gen/gen.c", "tools/common/modulation.c", "tools/python/softqam/_names.py",
        "tools/receivers/gnuradio/softqam_demapper.py", "tools/receivers/gnuradio/softqam_demapper.block.yml",
        "tests/cpu/CMakeLists.txt", "tests/harness/harness.c", "tests/README.md", "tests/tools/tools_harness.py",
        "tests/python/symbols.py", "tests/vectors/llr/generate.py"]),
]
FIELD_FILES = ["src/resolved_segment.h src/soft_buffer.h src/cpu/cpu_demodulate.c",
               "tests/llr/trial.c tests/llr/trial_codeword.c tests/llr/llr_fixture.c"]
# The fields of other structures that are of these.
STRUCTS = {"softqam_segment": [], "softqam_layer": ["layers"], "softqam_codeword": ["codeword"]}


def fields_without_access(struct, names):
    """The fields of a structure that some files neither read nor set, by a variable or a field that is of it."""
    text = re.sub(r"/\*.*?\*/", "", read(names), flags=re.S)
    holders = "|".join(re.findall(rf"\b{struct} \*?(?:const )?(\w+)", text) + STRUCTS[struct])
    return [name for name in fields_of(struct) if not re.search(rf"\b(?:{holders})(?:\[[^\]]*\])?(?:->|\.){name}\b", text)]


wrong = [f"{file}: does not name {what}, {name}" for what, names, files in CHECKS for file in files for name in names
         if not re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", read(file).lower())]
wrong += [f"{names}: no access to a field of {struct}, {name}" for struct in STRUCTS for names in FIELD_FILES
          for name in fields_without_access(struct, names)]
n_files = sum(len(files) for _, _, files in CHECKS) + len(STRUCTS) * len(FIELD_FILES)
print(*wrong, f"{n_files} files, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong else 0)
