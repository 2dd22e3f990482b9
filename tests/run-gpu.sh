#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a machine with a GPU: configures, builds, passes the whole suite with the GPU required, compares 2^27 symbols between CPU
# and CUDA, runs compute-sanitizer on the test programs, and benchmarks. Needs what tools/setup.sh installs, or the same in a
# folder named by CMAKE_PREFIX_PATH. Arguments go to cmake, such as -DCMAKE_CUDA_ARCHITECTURES=90. Results go to the folder
# RESULTS (default build/gpu/results).
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
results=${RESULTS:-build/gpu/results}
mkdir -p "$results"
export SOFTQAM_REQUIRE_GPU=1

step() {
    printf '== %s (%s s)\n' "$*" "$SECONDS"
}

step build
cmake --preset cuda -B build/gpu "$@" >"$results/configure.log"
cmake --build build/gpu -j "$(nproc)" >"$results/build.log" || { tail -50 "$results/build.log"; exit 1; }

step tests
ctest --test-dir build/gpu --output-on-failure --no-tests=error -j 4

step '2^27 symbols, CPU against CUDA'
SOFTQAM_TEST_SYMBOLS=$((1 << 27)) build/gpu/tests/test_cpu_cuda

# Races are looked for in parts of the suite: the tool costs milliseconds a launch, and the rest repeats the same kernels.
sanitize() {
    local tool=$1 program=$2
    shift 2
    SOFTQAM_TEST_BACKEND=cuda SOFTQAM_TEST_SYMBOLS=4096 \
        compute-sanitizer --tool "$tool" --error-exitcode 1 "build/gpu/tests/$program" "$@" \
        >"$results/$tool.$program.log" 2>&1 || { tail -40 "$results/$tool.$program.log"; exit 1; }
    grep -H 'ERROR SUMMARY\|RACECHECK SUMMARY' "$results/$tool.$program.log"
}
for tool in memcheck initcheck; do
    step "compute-sanitizer $tool"
    for program in test_api test_vectors test_demodulate test_llr test_cuda_device; do
        sanitize "$tool" "$program"
    done
done
step 'compute-sanitizer racecheck'
sanitize racecheck test_api
sanitize racecheck test_vectors
sanitize racecheck test_demodulate test_symbol_sets
sanitize racecheck test_cuda_device 'test_[gm]*'

step benchmark
build/gpu/tools/softqam-bench --json "$results/bench.json"
step done
