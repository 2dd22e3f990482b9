#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion for bash, made from what a program says of itself; zsh takes it after bashcompinit:

    make_completion.py PROGRAM > FILE

An option's line in --help has its names, its value's name, and what it is: "-q, --quiet  nothing but failures". A value
called FILE is a file; what is "auto, cpu or cuda" is one of these; so is a value called "0|1", and "X|auto" may be auto.
"""

import os
import re
import subprocess
import sys

OPTION = re.compile(r"^ {2,6}(-\S.*?)(?: {2,}(\S.*))?$", re.M)
NAME = re.compile(r"(--?[a-zA-Z][a-z-]*)(?: ([^\s,]+)|\[=(\w+))?")
ONE_OF = re.compile(r"^([\w-]+(?:, [\w-]+)* or [\w-]+)\b")
SOME_OF = re.compile(r"^some of (\w+(?:, ?\w+)+)\b")

BASH = """\
# bash completion for {program}, made from its --help
{function}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD-1]}} i
    # bash splits --option=value at the sign.
    if [[ $current == = ]]; then
        current=
    elif [[ $option == = ]]; then
        option=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${{COMP_WORDS[i]}} != -- ]] || option=--
    done
    case $option in
{cases}
    esac
    if [[ $current == -* && $option != -- ]]; then
        COMPREPLY=($(compgen -W '{options}' -- "$current"))
        return
    fi
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$current"))
}}
complete -F {function} {program}
"""


def choices(value, optional, description):
    """What an option's value can be; None: a file; empty: anything."""
    if value == "FILE":
        return None
    if optional:
        return [optional]
    match = value and (ONE_OF.match(description) or SOME_OF.match(description))
    if match:
        return re.split(r", ?| or ", match.group(1))
    return [word for word in value.split("|") if word and not word.isupper()]


def main():
    program = os.path.basename(sys.argv[1])
    text = subprocess.run([sys.argv[1], "--help"], check=True, capture_output=True, text=True).stdout
    names, unknown, cases = [], [], []
    for head, description in OPTION.findall(re.sub(r"\n {16,}(?=\S)", "  ", text)):
        pairs = NAME.findall(head)
        names += [name for name, _, _ in pairs if name.startswith("--")]
        pattern = " | ".join(name for name, _, _ in pairs)
        value, optional = max(value for _, value, _ in pairs), max(value for _, _, value in pairs)
        words = choices(value, optional, " ".join(description.split()))
        if words:
            cases.append(f"    {pattern})\n        COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$current\"))\n        return\n        ;;")
        elif value and words == []:
            unknown.append(pattern)
    cases += [f"    {' | '.join(unknown)}) return ;;"] * bool(unknown)
    function = "_" + program.replace("-", "_")
    print(BASH.format(program=program, function=function, cases="\n".join(cases), options=" ".join(sorted(names))), end="")


if __name__ == "__main__":
    main()
