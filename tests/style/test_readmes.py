#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A newcomer finds the way: every file says at its head what it is for, the README of a folder names each of its files,
links and paths in READMEs lead somewhere; every value in a public header is documented. Documents and headers stay short.

    test_readmes.py SOURCE_DIR           exit status 1 if something is wrong
"""
import fnmatch
import os
import pathlib
import re
import sys

# Folders each of whose files a README names, theirs or that of the folder above. What is left out explains itself.
LISTED = ("src", "cuda", "reference", "tools", "tools/common", "tools/demod", "tools/mpi", "tools/gen", "tools/bench", "tools/documents", "tests/faults")
# Files with these suffixes have a comment after the licence, which begins so.
COMMENTED = {".c": "/*", ".h": "/*", ".cu": "/*", ".cuh": "/*", ".cpp": ("//", "/*"), ".py": '"""', ".sh": "#", ".cmake": "#"}

# The most words that all documents, and the comments of all public headers, may have together. What has other characters than
# letters, as names of the API and formulas do, is no word of a header.
DOCUMENTS_WORDS, HEADERS_WORDS = 14_000, 4_500

SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"^[\w.*-]+(/[\w.*-]+)+$")
FOLDERS = ("include", "src", "cuda", "reference", "tests", "tools")

os.chdir(sys.argv[1])
FILES = [*pathlib.Path().glob("*"), *(path for top in FOLDERS for path in pathlib.Path(top).rglob("*"))]
PATHS = sorted(str(path) for path in FILES if path.is_file() and not {"__pycache__", "corpus"} & set(path.parts))
TEXTS = {path: pathlib.Path(path).read_text(encoding="utf-8") for path in PATHS if path.endswith((".md", *COMMENTED))}
# Paths that a README may name: a test's without its suffix, or a folder.
KNOWN = {name for path in PATHS for name in (path, os.path.splitext(path)[0], os.path.dirname(path))}
TOPS = {*FOLDERS, "..", *(name for path in PATHS for name in os.path.dirname(path).split("/"))}


def check_head(path):
    """The licence, then what the file is for; a file with a header of its name may leave that to the header."""
    stem, suffix = os.path.splitext(path)
    lines = [line for line in TEXTS[path].split("\n")[:4] if not line.startswith("#!")]
    if '#include "../' in TEXTS[path] and not path.startswith("tests/"):  # a build's include directories say whose headers a folder may include
        yield "includes by a path out of its folder"
    if "SPDX-License-Identifier: MIT" not in lines[0]:
        yield "no licence in its first line"
    elif not lines[1].startswith(COMMENTED[suffix]) and not (suffix in (".c", ".cu") and stem + ".h" in PATHS):
        yield "does not say what it is for"


def check_values(path):
    """Every value of a public header's enumerations is documented, which Doxygen before 1.9.7 does not see to."""
    before = ""
    for line in TEXTS[path].split("\n"):
        documented = "/**<" in line or (before.endswith("*/") and "/**<" not in before)
        if re.match(r" +SOFTQAM_\w+ = \d", line) and not documented:
            yield f"{line.split()[0]} is not documented"
        before = line


def check_listing(folder):
    """Links and the patterns in code spans name each file; `.h` after `name.c` is name.h."""
    page = next(p for p in (f"{folder}/README.md", f"{os.path.dirname(folder)}/README.md") if p in PATHS)
    patterns, stem = {os.path.basename(link) for link in LINK.findall(TEXTS[page])}, ""
    for span in SPAN.findall(TEXTS[page]):
        patterns.add(os.path.basename(stem + span if span.startswith(".") and "/" not in span else span))
        stem = os.path.splitext(span)[0]
    for directory, name in (os.path.split(path) for path in PATHS):
        if directory == folder and name not in ("README.md", "CMakeLists.txt") and not any(fnmatch.fnmatchcase(name, p) for p in patterns):
            yield f"does not name {folder}/{name}"


def check_page(path):
    for link in LINK.findall(TEXTS[path]):
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if link.startswith(("http:", "https:")):
            continue
        if not os.path.exists(target):
            yield f"link to {link}, which is not there"
        elif anchor and anchor not in (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                                       for heading in re.findall(r"^#+ (.*)$", TEXTS[target], re.M)):
            yield f"link to {link}, which has no such heading"
    for span in SPAN.findall(TEXTS[path]):
        if not PATH.match(span) or "NAME" in span or span.split("/")[0] not in TOPS:
            continue
        here = os.path.normpath(os.path.join(os.path.dirname(path), span))
        if not any(fnmatch.filter(KNOWN, p) for p in (span, here, f"*/{span}")):
            yield f"{span} is not there"


def check_words():
    documents = [text for path, text in TEXTS.items() if path.endswith(".md")] + [path.read_text(encoding="utf-8") for path in pathlib.Path(".github").glob("*.md")]
    comments = [comment for path in TEXTS if path.startswith("include/") for comment in re.findall(r"/\*\*.*?\*/", TEXTS[path], re.S)]
    for what, n, most in (("documents", sum(len(text.split()) for text in documents), DOCUMENTS_WORDS),
                          ("public headers", sum(len(re.findall(r"\b[A-Za-z]+\b", comment)) for comment in comments), HEADERS_WORDS)):  # fmt: skip
        print(f"{what}: {n} words")
        if n > most:
            yield f"{what}: more than {most} words"


wrong = [f"{path}: {problem}" for path in TEXTS for check in
         ([check_page] if path.endswith(".md") else [check_head, check_values] if path.startswith("include/") else [check_head])
         for problem in check(path)]
wrong += check_words()
wrong += [f"{folder}: its README {problem}" for folder in LISTED for problem in check_listing(folder)]
print(*wrong, f"{len(PATHS)} files, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong or len(PATHS) < 100 else 0)
