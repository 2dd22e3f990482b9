#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A wheel is made, is a manylinux wheel, and its bytes of 256QAM are softqam-demod's: for this machine, or for 64-bit Arm under qemu. Or a
# source distribution: it has all that a build needs, somewhere else and without git, and says who made it; a wheel of it has
# the same bytes. SOFTQAM_TOOLS is the folder of softqam-demod.
#
#   test_wheel.sh SOURCE_DIR [aarch64|sdist]
set -euo pipefail
cd "$1"
root=$PWD
environment=$root/.cache/python
python=("$environment/bin/python3")
modules=$("${python[0]}" -c "import sysconfig, scikit_build_core, auditwheel; print(sysconfig.get_path('purelib'))") ||
    { echo "skipped, no scikit-build-core or no auditwheel"; exit 77; }
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
fail() {
    echo "$1"
    exit 1
}
# Calls of the build backend in this folder, as a front end makes them. The compilers by the names that the build has them by: so
# ccache knows what was compiled there.
backend() {
    PATH=$environment/bin:$PATH CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CC=cc CXX=c++ CMAKE_ARGS="-DSOFTQAM_WERROR=ON ${options-}" "${python[0]}" -B -c \
        'import sys; sys.path.insert(0, ""); import build_backend; getattr(build_backend, sys.argv[1])(sys.argv[2])' "$@"
}

if [ "${2-}" = sdist ]; then
    (cd tools/python && backend build_sdist "$folder")
    [ ! -e tools/python/library ] || fail "the sources were changed"
    tar -xzf "$folder"/softqam-*.tar.gz -C "$folder"
    sources=$(echo "$folder"/softqam-*/)
    for field in Author: 'Classifier: Typing :: Typed' 'Classifier: License :: OSI'; do
        grep -q "^$field" "$sources/PKG-INFO" || fail "PKG-INFO has no $field"
    done
    for part in CMakeLists.txt LICENSE cuda include reference src; do
        diff -r --exclude results --exclude __pycache__ "$part" "$sources/library/$part"
    done
    # A distribution of the distribution is the same; then the wheel. The same vector loops need not be compiled once more.
    options=-DSOFTQAM_VECTOR_LOOPS=OFF
    (cd "$sources" && backend build_sdist "$folder/again" && backend build_wheel "$folder")
    diff <(tar -tzf "$folder"/softqam-*.tar.gz | sort -u) <(tar -tzf "$folder"/again/softqam-*.tar.gz | sort -u)
    wheel=$(echo "$folder"/softqam-*.whl)
else
    if [ -n "${2-}" ]; then
        python=(qemu-aarch64 ".cache/aarch64/usr/bin/$(basename "$(realpath "${python[0]}")")")
        modules=.cache/aarch64/site:$modules
        "${python[@]}" --version || { echo "skipped, no qemu or no Python for aarch64"; exit 77; }
    fi
    machine=${2-$(uname -m)}
    rm -f build/wheels/softqam-*_"$machine".whl build/python/*/CMakeCache.txt
    # A wheel has no CUDA unless SOFTQAM_CUDA asks for it: nvcc is not even tried.
    printf '#!/bin/sh\ntouch "%s/tried"\nexit 1\n' "$folder" >"$folder/nvcc"
    chmod +x "$folder/nvcc"
    env -u SOFTQAM_CUDA CC=cc CXX=c++ CUDACXX="$folder/nvcc" CMAKE_ARGS=-DSOFTQAM_WERROR=ON tools/python/wheel.sh "${@:2}"
    [ ! -e "$folder/tried" ] || fail "nvcc was tried"
    wheel=$(echo build/wheels/softqam-*-manylinux_2_*_"$machine".whl)
fi
"$environment/bin/python3" -m zipfile -e "$wheel" "$folder/installed"
# Without an index that has softqam, pip adds an extra's packages to an installed softqam, and builds nothing.
if [ $# = 1 ] && "$environment/bin/python3" -c "import matplotlib" && /usr/bin/python3 -m pip --version; then
    PYTHONPATH=$folder/installed:$modules /usr/bin/python3 -m pip --python "${python[0]}" install --no-index 'softqam[plot]' | tee "$folder/log"
    grep -q 'already satisfied: softqam\[plot\]' "$folder/log" && grep -q 'already satisfied: matplotlib' "$folder/log" ||
        fail "softqam[plot] is not what the installed softqam and matplotlib are"
fi
[ ! -e "$folder/installed/softqam.libs" ] || fail "auditwheel had to add $(ls "$folder/installed/softqam.libs")"
PYTHONPATH=$folder/installed:$modules SOFTQAM_PYTHON_PACKAGE=$folder/installed \
    "${python[@]}" -B -m pytest -q -p no:cacheprovider -k 256qam tests/python/test_demod.py
