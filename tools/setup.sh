#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that building softqam needs; with the argument "tests", also those of the tests. Does nothing
# where all are installed. CUDA is not among them: where nvcc is found it is used.
set -euo pipefail

packages=(gcc g++ libc6-dev cmake ninja-build libliquid-dev librandom123-dev libcjson-dev python3 gnuplot-nox)
case "${1-}" in
"") ;;
tests) packages+=(clang clang-format libclang-rt-14-dev libcmocka-dev libitpp-dev binutils
    g++-aarch64-linux-gnu qemu-user libliquid-dev:arm64 libcmocka-dev:arm64) ;;
*)
    echo "usage: tools/setup.sh [tests]" >&2
    exit 2
    ;;
esac

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    # Twice where two architectures' are installed.
    [[ "$state" == *"install ok installed"* ]] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "tools/setup.sh: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
if [[ "${missing[*]}" == *:arm64* ]]; then
    "${as_root[@]}" dpkg --add-architecture arm64
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
