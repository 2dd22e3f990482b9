#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A newcomer finds the way: every file says at its head what it is for, the README of a folder names each of its files,
links and paths in READMEs lead somewhere, and their lines are short; every value in a public header is documented.

    test_readmes.py SOURCE_DIR           exit status 1 where something is wrong
"""
import fnmatch
import os
import pathlib
import re
import sys

WIDTH = 150  # of a line that is no row of a table

# Folders each of whose files a README names, theirs or that of the folder above. What is left out explains itself.
LISTED = ("src", "cuda", "reference", "tools", "tools/common", "tools/demod", "tools/mpi", "tools/gen", "tools/bench", "tools/documents", "tests/faults")
OF_EVERY_FOLDER = {"README.md", "CMakeLists.txt"}

# Whose comment follows the licence, and how one begins.
COMMENTED = {".c": "/*", ".h": "/*", ".cu": "/*", ".cuh": "/*", ".cpp": ("//", "/*"), ".py": '"""', ".sh": "#", ".cmake": "#"}

SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"^[\w.*-]+(/[\w.*-]+)+$")
FOLDERS = {"include", "src", "cuda", "reference", "tests", "tools"}


def walk():
    """Paths of all files, from the root on."""
    found = [*pathlib.Path().glob("*"), *(path for top in FOLDERS for path in pathlib.Path(top).rglob("*"))]
    return {str(path) for path in found if path.is_file() and not {"__pycache__", "corpus"} & set(path.parts)}


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def check_head(path, paths):
    """The licence, then what the file is for; a file with a header of its name may leave that to the header."""
    stem, suffix = os.path.splitext(path)
    if suffix not in COMMENTED:
        return []
    text = read(path)
    lines = [line for line in text.split("\n")[:4] if not line.startswith("#!")]
    if '#include "../' in text and not path.startswith("tests/"):  # a build's include directories say whose headers a folder may include
        return [f"{path}: includes by a path out of its folder"]
    if "SPDX-License-Identifier: MIT" not in lines[0]:
        return [f"{path}: no licence in its first line"]
    if lines[1].startswith(COMMENTED[suffix]) or (suffix in (".c", ".cu") and stem + ".h" in paths):
        return []
    return [f"{path}: does not say what it is for"]


def check_values(path):
    """Every value of a public header's enumerations is documented, which Doxygen before 1.9.7 does not see to."""
    wrong, before = [], ""
    for n, line in enumerate(read(path).split("\n"), 1):
        documented = "/**<" in line or (before.endswith("*/") and "/**<" not in before)
        if re.match(r" +SOFTQAM_\w+ = \d", line) and not documented:
            wrong.append(f"{path}:{n}: {line.split()[0]} is not documented")
        before = line
    return wrong


def named_files(text):
    """Links, and the patterns in code spans; `.h` behind `name.c` is name.h."""
    patterns, stem = set(), ""
    for span in SPAN.findall(text):
        patterns.add(stem + span if span.startswith(".") and "/" not in span else span)
        stem = os.path.splitext(span)[0]
    return patterns | set(LINK.findall(text))


def check_listing(folder, paths):
    page = next(p for p in (f"{folder}/README.md", f"{os.path.dirname(folder)}/README.md") if p in paths)
    patterns = {os.path.basename(p) for p in named_files(read(page))}
    here = [os.path.basename(p) for p in paths if os.path.dirname(p) == folder]
    return [f"{page}: does not name {folder}/{name}" for name in here
            if name not in OF_EVERY_FOLDER and not any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def anchors(text):
    """What a link to a part of a page ends in."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def check_link(path, link):
    if link.startswith(("http:", "https:")):
        return []
    name, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
    if not os.path.exists(target):
        return [f"{path}: link to {link}, which is not there"]
    if anchor and anchor not in anchors(read(target)):
        return [f"{path}: link to {link}, which has no such heading"]
    return []


def check_span(path, span, paths):
    """A path into a folder of the project, from the root, from here or from a folder above; a test's may be without its
    suffix."""
    folders = FOLDERS | {".."} | {name for p in paths for name in os.path.dirname(p).split("/")}
    if not PATH.match(span) or "NAME" in span or span.split("/")[0] not in folders:
        return []
    here = os.path.normpath(os.path.join(os.path.dirname(path), span))
    known = paths | {os.path.splitext(p)[0] for p in paths} | {os.path.dirname(p) for p in paths}
    return [] if any(fnmatch.filter(known, p) for p in (span, here, f"*/{span}")) else [f"{path}: {span} is not there"]


def is_prose(lines):
    """Of each line whether it may be wrapped: no table, no code, no heading."""
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        yield bool(line) and not fenced and not line.startswith(("|", "    ", "```", "#", "!"))


def check_page(path, paths):
    text = read(path)
    lines = text.split("\n")
    wrong = [f"{path}:{n}: a line of {len(line)} characters, over {WIDTH}"
             for n, (line, prose) in enumerate(zip(lines, is_prose(lines)), 1) if prose and len(line) > WIDTH]
    for link in LINK.findall(text):
        wrong += check_link(path, link)
    for span in SPAN.findall(text):
        wrong += check_span(path, span, paths)
    return wrong


def main():
    os.chdir(sys.argv[1])
    paths = walk()
    pages = sorted(p for p in paths if p.endswith(".md"))
    wrong = [problem for path in sorted(paths) for problem in check_head(path, paths)]
    wrong += [problem for path in sorted(paths) if path.startswith("include/softqam/") for problem in check_values(path)]
    wrong += [problem for folder in LISTED for problem in check_listing(folder, sorted(paths))]
    wrong += [problem for page in pages for problem in check_page(page, paths)]
    print(*wrong, f"{len(paths)} files, {len(pages)} READMEs and the like, {len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
