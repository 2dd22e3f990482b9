#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The numeric contract needs a compiler that fuses nothing and reorders nothing. This proves that it was asked to, for
every object of the project. Whether it obeys in C shows in bytes (tests/llr); here it shows in the kernels' PTX.

    test_flags.py c    COMPILE_COMMANDS SOURCE_DIR            C objects
    test_flags.py cuda COMPILE_COMMANDS SOURCE_DIR LIBRARY    kernels; exit status 77 if there are none, or none to be read

COMPILE_COMMANDS is the build's compile_commands.json, LIBRARY the built shared library, whose PTX must not be compressed (nvcc
--no-compress), or the test is skipped.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77
CODE_FOLDERS = ("src", "cuda", "reference", "tools")


def commands(path, source_dir, suffix):
    """(file, command) of every compiled file of the project's own with this suffix."""
    with open(path, encoding="utf-8") as file:
        named = [(os.path.relpath(entry["file"], source_dir), entry["command"]) for entry in json.load(file)]
    return [(name, command) for name, command in named if name.split(os.sep)[0] in CODE_FOLDERS and name.endswith(suffix)]


def check_host_flags(name, command):
    """The last two flags that the top CMakeLists.txt gives are there, and nothing after them undoes them. nvcc passes on to the
    host compiler what follows -Xcompiler."""
    flags = re.sub(r"(?<!\S)(?:-Xcompiler|--compiler-options)[= ]|,", " ", command).split()
    contract = [flag for flag in flags if flag.startswith("-ffp-contract")]
    if contract[-1:] != ["-ffp-contract=off"] or "-fno-fast-math" not in flags:
        sys.exit(f"{name}: contraction is not off, or -fno-fast-math is missing")
    signs = [flag for flag in flags if flag in ("-fsigned-char", "-funsigned-char", "-fno-signed-char", "-fno-unsigned-char")]
    if name.endswith(".c") and signs[-1:] != ["-fsigned-char"]:
        sys.exit(f"{name}: the sign of char is left to the user's flags")
    after = flags[len(flags) - flags[::-1].index("-fno-fast-math"):]
    harmful = [flag for flag in after if re.fullmatch(
        "-Ofast|-mdaz-ftz|-fno-signed-zeros|-fcx-limited-range|-f(fast|unsafe|associative|reciprocal|finite)-math\\S*", flag)]
    if harmful:
        sys.exit(f"{name}: {harmful} after -fno-fast-math")


def test_c(compile_commands, source_dir):
    entries = commands(compile_commands, source_dir, ".c")
    if not any(name.startswith("src" + os.sep) for name, _ in entries):
        sys.exit(f"{compile_commands} has no file of src/")
    for name, command in entries:
        check_host_flags(name, command)
    print(f"{len(entries)} objects: no contraction, no fast-math")


# In PTX, an addition or product without .rn may still be fused by whoever assembles it, the driver included.
PTX_TRAPS = {
    "approximate": re.compile(r"\b\w+[\w.]*\.approx\b[\w.]*"),
    "flushing subnormals": re.compile(r"\b\w+[\w.]*\.ftz\b[\w.]*"),
    "open to fusing": re.compile(r"\b(?:add|sub|mul)(?:\.sat)?\.f32"),
    "fused, but not rounded to nearest": re.compile(r"\bfma\.(?!rn(?:\.sat)?\.f32\b)[\w.]*f32"),
}
ALLOWED = "rcp.approx.ftz.f32"  # the reciprocal that vec_div() begins with
# Kernels of u8 soft bits (SOFTQAM_OUTPUT_U8 is 4), whose only fused operations are those that simd_cuda.cuh writes: what nvcc
# would fuse by itself shows in them, and all files are compiled alike. Compiled fastest, kernels also hold what they never reach: then one
# file is compiled again for this.
KERNEL = re.compile(r"^\s*\.?(?:visible |weak )*\.entry\b", re.MULTILINE)
U8_KERNEL = re.compile(r"\s*\w*(?:plain|segment|soft)_kernelI\w*output_format4E")


