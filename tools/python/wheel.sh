#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the wheel in build/wheels, for this machine or with the argument aarch64 for 64-bit Arm; auditwheel gives it the name of
# the oldest manylinux that it runs on. Needs what tools/setup.sh tests installs. Options of CMake are in CMAKE_ARGS.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
PATH=$root/.cache/python/bin:$PATH
export CMAKE_ARGS="-DSOFTQAM_CUDA_ALL=ON ${CMAKE_ARGS-}" # with CUDA, for every GPU
case "${1-}" in
"") other_machine=() ;;
aarch64)
    # sysconfig then describes the other machine's Python.
    other_machine=(_PYTHON_HOST_PLATFORM=linux-aarch64 _PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata__aarch64-linux-gnu
        "CMAKE_TOOLCHAIN_FILE=$root/tests/harness/aarch64.cmake" "CMAKE_ARGS=-DSOFTQAM_CUDA=OFF ${CMAKE_ARGS-}")
    ;;
*)
    echo "usage: tools/python/wheel.sh [aarch64]" >&2
    exit 2
    ;;
esac
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
env "${other_machine[@]}" python3 -c 'import sys, scikit_build_core.build as b; b.build_wheel(sys.argv[1])' "$folder"
auditwheel repair -w "$root/build/wheels" "$folder"/*.whl
