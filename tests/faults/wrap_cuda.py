#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the wrappers that make CUDA calls fail, for every CUDA function that the objects or libraries call.

    wrap_cuda.py OUTPUT.c OUTPUT.rsp NM CC INCLUDE_DIR FILE...

The functions are what nm says that FILE... leave undefined, their types what cuda_runtime_api.h says, so a call that is
new in the library is wrapped without being listed anywhere. OUTPUT.rsp gets the linker's --wrap options.
"""
import re
import subprocess
import sys

# What gives back memory or waits is done and then fails: left undone it would leak, or be under way still.
LATE = re.compile("Free|Destroy|Unregister|Synchronize")
# What tells how work went: wrong news where the device was lost meanwhile.
TELLS = re.compile("Synchronize|Query")
# Tells of errors past, and is no operation that could fail.
NOT_AN_OPERATION = {"cudaGetLastError", "cudaPeekAtLastError"}

HEAD = """/* SPDX-License-Identifier: MIT */
/* Written by wrap_cuda.py. */
#include <cuda_runtime_api.h>

#include "fault.h"

"""

WRAPPER = """cudaError_t __real_{name}({parameters});
cudaError_t __wrap_{name}({parameters});
cudaError_t __wrap_{name}({parameters})
{{
    const bool fails = fault_is_due_in_cuda("{name}");
    cudaError_t error = {error};
    if (!fails || {late}) {{
        fault_enter_cuda();
        const cudaError_t real = __real_{name}({arguments});
        fault_leave_cuda();
        error = fails || {lost} ? error : real;
    }}
    return error;
}}

"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def called(nm, files):
    names = set()
    for line in run(nm, "-u", *files).splitlines():
        match = re.fullmatch(r"\s*U (cuda[A-Z]\w*)", line)
        if match:
            names.add(match[1])
    return names


def split_parameters(text):
    parameters, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parameters.append("")
        else:
            parameters[-1] += c
    return [parameter.strip() for parameter in parameters]


def parameter_name(parameter):
    pointer_to_function = re.search(r"\(\s*\*\s*(\w+)\s*\)", parameter)
    return pointer_to_function[1] if pointer_to_function else re.search(r"(\w+)\s*(\[\w*\])?$", parameter)[1]


def error_of(name):
    if "lloc" in name:
        return "cudaErrorMemoryAllocation"
    return "cudaErrorNoDevice" if name == "cudaGetDeviceCount" else "cudaErrorLaunchFailure"


def main():
    source, options, nm, cc, include, *files = sys.argv[1:]
    header = run(cc, "-E", "-P", "-I", include, "-include", "cuda_runtime_api.h", "-x", "c", "/dev/null")
    prototypes = dict(re.findall(r"\bcudaError_t\s+(cuda\w+)\s*\(([^;]*)\)\s*;", header))
    text, wrapped = HEAD, []
    for name in sorted(called(nm, files) - NOT_AN_OPERATION):
        if name not in prototypes:  # returns no error
            continue
        parameters = prototypes[name].strip()
        arguments = "" if parameters == "void" else ", ".join(map(parameter_name, split_parameters(parameters)))
        late = "true" if LATE.search(name) else "false"
        lost = "fault_device_is_lost()" if TELLS.search(name) else "false"
        text += WRAPPER.format(
            name=name, parameters=parameters, arguments=arguments, error=error_of(name), late=late, lost=lost
        )
        wrapped.append(name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    with open(options, "w", encoding="utf-8") as file:
        file.write("".join(f"-Wl,--wrap={name}\n" for name in wrapped))


if __name__ == "__main__":
    main()
