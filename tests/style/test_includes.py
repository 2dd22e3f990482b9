#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Includes run one way between the folders and never in a circle, and no folder uses a library that is not its to use.

    test_includes.py SOURCE_DIR
"""
import os
import re
import sys

# Who may include whose headers. reference/ is independent of the library, which is its worth; quality.c judges the
# library's output, by its public header.
FOLDERS = {
    "include": {"include"},
    "src": {"src", "include"},
    "cuda": {"cuda", "src", "include"},
    "reference": {"reference"},
    "tools": {"tools", "include", "reference"},
    "tests": {"tests", "tools", "reference", "cuda", "src", "include"},
}  # fmt: skip
EXCEPTIONS = {("reference/quality.c", "include")}

# Where other people's headers may be included, by the beginning of the file's path. All else is the C library's.
LIBRARIES = {
    "liquid/": ("reference/", "tests/", "tools/receiver/front_end.c"),
    "cuda": ("cuda/", "tests/", "include/softqam/softqam_cuda.h", "tools/bench/gpu", "tools/mpi/cuda_devices.c", "tools/receiver/engine.c"),
    "Random123/": ("tests/", "tools/"),
    "cmocka.h": ("tests/",),
    "itpp/": ("tests/",),
    "cjson/": ("tools/bench/", "tools/common/sigmf", "tools/demod/report.c", "tests/faults/fault_cjson.c", "tests/fuzz/fuzz_sigmf.c"),
    "openssl/": ("tools/common/sha512.c", "tests/fuzz/fuzz_sigmf.c"),
    "nanobind/": ("tools/python/",),
    "ocudu/": ("tools/receivers/ocudu/", "tests/receivers/"),
    "mpi.h": ("tools/mpi/demod_mpi.c",),
    "nvtx3/": ("cuda/ranges.h",),
}  # fmt: skip

SUFFIXES = (".c", ".h", ".cpp", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def read_includes(source_dir):
    """The includes of every file, by its path."""
    includes = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(source_dir, folder)):
            for name in names:
                if name.endswith(SUFFIXES):
                    full = os.path.join(path, name)
                    with open(full, encoding="utf-8") as file:
                        includes[os.path.relpath(full, source_dir)] = INCLUDE.findall(file.read())
    return includes


def resolve(path, name, files):
    """The project's file that an include means: beside the including file, else the only one of that name, or the only
    one in the folders whose headers it may include; or None."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if beside in files:
        return beside
    found = [f for f in files if f.endswith("/" + name)]
    if len(found) > 1:
        found = [f for f in found if f.split("/")[0] in FOLDERS[path.split("/")[0]]]
    return found[0] if len(found) == 1 else None


def check_library(path, name):
    for library, places in LIBRARIES.items():
        if name.startswith(library):
            return [] if path.startswith(places) else [f"{path}: {name} is not for this file"]
    if "/" in name and not name.startswith(("sys/", "linux/")):
        return [f"{path}: {name} belongs to no library in test_includes.py"]
    return []


def check_file(path, includes, files):
    """What is wrong, and which of the project's files it includes."""
    wrong, included = [], []
    folder = path.split("/")[0]
    for mark, name in includes:
        target = resolve(path, name, files)
        if target is None:
            wrong += [f"{path}: no file is {name}"] if mark == '"' else check_library(path, name)
            continue
        included.append(target)
        to = target.split("/")[0]
        if to not in FOLDERS[folder] and (path, to) not in EXCEPTIONS:
            wrong.append(f"{path}: {folder} must not include {target}")
    return wrong, included


def find_circle(graph):
    done, path = set(), []

    def visit(file):
        if file in path:
            return path[path.index(file):] + [file]
        if file in done:
            return None
        path.append(file)
        for target in graph[file]:
            circle = visit(target)
            if circle:
                return circle
        path.pop()
        done.add(file)
        return None

    for file in graph:
        circle = visit(file)
        if circle:
            return circle
    return None


def main():
    files = read_includes(sys.argv[1])
    if not all(any(f.startswith(folder + "/") for f in files) for folder in FOLDERS):
        sys.exit(f"{sys.argv[1]}: not all of {', '.join(FOLDERS)} are there")
    wrong, graph = [], {}
    for path in sorted(files):
        found, graph[path] = check_file(path, files[path], files)
        wrong += found
    circle = find_circle(graph)
    if circle:
        wrong.append("a circle: " + " -> ".join(circle))
    print(*wrong, f"{len(files)} files, {sum(map(len, files.values()))} includes, {len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
