#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a machine with a GPU: configures, builds, passes the whole suite with the GPU required, compares 2^27 symbols of each set
# of test_exhaustive between CPU and CUDA, runs compute-sanitizer on the test programs, benchmarks, and times a receiver. Needs what tools/setup.sh
# installs, or the same in a folder named by CMAKE_PREFIX_PATH. Arguments go to cmake, such as -DCMAKE_CUDA_ARCHITECTURES=90.
#
# STEPS     what is done after the build, default "tests compare memcheck initcheck racecheck synccheck bench receiver"
# RESULTS   folder for logs and bench.json, default build/gpu/results
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
results=${RESULTS:-build/gpu/results}
mkdir -p "$results"
export SOFTQAM_REQUIRE_GPU=1
api_programs=(test_api test_bad_calls)
device_programs=(test_cuda_device_{calls,pointers,segments,codewords})
value_programs=(test_soft_bits test_llr_specified)

sanitize() {
    local tool=$1 program=$2 log
    shift 2
    log=$results/$tool.$program.${1:-all}.log
    local -a options=(--tool "$tool" --error-exitcode 1)
    # An allocation that is too large is one of its tests, which memcheck reports as an error of the driver's.
    [ "$program" != test_bad_calls ] || options+=(--report-api-errors no)
    SOFTQAM_TEST_BACKEND=cuda SOFTQAM_TEST_PERCENT=1 compute-sanitizer "${options[@]}" \
        "build/gpu/tests/$program" "$@" >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
    echo "$program ${1:-}: $(grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$log")"
}

# Programs of which some tests take hours so: chunks of one symbol, each a launch of milliseconds.
sanitize_parts() {
    sanitize "$1" test_llr_segments test_combinations
    sanitize "$1" test_llr_segments test_cuts
    sanitize "$1" test_llr_segments test_random
    sanitize "$1" test_llr_calls test_input_formats
}

run_step() {
    case "$1" in
    tests) ctest --test-dir build/gpu --output-on-failure --no-tests=error -j 4 ;;
    compare) SOFTQAM_TEST_BACKEND=cuda SOFTQAM_TEST_STRIDE=31 build/gpu/tests/test_exhaustive ;;
    memcheck | initcheck)
        for program in "${api_programs[@]}" "${device_programs[@]}" "${value_programs[@]}"; do
            sanitize "$1" "$program"
        done
        sanitize_parts "$1"
        ;;
    racecheck | synccheck)
        # In parts of the suite: these cost milliseconds a launch, and the rest repeats the same kernels.
        for program in "${api_programs[@]}"; do
            sanitize "$1" "$program"
        done
        sanitize "$1" test_soft_bits test_symbol_sets
        sanitize_parts "$1"
        sanitize "$1" test_llr_specified test_gains
        sanitize "$1" test_cuda_device_segments test_random
        sanitize "$1" test_cuda_device_calls test_misuse
        sanitize "$1" test_cuda_device_segments test_cuts
        sanitize "$1" test_cuda_device_codewords test_halves
        sanitize "$1" test_cuda_device_segments test_chain
        ;;
    bench) build/gpu/tools/softqam-bench --section all --json "$results/bench.json" ;;
    receiver)
        for backend in cpu cuda device; do
            build/gpu/tools/receiver/softqam-receiver --spin --backend "$backend" | tee "$results/receiver.$backend.txt"
        done
        ;;
    *)
        echo "tests/run-gpu.sh: no step '$1'" >&2
        exit 2
        ;;
    esac
}

echo "== build"
cmake --preset cuda -DSOFTQAM_WERROR=ON -B build/gpu "$@" >"$results/configure.log"
cmake --build build/gpu -j "$(nproc)" >"$results/build.log" || { tail -50 "$results/build.log"; exit 1; }
for step in ${STEPS:-tests compare memcheck initcheck racecheck synccheck bench receiver}; do
    echo "== $step ($SECONDS s)"
    run_step "$step"
done
echo "== done ($SECONDS s)"
