#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sets the machine up and passes the tests: the formatting, then the whole suite in each build below. With arguments, only
# the builds named. Where nvcc is found, the release build has all CUDA code in it; its GPU tests need a GPU and are skipped
# visibly without one (SOFTQAM_REQUIRE_GPU=1 makes them fail instead).
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
builds=("$@")
[ $# -gt 0 ] || builds=(release clang asan tsan aarch64)

tools/setup.sh tests

echo "== formatting"
find include src cuda reference tests tools \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
    -print0 | xargs -0 clang-format --dry-run -Werror

for build in "${builds[@]}"; do
    echo "== $build"
    cmake --preset "$build" -G Ninja >/dev/null
    cmake --build --preset "$build"
    ctest --preset "$build" -j "$(nproc)"
done
