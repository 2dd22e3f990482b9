#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The binary interface of the shared library, held against the one in this folder: library, functions, enumerations,
constants, and where members lie, a line each.

    abi.py check  core|cuda SOURCE CC [INCLUDE...]    exit status 1 if they differ at all, 77 without abigail-tools
    abi.py update core|cuda SOURCE CC [INCLUDE...]    writes what is there into this folder

core is softqam.h; cuda what softqam_cuda.h adds. Both are of x86-64, as libabigail reads them from a compiler's DWARF.
"""
import glob
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def build(part, source, compiler, includes, library):
    """The files that have the interface, without the rest, whose loops take minutes to compile: what they call is left
    undefined."""
    with open(f"{source}/include/softqam/softqam.h", encoding="utf-8") as file:
        major = re.search(r"^#define SOFTQAM_VERSION_MAJOR (\d+)$", file.read(), re.M).group(1)
    files, symbols = sorted(glob.glob(f"{source}/src/*.c")), "src/softqam.map"
    if part == "cuda":
        files, symbols = [f"{source}/cuda/device_calls.c", f"{source}/cuda/device_codeword.c"], "cuda/softqam_cuda.map"
    folders = [f"{source}/include", f"{source}/src", f"{source}/cuda", *includes]
    subprocess.run([compiler, "-std=c11", "-g", "-fPIC", "-shared", "-fvisibility=hidden", *(f"-I{folder}" for folder in folders), *files,
                    f"-Wl,--version-script={source}/{symbols}", f"-Wl,-soname,libsoftqam.so.{major}", "-o", library], check=True)


def name_of(types, identifier):
    """A type in terms of those that C has, structures and enumerations."""
    kind = types[identifier]
    name, target = kind.get("name"), kind.get("type-id")
    if kind.tag == "typedef-decl":
        return name_of(types, target)
    if kind.tag == "pointer-type-def":
        return name_of(types, target) + " *"
    if kind.tag == "qualified-type-def":
        return name_of(types, target) + " const"
    if kind.tag == "array-type-def":
        return name_of(types, target) + "".join(f"[{dimension.get('length')}]" for dimension in kind.iter("subrange"))
    return {"class-decl": "struct ", "enum-decl": "enum "}.get(kind.tag, "") + name


def constants(part, source):
    """The numbers that no type has: macros, and the values of an enumeration without a name. The version may change."""
    for name in ["softqam", "softqam_ldpc"] + ["softqam_cuda"] * (part == "cuda"):
        text = pathlib.Path(f"{source}/include/softqam/{name}.h").read_text(encoding="utf-8")
        values = "".join(re.findall(r"^enum \{(.*?)^\};", text, re.M | re.S))
        numbers = re.findall(r"^#define (SOFTQAM_(?!VERSION_)\w+) (\d+)$", text, re.M) + re.findall(r"^ +(SOFTQAM_\w+) = (\d+)", values, re.M)
        yield from (f"constant {constant} = {value}" for constant, value in numbers)


def describe(part, source, compiler, includes, work):
    library, path = f"{work}/libsoftqam.so", f"{work}/abi.xml"
    build(part, source, compiler, includes, library)
    subprocess.run(["abidw", "--headers-dir", f"{source}/include", "--drop-private-types", "--exported-interfaces-only", "--out-file",
                    path, library], check=True)
    root = ElementTree.parse(path).getroot()
    types = {}
    for element in root.iter():
        # A structure may stand elsewhere with its name alone.
        if "id" in element.attrib and not (element.get("is-declaration-only") and element.get("id") in types):
            types[element.get("id")] = element
    lines = list(constants(part, source))
    for function in root.iter("function-decl"):
        parameters = ", ".join(name_of(types, parameter.get("type-id")) for parameter in function.iter("parameter"))
        lines.append(f"function {function.get('elf-symbol-id')}: {name_of(types, function.find('return').get('type-id'))} ({parameters})")
    for kind in types.values():
        if kind.tag == "enum-decl":
            size = types[kind.find("underlying-type").get("type-id")].get("size-in-bits")
            values = sorted((int(value.get("value")), value.get("name")) for value in kind.findall("enumerator"))
            lines.append(f"enum {kind.get('name')} of {size} bits: " + ", ".join(f"{name} = {value}" for value, name in values))
        if kind.get("size-in-bits") and kind.tag == "class-decl":
            lines.append(f"struct {kind.get('name')}: {int(kind.get('size-in-bits')) // 8:3} bytes")
        for member in kind.findall("data-member"):
            at, variable = int(member.get("layout-offset-in-bits")) // 8, member.find("var-decl")
            lines.append(f"struct {kind.get('name')} at {at:3}: {variable.get('name')}, {name_of(types, variable.get('type-id'))}")
    symbols = {f"function {symbol.get('name')}@@{symbol.get('version')}" for symbol in root.iter("elf-symbol")}
    if symbols != {line.split(":")[0] for line in lines if line.startswith("function")}:
        sys.exit(f"abi.py: symbols that are not functions of the headers: {symbols}")
    return [f"library {root.get('soname')}", *sorted(set(lines))]


def main():
    action, part, source, compiler, *includes = sys.argv[1:]
    if not shutil.which("abidw"):
        print("skipped: no abidw (Debian: abigail-tools)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="softqam-abi-") as work:
        new = describe(part, source, compiler, includes, work)
    files = {part: HERE / f"softqam_{part}.abi" for part in ["core", "cuda"]}
    if part == "cuda":
        core = files["core"].read_text(encoding="utf-8").splitlines()
        new = new[:1] + [line for line in new[1:] if line not in core]
    kept = files[part].read_text(encoding="utf-8").splitlines()
    gone, added = [line for line in kept if line not in new], [line for line in new if line not in kept]
    print("\n".join([f"- {line}" for line in gone] + [f"+ {line}" for line in added]) or f"{part}: no difference")
    if action == "update":
        files[part].write_text("\n".join(new) + "\n", encoding="utf-8")
    elif gone or added:
        # A new field takes bytes that were reserved, a new value follows the others.
        breaks = any(not re.match(r"struct \w+ at +\d+: reserved", line) and not any(other.startswith(line + ",") for other in added) for line in gone)
        print("This breaks programs that are linked with the library: raise SOFTQAM_VERSION_MAJOR." if breaks else "Raise SOFTQAM_VERSION_MINOR.")
        sys.exit("Then `cmake --build BUILD --target update-abi` announces the change.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
