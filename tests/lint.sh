#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What can be found without running anything: formatting, clang-tidy on the product (rules in .clang-tidy), cppcheck on all C
# (exceptions in style/cppcheck.txt). Needs what tools/setup.sh tests installs.
set -euo pipefail
cd "$(dirname "$0")/.."
folders=(include src cuda reference tests tools)

echo "== formatting"
find "${folders[@]}" \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
    -print0 | xargs -0 clang-format --dry-run -Werror

echo "== clang-tidy"
cmake -S . -B build/lint -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DSOFTQAM_CUDA=OFF \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
# Each file once, however many programs it is in.
python3 - build/lint/compile_commands.json <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    commands = {command["file"]: command for command in reversed(json.load(file))}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(list(commands.values()), file)
END
log=build/lint/clang-tidy.log
# Not the vector loops, on which it works for minutes: they are made of what it sees in portable.c.
# The analyzer looks at 40,000 places of a function (225,000 by itself), which takes a third of the time.
analyzer=(-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=40000)
run-clang-tidy -quiet -j "$(nproc)" -p build/lint "${analyzer[@]}" \
    "^$PWD/(?!src/cpu/\w+_loops\.c)(src|cuda|reference|tools)/.*\.c$" >"$log" 2>&1 ||
    { grep -v '^clang-tidy\|warnings generated\|^$' "$log"; exit 1; }

echo "== cppcheck"
cppcheck --quiet -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppressions-list=tests/style/cppcheck.txt -D_GNU_SOURCE -I include -I src -I cuda -I reference -I tools -I tests/harness -I tests/faults \
    src cuda reference tools tests
