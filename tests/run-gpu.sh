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
# Programs, or single tests of them: the others of test_llrs and test_soft_buffers take hours, for chunks of one symbol are each a
# launch of milliseconds.
every_tool=(test_{api,refusals} test_soft_buffers/test_{combinations,random} test_llrs/test_input_formats)
memory_tools=(test_cuda_device{,_llrs,_soft_buffers} test_devices test_llrs/test_values)
# These tools cost milliseconds a launch, and the other tests repeat the same kernels.
launch_tools=(test_cuda_device/test_chain test_cuda_device_llrs/test_values
    test_cuda_device_soft_buffers/test_{random,combinations,large_codewords})

sanitize() {
    local tool=$1 run program tests log
    local -a options
    for run in "${@:2}"; do
        IFS=/ read -r program tests <<<"$run"
        log=$results/$tool.$program.${tests:-all}.log
        options=(--tool "$tool" --error-exitcode 1)
        # initcheck does not see what the CPU writes to pinned memory, and reports some copies of that.
        [ "$tool" != initcheck ] || options+=(--check-api-memory-access no)
        # An allocation that is too large is one of its tests, which memcheck reports as an error of the driver's.
        [ "$program" != test_refusals ] || options+=(--report-api-errors no)
        SOFTQAM_TEST_BACKEND=cuda SOFTQAM_TEST_PERCENT=1 compute-sanitizer "${options[@]}" \
            "build/gpu/tests/$program" ${tests:+"$tests"} >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
        echo "$program $tests: $(grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$log")"
    done
}

run_step() {
    case "$1" in
    tests) ctest --test-dir build/gpu --output-on-failure --no-tests=error -j 4 ;;
    compare) SOFTQAM_TEST_BACKEND=cuda SOFTQAM_TEST_STRIDE=31 build/gpu/tests/test_exhaustive ;;
    memcheck) sanitize memcheck "${every_tool[@]}" "${memory_tools[@]}" test_device_functions ;;
    initcheck) sanitize initcheck "${every_tool[@]}" "${memory_tools[@]}" ;;
    racecheck | synccheck) sanitize "$1" "${every_tool[@]}" "${launch_tools[@]}" ;;
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
