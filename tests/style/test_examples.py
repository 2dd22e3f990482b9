#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every example of C in the documents, as C11 and as C++17, and each public header alone, as C99 and as C++11, the oldest
that they are for, warnings being errors. test_package.py links a program in C++.

    test_examples.py SOURCE_DIR CC CXX [INCLUDE...]

Without CUDA's headers, a folder of which is an INCLUDE, softqam_cuda.h is left out.
"""
import pathlib
import re
import subprocess
import sys

ROOT, COMPILERS, INCLUDES = pathlib.Path(sys.argv[1]), sys.argv[2:4], sys.argv[4:]

# What an example uses without saying where it comes from, by a line that only this example has.
CODEWORD = "extern uint64_t G; extern uint32_t C, c_init; extern unsigned Qm; extern size_t soft_buffer_values; "
BUFFERS = ("extern softqam_segment segment; extern int8_t *soft_buffers; extern softqam_demodulator *demodulator; "
           "extern softqam_status status; ")
DECLARATIONS = {
    "// host memory, as often as you like":
        "extern const float *symbols, *noise_var; extern size_t n_symbols; extern int8_t *llrs;",
    "// zero selects each field's default": CODEWORD + "extern int8_t *llrs; extern const float *symbols, *noise_var; "
                                               "extern softqam_demodulator *demodulator;",
    "grant.tb_size = tb_size;": CODEWORD + BUFFERS + "extern uint32_t tb_size, tbs_lbrm;",
    "grant.n_bits = G_again;": CODEWORD + BUFFERS + "extern softqam_ldpc_grant grant; extern softqam_ldpc ldpc; "
                               "extern uint64_t G_again; extern uint32_t n_cbg, cbgti; extern const float *symbols_again, *noise_var_again;",
    "// noise_stride 0: one sigma^2": "extern const float *channel, *received, sigma_squared; extern float *z, *gain, *cross; "
                                         "extern size_t n_elements, n_antennas; extern int8_t *llrs;",
    "runs[k].n_elements": BUFFERS + "extern softqam_segment segments[]; extern size_t n_runs; "
                          "struct run { size_t n_elements; const float *symbols, *noise_var; int8_t *uci_llrs; "
                          "int is_data; }; extern const struct run *runs;",
}
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-Wno-unused-variable",
            "-Wno-unused-but-set-variable"]


def examples():
    """The place and the text of each."""
    documents = [p for p in ROOT.rglob("*.md") if not {"build", ".cache", ".deps"} & set(p.relative_to(ROOT).parts)]
    for path in sorted(documents):
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"^```(?:c|cpp)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 2}", found.group(1)


def compile_text(place, text, standards, *options):
    """Compiles a text in C and in C++; returns how often it compiled."""
    n = 0
    for compiler, language, standard in zip(COMPILERS, ("c", "c++"), standards):
        done = subprocess.run([compiler, "-x" + language, "-std=" + standard, *options, f"-I{ROOT}/include", *(f"-isystem{path}" for path in INCLUDES),
                               "-fsyntax-only", "-"], input=text, capture_output=True, text=True, check=False)
        n += done.returncode == 0
        if done.returncode != 0:
            wrong.append(f"{place} as {standard}:\n{done.stderr}")
    return n


n_compiled, wrong, unused = 0, [], set(DECLARATIONS)
for header in ["softqam", *(["softqam_cuda"] if INCLUDES else [])]:
    compile_text(header, f"#include <softqam/{header}.h>\n", ("c99", "c++11"), "-pedantic", "-Wshadow", "-Wundef", *WARNINGS)
for place, text in examples():
    keys = [key for key in DECLARATIONS if key in text]
    if len(keys) != 1:
        wrong.append(f"{place}: an example that {'no' if not keys else 'more than one'} entry of DECLARATIONS is for")
        continue
    unused.discard(keys[0])
    body = "".join(line + "\n" for line in text.splitlines() if line.strip() != "..." and "#include" not in line)
    program = ("#include <math.h>\n#include <stdio.h>\n#include <softqam/softqam.h>\n" + DECLARATIONS[keys[0]] +
               "\nvoid example(void);\nvoid example(void)\n{\n" + body + "}\n")
    n_compiled += compile_text(place, program, ("c11", "c++17"), *WARNINGS)
wrong += [f"no example has the line: {key}" for key in unused]
print(*wrong, f"{n_compiled} examples compiled, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong or n_compiled == 0 else 0)
