#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A wheel is made, is a manylinux wheel, and its bytes are softqam-demod's: for this machine, or for 64-bit Arm under qemu.
# SOFTQAM_TOOLS is the folder of softqam-demod.
#
#   test_wheel.sh SOURCE_DIR [aarch64]
set -euo pipefail
cd "$1"
machine=${2-$(uname -m)}
environment=$PWD/.cache/python
python=("$environment/bin/python3")
modules=$("${python[0]}" -c "import sysconfig, scikit_build_core, auditwheel; print(sysconfig.get_path('purelib'))") ||
    { echo "skipped, no scikit-build-core or no auditwheel"; exit 77; }
if [ -n "${2-}" ]; then
    python=(qemu-aarch64 ".cache/aarch64/usr/bin/$(basename "$(realpath "${python[0]}")")")
    modules=.cache/aarch64/site:$modules
    "${python[@]}" --version || { echo "skipped, no qemu or no Python for aarch64"; exit 77; }
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
rm -f build/wheels/softqam-*_"$machine".whl build/python/*/CMakeCache.txt
# A wheel has no CUDA unless SOFTQAM_CUDA asks for it: nvcc is not even tried.
mkdir "$folder/bin"
printf '#!/bin/sh\ntouch "%s/tried"\nexit 1\n' "$folder" >"$folder/bin/nvcc"
chmod +x "$folder/bin/nvcc"
# The compilers by the names that the build has them by: so ccache knows what was compiled there.
env -u SOFTQAM_CUDA CC=cc CXX=c++ CUDACXX="$folder/bin/nvcc" CMAKE_ARGS=-DSOFTQAM_WERROR=ON tools/python/wheel.sh "${@:2}"
[ ! -e "$folder/tried" ] || { echo "nvcc was tried"; exit 1; }
wheel=$(echo build/wheels/softqam-*-manylinux_2_*_"$machine".whl)
"$environment/bin/python3" -m zipfile -e "$wheel" "$folder"
[ ! -e "$folder/softqam.libs" ] || { echo "auditwheel had to add $(ls "$folder/softqam.libs")"; exit 1; }
PYTHONPATH=$folder:$modules SOFTQAM_PYTHON_PACKAGE=$folder \
    "${python[@]}" -B -m pytest -q -p no:cacheprovider tests/python/test_demod.py
