#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion for a program, made from what it says of itself:

    make_completion.py bash|zsh|fish PROGRAM > FILE

An option's line in --help has its names, its value's name, and what it is: "-q, --quiet  nothing but failures". A value
called FILE is a file; what is "auto, cpu or cuda" is one of these; so is a value called "0|1", and "X|auto" may be auto.
"""

import os
import re
import subprocess
import sys

OPTION = re.compile(r"^ {2,6}(-\S.*?)(?: {2,}(\S.*))?$")
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


class Option:
    """Its names, whether it has a value, what that can be (None: a file; empty: anything), and what it does."""

    def __init__(self, head, description):
        pairs = NAME.findall(head)
        self.names = [name for name, _, _ in pairs]
        self.value = next((value for _, value, _ in pairs if value), None)
        self.optional = next((value for _, _, value in pairs if value), None)
        self.description = description

    def choices(self):
        if self.value == "FILE":
            return None
        if self.optional:
            return [self.optional]
        for pattern in (ONE_OF, SOME_OF):
            match = pattern.match(self.description)
            if self.value and match:
                return re.split(r", ?| or ", match.group(1))
        words = (self.value or "").split("|")
        return [word for word in words if len(words) > 1 and not word.isupper()]

    def summary(self):
        """What it does, up to the first stop, as one word of a shell."""
        return re.split(r"[;:.]|, \w+ to ", self.description)[0].replace("'", "").replace("[", "(").replace("]", ")")


def parse(text):
    options = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match:
            options.append((match.group(1), match.group(2) or ""))
        elif options and re.match(r"^ {16,}\S", line):
            options[-1] = (options[-1][0], f"{options[-1][1]} {line.strip()}".strip())
        elif not line:
            options.append(("", ""))  # what follows belongs to none
    return [Option(*option) for option in options if option[0]]


def bash(program, function, options):
    unknown, cases = [], []
    for option in options:
        if not option.value and not option.optional:
            continue
        words, names = option.choices(), " | ".join(option.names)
        if words:
            cases.append(f"    {names})\n        COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$current\"))\n        return\n        ;;")
        elif words == []:
            unknown.append(names)
    cases += [f"    {' | '.join(unknown)}) return ;;"] * bool(unknown)
    names = sorted({name for option in options for name in option.names if name.startswith("--")})
    return BASH.format(program=program, function=function, cases="\n".join(cases), options=" ".join(names))


def zsh(program, _, options):
    lines = [f"#compdef {program}", f"# zsh completion for {program}, made from its --help", "_arguments -s -S \\"]
    for option in options:
        words = option.choices()
        action = "_files" if words is None else f"({' '.join(words)})" if words else " "
        value = f":{option.value}:{action}" if option.value else f"::value:{action}" if option.optional else ""
        for name in option.names:
            sign = ("=" if name.startswith("--") else "+") if option.value else "=-" if option.optional else ""
            others = f"({' '.join(option.names)})" if len(option.names) > 1 else ""
            lines.append(f"    '{others}{name}{sign}[{option.summary()}]{value}' \\")
    return "\n".join([*lines, "    '*:file:_files'", ""])


def fish(program, _, options):
    lines = [f"# fish completion for {program}, made from its --help"]
    for option in options:
        words = option.choices()
        names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
        value = " -r" if option.value and words is None else f" -x -a '{' '.join(words or [])}'" if option.value else ""
        lines.append(f"complete -c {program}{names}{value} -d '{option.summary()}'")
    return "\n".join([*lines, ""])


def main():
    program = os.path.basename(sys.argv[2])
    options = parse(subprocess.run([sys.argv[2], "--help"], check=True, capture_output=True, text=True).stdout)
    shell = {"bash": bash, "zsh": zsh, "fish": fish}[sys.argv[1]]
    sys.stdout.write(shell(program, "_" + program.replace("-", "_"), options))


if __name__ == "__main__":
    main()