def check_ptx(name, ptx, is_optimised):
    """Returns how many kernels of u8 soft bits there are. A module without kernels has tables alone."""
    if not KERNEL.search(ptx):
        return 0
    u8_kernels = [kernel for kernel in KERNEL.split(ptx)[1:] if U8_KERNEL.match(kernel)]
    for kernel in u8_kernels:
        found, written = kernel.count("fma.rn.f32") + kernel.count("fma.rn.sat.f32"), kernel.count("fma.rn.f32 sum,")
        if is_optimised and (written != found or written == 0):
            sys.exit(f"{name}: {found} fused operations in {kernel.split('(', 1)[0].strip()}, {written} of them written as such")
    words = {word for word in set(ptx.split()) if word[0].isalpha() and "." in word}  # instructions
    if not words >= {"mul.rn.f32", "fma.rn.f32"}:
        sys.exit(f"{name}: no mul.rn.f32 or fma.rn.f32 in its PTX, so this is not the arithmetic")
    for what, pattern in PTX_TRAPS.items():
        found = sorted(set(pattern.findall(" ".join(words))) - {ALLOWED})
        if found:
            sys.exit(f"{name}: {what}: {', '.join(found)}")
    return len(u8_kernels)


def optimised_ptx(path, command, architecture):
    """Returns a file's PTX, compiled as `command` compiles it or another file fastest, but optimised."""
    with tempfile.NamedTemporaryFile("r", suffix=".ptx") as file:
        for pattern, text in (("--Ofast-compile=max", "--Ofast-compile=mid"), (r"--generate-code=\S+", f"-arch=compute_{architecture}"),
                              (" -c .*", f" -ptx {shlex.quote(path)} -o {file.name}")):
            command = re.sub(pattern, text, command)
        subprocess.run(command, shell=True, check=True)
        return file.read()


def test_cuda(compile_commands, source_dir, library):
    entries = commands(compile_commands, source_dir, ".cu")
    if not entries:
        print("skipped, no CUDA in this build")
        sys.exit(SKIPPED)
    for name, command in entries:
        check_host_flags(name, command)
        if re.findall(r"(?<!\S)--?fmad[= ](\w+)", command)[-1:] != ["false"]:
            sys.exit(f"{name}: --fmad=false is not the last word on fusing")
        if re.search(r"(?<!\S)--?(?:use_fast_math|ftz[= ]true|prec-div[= ]false|prec-sqrt[= ]false)", command):
            sys.exit(f"{name}: fast-math flags of nvcc: {command}")
    with_kernels = [command for name, command in entries if name.startswith("cuda" + os.sep)]
    with open(library, "rb") as file:  # one text a kernel file and architecture
        modules = [text.decode() for text in re.findall(rb"^\.version [^\0]*", file.read(), re.MULTILINE)]
    if not modules:
        print("skipped, the library's PTX is compressed: configure with -DCMAKE_CUDA_FLAGS=--no-compress")
        sys.exit(SKIPPED)
    targets = [int(re.search(r"^\.target sm_(\d+)", module, re.MULTILINE)[1]) for module in modules]
    architectures = [int(number) for number in re.findall(r"compute_(\d+)", with_kernels[0])]
    for architecture in {min(architectures), max(architectures)}:
        if targets.count(architecture) != len(with_kernels):
            sys.exit(f"{library}: {targets.count(architecture)} PTX texts for {architecture}, not one of each of {len(with_kernels)} files")
    is_optimised = "--Ofast-compile=max" not in with_kernels[0]
    n_u8_kernels = sum(check_ptx(library, module, is_optimised) for module in modules)
    if not is_optimised:
        path = os.path.join(source_dir, "cuda", "plain_kernels_cs8.cu")
        n_u8_kernels = check_ptx(path, optimised_ptx(path, with_kernels[0], min(architectures)), True)
    if n_u8_kernels == 0:
        sys.exit("no kernel of u8 soft bits, in which unwanted fusing would show")
    print(f"{len(entries)} objects, {len(with_kernels)} with kernels: no fused, approximate or flushing instruction in the library's "
          f"PTX for {', '.join(map(str, sorted(set(targets))))}")


if __name__ == "__main__":
    {"c": test_c, "cuda": test_cuda}[sys.argv[1]](sys.argv[2], os.path.abspath(sys.argv[3]), *sys.argv[4:])
