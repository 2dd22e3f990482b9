#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The numeric contract needs a compiler that fuses nothing and reorders nothing. This proves that it was asked to, for
every object of the project. Whether it obeys in C shows in bytes (tests/llr); here it shows in the kernels' PTX.

    test_flags.py c    COMPILE_COMMANDS SOURCE_DIR            C objects
    test_flags.py cuda COMPILE_COMMANDS SOURCE_DIR LIBRARY    kernels; exit status 77 where there are none, or none to be read

COMPILE_COMMANDS is the build's compile_commands.json, LIBRARY the built shared library, whose PTX must not be compressed (nvcc
--no-compress), or the test is skipped.
"""
import json
import os
import re
import shlex
import sys

SKIPPED = 77
CODE_FOLDERS = ("src", "cuda", "reference", "tools")

# Each undoes the last two flags that the top CMakeLists.txt gives, if it comes after them.
FAST_MATH = {
    "-Ofast", "-ffast-math", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math",
    "-ffinite-math-only", "-fno-signed-zeros", "-fcx-limited-range", "-mdaz-ftz",
}


def commands(path, source_dir, suffix):
    """(file, arguments) of every compiled file of the project's own with this suffix."""
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    named = [(os.path.relpath(entry["file"], source_dir), entry) for entry in entries]
    return [(name, shlex.split(entry["command"])) for name, entry in named
            if name.split(os.sep)[0] in CODE_FOLDERS and name.endswith(suffix)]


def check_host_flags(name, flags):
    contract = [f for f in flags if f.startswith("-ffp-contract")]
    if not contract or contract[-1] != "-ffp-contract=off":
        sys.exit(f"{name}: contraction is not off: {contract or 'no -ffp-contract'}")
    if "-fno-fast-math" not in flags:
        sys.exit(f"{name}: -fno-fast-math is missing")
    last = len(flags) - 1 - flags[::-1].index("-fno-fast-math")
    harmful = [f for f in flags[last:] if f in FAST_MATH]
    if harmful:
        sys.exit(f"{name}: {harmful} after -fno-fast-math")


def test_c(compile_commands, source_dir):
    entries = commands(compile_commands, source_dir, ".c")
    if not any(name.startswith("src" + os.sep) for name, _ in entries):
        sys.exit(f"{compile_commands} has no file of src/")
    for name, arguments in entries:
        check_host_flags(name, arguments)
    print(f"{len(entries)} objects: no contraction, no fast-math")


# The reciprocal that vec_div() begins with.
ALLOWED = "rcp.approx.ftz.f32"

# In PTX, an addition or product without .rn may still be fused by whoever assembles it, the driver included.
PTX_TRAPS = {
    "approximate": re.compile(r"\b\w+[\w.]*\.approx\b[\w.]*"),
    "flushing subnormals": re.compile(r"\b\w+[\w.]*\.ftz\b[\w.]*"),
    "open to fusing": re.compile(r"\b(?:add|sub|mul)(?:\.sat)?\.f32"),
    "fused, but not rounded to nearest": re.compile(r"\bfma\.(?!rn(?:\.sat)?\.f32\b)[\w.]*f32"),
}


# Kernels of u8 soft bits (SOFTQAM_OUTPUT_U8 is 4), whose only fused operations are those that simd_cuda.cuh writes: what nvcc
# would fuse by itself shows in them, and all files are compiled alike.
KERNEL = re.compile(r"^\s*\.?(?:visible |weak )*\.entry\b", re.MULTILINE)
U8_KERNEL = re.compile(r"\s*\w*(?:plain|segment|soft)_kernelI\w*output_format4E")


