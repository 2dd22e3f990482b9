#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The binary interface of the shared library, held against the one in this folder by libabigail.

    abi.py check  core|cuda  --source DIR [...]    exit status 1 where they differ at all, 77 without abigail-tools
    abi.py update core|cuda  --source DIR [...]    writes what is there into this folder; refuses what breaks callers,
                                                   unless the loader keeps them from running: by a new major version,
                                                   or by new versions of all symbols

core is softqam.h; cuda what softqam_cuda.h adds. Both are of x86-64, where the files in this folder come from.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
# Of abidiff's exit status.
FAILED, INCOMPATIBLE = 1 | 2, 8


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"abi.py: {' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def major_version(arguments):
    with open(f"{arguments.source}/include/softqam/softqam.h", encoding="utf-8") as file:
        return re.search(r"^#define SOFTQAM_VERSION_MAJOR (\d+)$", file.read(), re.M).group(1)


def build(arguments, work, sources, *options):
    """The files that have the interface, without the rest, whose loops take minutes to compile: what they call is left
    undefined."""
    library = os.path.join(work, "libsoftqam.so")
    run(arguments.cc, "-std=c11", "-g", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{arguments.source}/include",
        f"-I{arguments.source}/src", *options, *sources, f"-Wl,--version-script={arguments.source}/src/softqam.map",
        f"-Wl,-soname,libsoftqam.so.{major_version(arguments)}", "-o", library)
    return library


def build_core(arguments, work):
    return build(arguments, work, sorted(glob.glob(f"{arguments.source}/src/*.c")))


def build_cuda(arguments, work):
    return build(arguments, work, [f"{arguments.source}/cuda/device_calls.c"], f"-I{arguments.source}/cuda",
                 f"-I{arguments.cuda_include}", f"-Wl,--version-script={arguments.source}/cuda/softqam_cuda.map")


def dump(arguments, library, path):
    run("abidw", "--headers-dir", f"{arguments.source}/include", "--drop-private-types", "--exported-interfaces-only",
        "--type-id-style", "hash", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--out-file", path, library)
    # Where in which file something is declared is no interface. One line a member.
    with open(path, encoding="utf-8") as file:
        text = file.read().replace(arguments.source + "/", "")
    with open(path, "w", encoding="utf-8") as file:
        text = re.sub(r" filepath='[^']*' line='\d+' column='\d+'", "", text)
        file.write(re.sub(r">\n +(<var-decl [^\n]*/>)\n +</data-member>", r">\1</data-member>", text))


def compare(old, new):
    done = subprocess.run(["abidiff", "--harmless", old, new], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode & FAILED:
        sys.exit(f"abi.py: abidiff: {done.stdout}")
    return done.returncode, done.stdout


def needed_by_callers(path):
    """What the loader looks for when it starts a program that is linked with this library: the library's name, with each
    version that one of its symbols has."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    soname = re.search(r" soname='([^']*)'", text)
    return {(soname and soname.group(1), version) for version in re.findall(r"<elf-symbol [^>]* version='([^']*)'", text)}


def check(kept, new):
    status, report = compare(kept, new)
    if status == 0:
        print(f"{os.path.basename(kept)}: no difference")
        return 0
    print(report)
    print("This breaks programs that are linked with the library: raise SOFTQAM_VERSION_MAJOR or, before 1.0, the version in "
          "the .map files." if status & INCOMPATIBLE
          else "Where programs that are linked with the library still run, raise SOFTQAM_VERSION_MINOR; else _MAJOR.")
    print("Then `cmake --build BUILD --target update-abi` announces the change.")
    return 1


def update(kept, new):
    if os.path.exists(kept):
        status, report = compare(kept, new)
        print(report, end="")
        if status & INCOMPATIBLE and needed_by_callers(kept) & needed_by_callers(new):
            print("abi.py: this breaks programs that are linked with the library: raise SOFTQAM_VERSION_MAJOR first or, before "
                  "1.0, the version in the .map files", file=sys.stderr)
            return 1
    shutil.copyfile(new, kept)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "update"])
    parser.add_argument("part", choices=["core", "cuda"])
    parser.add_argument("--source", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cuda-include", default="/usr/local/cuda/include")
    arguments = parser.parse_args()
    if not shutil.which("abidiff"):
        print("skipped: no abidiff (Debian: abigail-tools)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="softqam-abi-") as work:
        library = (build_core if arguments.part == "core" else build_cuda)(arguments, work)
        new = os.path.join(work, "new.abi")
        dump(arguments, library, new)
        return (check if arguments.action == "check" else update)(os.path.join(HERE, f"softqam_{arguments.part}.abi"), new)


if __name__ == "__main__":
    sys.exit(main())
