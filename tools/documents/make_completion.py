#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bash completion for a program, made from what it says of itself:

    make_completion.py PROGRAM > FILE

An option's line in --help has its names, its value's name, and what it is: "-q, --quiet  nothing but failures". A value
called FILE is a file; what is "auto, cpu or cuda" is one of these; so is a value called "0|1".
"""

import os
import re
import subprocess
import sys

OPTION = re.compile(r"^ {2,6}(-\S.*?)(?: {2,}(\S.*))?$")
NAME = re.compile(r"(--?[a-zA-Z][a-z-]*)(?: ([^\s,]+))?")
ONE_OF = re.compile(r"^([\w-]+(?:, [\w-]+)* or [\w-]+)\b")
SOME_OF = re.compile(r"^some of (\w+(?:, ?\w+)+)\b")

TEMPLATE = """\
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


def parse(text):
    """(names, value's name or None, description) of each option."""
    options = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match:
            pairs = NAME.findall(match.group(1))
            value = next((value for _, value in pairs if value), None)
            options.append([[name for name, _ in pairs], value, match.group(2) or ""])
        elif options and re.match(r"^ {16,}\S", line):
            options[-1][2] = f"{options[-1][2]} {line.strip()}".strip()
        elif not line:
            options.append([[], None, ""])  # what follows belongs to none
    return [option for option in options if option[0]]


def choices(value, description):
    """The values that an option can have; None for a file; empty where nothing is known."""
    if value == "FILE":
        return None
    match = ONE_OF.match(description)
    if match:
        return re.split(r", | or ", match.group(1))
    match = SOME_OF.match(description)
    if match:
        return re.split(", ?", match.group(1))
    return value.split("|") if re.fullmatch(r"\w+(\|\w+)+", value) else []


def merge(options):
    """By names: an option may have more than one line."""
    known = {}
    for names, value, description in options:
        if not value:
            continue
        found = choices(value, description)
        old = known.get(tuple(names), [])
        if found == [] and value.isalpha() and value.islower():
            found = [value]  # --noise-var auto
        known[tuple(names)] = None if found is None or old is None else old + found
    return known


def case(names, words):
    return f"""    {" | ".join(names)})
        COMPREPLY=($(compgen -W '{" ".join(words)}' -- "$current"))
        return
        ;;"""


def cases_of(values):
    """Where an option's value is completed; a file's in the way of an operand's."""
    unknown = [name for names, words in values.items() if words == [] for name in names]
    cases = [case(names, words) for names, words in values.items() if words]
    return "\n".join(cases + [f"    {' | '.join(unknown)}) return ;;"] * bool(unknown))


def main():
    program = os.path.basename(sys.argv[1])
    options = parse(subprocess.run([sys.argv[1], "--help"], check=True, capture_output=True, text=True).stdout)
    names = sorted({name for names, _, _ in options for name in names if name.startswith("--")})
    function = "_" + program.replace("-", "_")
    sys.stdout.write(
        TEMPLATE.format(program=program, function=function, cases=cases_of(merge(options)), options=" ".join(names))
    )


if __name__ == "__main__":
    main()