def check_ptx(name, ptx):
    """Returns how many kernels of u8 soft bits there are."""
    kernels = KERNEL.split(ptx)[1:]
    u8_kernels = [kernel for kernel in kernels if U8_KERNEL.match(kernel)]
    if not kernels:
        sys.exit(f"{name}: no kernel in its PTX")
    for kernel in u8_kernels:
        found, written = (len(re.findall(pattern, kernel)) for pattern in (r"\bfma\.rn(?:\.sat)?\.f32", r"\bfma\.rn\.f32 sum,"))
        if written != found or written == 0:
            sys.exit(f"{name}: {found} fused operations in {kernel.split('(', 1)[0].strip()}, {written} of them written as such")
    words = set(ptx.split())
    if not words >= {"mul.rn.f32", "fma.rn.f32"}:
        sys.exit(f"{name}: no mul.rn.f32 or no fma.rn.f32 in its PTX, so this is not the arithmetic")
    for what, pattern in PTX_TRAPS.items():
        found = sorted(set(pattern.findall(" ".join(words))) - {ALLOWED})
        if found:
            sys.exit(f"{name}: {what}: {', '.join(found)}")
    return len(u8_kernels)


def host_compiler_flags(arguments):
    """What nvcc passes to the host compiler, in order; CMake has it forward what it does not know itself."""
    text = re.sub(r"(?<!\S)(?:-Xcompiler|--compiler-options)[= ]", "", " ".join(arguments))
    return re.findall(r"(?<![^\s,])-(?:f(?!mad)|Ofast|mdaz)[^\s,]*", text)


def check_nvcc_flags(name, arguments):
    check_host_flags(name, host_compiler_flags(arguments))
    text = " ".join(arguments)
    fmad = re.findall(r"(?<!\S)--?fmad[= ](\w+)", text)
    if not fmad or fmad[-1] != "false":
        sys.exit(f"{name}: --fmad=false is not the last word on fusing: {fmad}")
    if re.search(r"(?<!\S)--?(?:use_fast_math|ftz[= ]true|prec-div[= ]false|prec-sqrt[= ]false)", text):
        sys.exit(f"{name}: fast-math flags of nvcc: {text}")


def modules_of(library):
    """The PTX in a library, one text a kernel file and architecture, of those that are not compressed (nvcc --no-compress)."""
    with open(library, "rb") as file:
        return [text.decode() for text in re.findall(rb"^\.version [^\0]*", file.read(), re.MULTILINE)]


def test_cuda(compile_commands, source_dir, library):
    entries = commands(compile_commands, source_dir, ".cu")
    if not entries:
        print("skipped, no CUDA in this build")
        sys.exit(SKIPPED)
    for name, arguments in entries:
        check_nvcc_flags(name, arguments)
    with_kernels = [entry for entry in entries if entry[0].startswith("cuda" + os.sep)]
    if not with_kernels:
        sys.exit("cuda/ has no .cu file")
    modules = modules_of(library)
    targets = [int(re.search(r"^\.target sm_(\d+)", module, re.MULTILINE)[1]) for module in modules]
    if not modules:
        print("skipped, the library's PTX is compressed: configure with -DCMAKE_CUDA_FLAGS=--no-compress")
        sys.exit(SKIPPED)
    architectures = [int(number) for number in re.findall(r"compute_(\d+)", " ".join(with_kernels[0][1]))]
    for architecture in {min(architectures), max(architectures)}:
        if targets.count(architecture) != len(with_kernels):
            sys.exit(f"{library}: {targets.count(architecture)} PTX texts for {architecture}, "
                     f"not one of each of {len(with_kernels)} files")
    if sum(check_ptx(library, module) for module in modules) == 0:
        sys.exit("no kernel of u8 soft bits, in which unwanted fusing would show")
    print(f"{len(entries)} objects, {len(with_kernels)} with kernels: no fused, approximate or flushing instruction in the library's "
          f"PTX for {', '.join(map(str, sorted(set(targets))))}")


if __name__ == "__main__":
    {"c": test_c, "cuda": test_cuda}[sys.argv[1]](sys.argv[2], os.path.abspath(sys.argv[3]), *sys.argv[4:])
