#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Comments and documents are whole sentences: none opens with a word that makes a fragment of it ("Of symbols ..", "What a caller
has."), and none uses a phrase that readers stumbled over. A comment may be a noun: "The number of symbols." No variable has a
preposition for its name, except `from` and `to`, `before` and `after`, and `in` beside `out`.

    test_prose.py SOURCE_DIR           exit status 1 if something is wrong
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = ("include", "src", "cuda", "tools", "reference", "tests")
C_FILES = {".c", ".h", ".cu", ".cuh", ".cpp"}
C_COMMENT = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", re.MULTILINE | re.DOTALL)
HASH_COMMENT = re.compile(r'(?:^[ \t]*#[ ][^\n]*\n)+|^[ \t]*"""[^"]*', re.MULTILINE)

# A comment beside a member may be a clause, as "where LLRs go" or "as given".
FRAGMENT = re.compile(r"(?:Of|Those|The same of|What|Whether|Which|How|Where|That|As|Who|Whose|Nor|And|To be|(?:In|By|With|At|From) wh(?:ich|ere)"
                      r"|of|those|the same of|whether|which|that|as (?:much|many)|so (?:a|the))\s")
OPENING = re.compile(r"(?:^|[.:;] )(?:Of|Those of|The same of) [a-z]|; of [a-z]")
PHRASES = re.compile(r"\b(?:so many|by turns|stands? beside|(?:is|are) told (?:from|by)|in the place of|Those of|(?:can be|cannot be|as) told|(?:cannot|not) tell"
                     r"|of them tell|one behind the other|behind (?:it|them|its|\d+|the (?:last|first|others?))|beforehand|[Ss]ays? so of|\b[Aa]n? \w+ which not"
                     r"|(?:is|are) looked for|while nobody|find out|as \w+ have it|on any of which|that of one|but where|introduces? reasons|its own again)\b|\bGone:")
# A first sentence that begins with a preposition goes on after a comma, or has a verb.
PREPOSITION = re.compile(r"(?:In|On|At|By|With|For|To|Into|Behind|Before|After|Without|Beyond|Beside|Between|Against)\s")
CLAUSE = re.compile(r"[,:;]|\b(?:is|are|was|were|has|have|had|may|must|can|cannot|does|do|did|will|would|needs?|takes?|returns?|gets?|gives?)\b")
# A declared name: after a type, `*` or `&`, or after another declared one, and before what can follow it.
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
NAME = re.compile(r"(?:(?<!return)(?<!else)(?<!case)\b\w+\s+|[*&]\s*|,\s*)(at|of|on|by|with|behind|beyond|beside|into|onto)\s*(?=[;,)=\[{:])")
NAMED = {".c", ".h", ".cuh", ".cpp"}


def words_of(comment):
    """The comment's text on one line."""
    text = re.sub(r"^\s*/\*+<?|\*/$", "", comment)
    text = re.sub(r'^[ \t]*(?:\*(?=\s|$)|//+<?|#|""")', "", text, flags=re.MULTILINE)
    return " ".join(text.split())


def problems(text, opens):
    first = re.split(r"\.(?:\s|$)", text, maxsplit=1)[0]
    if opens and (FRAGMENT.match(text) or (PREPOSITION.match(text) and not CLAUSE.search(first))):
        yield f"opens with a fragment: {text[:60]}"
    for pattern in (OPENING, PHRASES):
        yield from (f'"{found.group(0).strip(" .:;")}": ..{text[found.start():found.start() + 60]}' for found in pattern.finditer(text))


def check_source(path):
    text = path.read_text(encoding="utf-8")
    for found in (C_COMMENT if path.suffix in C_FILES else HASH_COMMENT).finditer(text):
        for problem in problems(words_of(found.group(0)), True):
            yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}: {problem}"
    if path.suffix in NAMED:
        code = STRING.sub('""', C_COMMENT.sub(lambda found: "\n" * found.group(0).count("\n"), text))
        for found in NAME.finditer(code):
            yield f"{path.relative_to(ROOT)}:{code.count(chr(10), 0, found.start(1)) + 1}: a variable is named `{found.group(1)}`"


def check_document(path):
    text = re.sub(r"^```.*?^```|^ {4}.*?$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
        yield from (f"{path.relative_to(ROOT)}: {problem}" for problem in problems(" ".join(paragraph.split()), False))


sources = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts
                 and (path.suffix in C_FILES | {".py", ".sh", ".cmake"} or path.name == "CMakeLists.txt"))
documents = [path for path in sorted(ROOT.rglob("*.md")) if not {"build", ".cache", ".deps"} & set(path.relative_to(ROOT).parts)]
wrong = [problem for path in sources for problem in check_source(path)]
wrong += [problem for path in documents for problem in check_document(path)]
print(*wrong, f"{len(sources)} sources, {len(documents)} documents, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong or len(sources) < 100 or not documents else 0)
