#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sets the machine up and runs the tests.
#
#   tests/run.sh            the release build, with CUDA for one architecture if nvcc is found: all tests but the slow
#                           ones, which it names. Minutes.
#   tests/run.sh all        lint, then every build with the tests that belong to it, the slow ones too; CUDA for the
#                           oldest architecture.
#   tests/run.sh rest       all that the first command leaves out.
#   tests/run.sh BUILD...   those builds: release clang asan tsan aarch64
#
# GPU tests need a GPU and are skipped visibly without one; SOFTQAM_REQUIRE_GPU=1 makes them fail instead.
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
jobs=$(nproc)
# ccache: objects are not compiled again for the packages that tests make.
export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
export CCACHE_DIR=$PWD/.cache/ccache

build() {
    echo "== $1, building ($SECONDS s)"
    cmake --preset "$1" -G Ninja -DSOFTQAM_WERROR=ON "${@:2}" >/dev/null
    cmake --build --preset "$1"
}

# Runs a preset's tests and keeps what they printed, in build/PRESET/tests.log or, with a label, tests-LABEL.log. There are more tests
# at once than processors, for some wait for files, pipes and timers.
pass() {
    local log=build/$1/tests.log status=0
    [ "${2-}" != --label-regex ] || log=build/$1/tests-$3.log
    echo "== $1, testing ($SECONDS s); log: $log"
    ctest --preset "$1" -j $((jobs + 2)) "${@:2}" || status=$?
    cp "build/$1/Testing/Temporary/LastTest.log" "$log"
    logs+=("$log")
    return $status
}
logs=()

# Says why tests were skipped, or some of their cases: each reason once, with the tests.
say_skips() {
    [ ${#logs[@]} -gt 0 ] || return 0
    echo "== skipped:"
    awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
        sub(/^skipped[,:] */, "") || sub(/^SKIPPED \[[0-9]+\] [^ ]*: /, "") || sub(/^.* \.\.\. skipped /, "") {
            if (!seen[$0, name]++) tests[$0] = tests[$0] " " name
        }
        /^\[  SKIPPED \] test_/ && previous !~ /^\[  SKIPPED/ { # one of a program of CMocka, which may have said why
            reason = previous ~ /^\[ RUN/ ? "no reason given" : previous
            tests[reason] = tests[reason] " " name "/" $4
        }
        { previous = $0 }
        END { for (reason in tests) print "     " reason ":" tests[reason] }' "${logs[@]}" | sort
}

# Builds while the next steps run, for a build ends with two long files that leave processors idle; `built` waits for it.
declare -A ahead_pids
ahead() {
    set -m
    "$@" >"build/ahead $*.log" 2>&1 &
    set +m
    ahead_pids[$*]=$!
}

built() {
    wait "${ahead_pids[$*]}" || { cat "build/ahead $*.log"; return 1; }
    sed -n '/^==/p' "build/ahead $*.log"
}
trap 'say_skips; jobs -p | sed s/^/-/ | xargs -r kill -- 2>/dev/null || true' EXIT

# Not compressed, PTX can be read in the library itself (style/test_flags.py), which saves compiling it once more. Kernels that no
# GPU here runs are compiled in one file and fast, if nvcc can, and those of the release build to PTX alone, their host code
# unoptimised: what makes a GPU's code of it is the same for the oldest architecture. tests/run-gpu.sh compiles file by file.
cuda_flags=--no-compress
one_architecture=(-DCMAKE_CUDA_ARCHITECTURES=90)
if ! nvidia-smi -L >/dev/null 2>&1; then
    one_architecture=(-DCMAKE_CUDA_ARCHITECTURES=90-virtual -DSOFTQAM_ONE_KERNEL_FILE=ON "-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -DNDEBUG")
    [[ $(nvcc --help 2>&1) != *--Ofast-compile* ]] || cuda_flags+=" --Ofast-compile=max"
fi
one_architecture+=("-DCMAKE_CUDA_FLAGS=$cuda_flags")

quick() {
    build release "${one_architecture[@]}"
    local slow # listed before the tests run, for the listing takes the place of their log
    slow=$(ctest --preset release -N --label-regex slow | sed -n 's/^ *Test *#[0-9]*: /     /p')
    pass release --label-exclude slow
    printf '== left out, for tests/run.sh all: lint; the builds clang asan tsan aarch64; CUDA for the oldest architecture; and\n%s\n' "$slow"
}

# The oldest architecture takes every branch that the release build's, 90, does not.
oldest_architecture() {
    command -v nvcc >/dev/null || return 0
    renice -n 10 $BASHPID >/dev/null # one file, which processors take up when they have nothing else
    echo "== CUDA for the oldest architecture, building ($SECONDS s)"
    cmake --preset cuda -G Ninja -DSOFTQAM_WERROR=ON -DSOFTQAM_TESTS=OFF -DSOFTQAM_TOOLS=OFF -DSOFTQAM_ONE_KERNEL_FILE=ON \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
    cmake --preset cuda "-DCMAKE_CUDA_ARCHITECTURES=$(sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[A-Z]*=\([0-9]*\).*/\1/p' build/cuda/CMakeCache.txt)" \
        "-DCMAKE_CUDA_FLAGS=$cuda_flags" >/dev/null
    cmake --build --preset cuda --target softqam_shared
    python3 tests/style/test_flags.py cuda build/cuda/compile_commands.json . build/cuda/libsoftqam.so
}

small_builds() {
    build tsan
    build aarch64
}

rest() {
    build release "${one_architecture[@]}"
    ahead oldest_architecture
    ahead build clang
    tests/lint.sh
    pass release --label-regex slow
    built build clang
    ahead build asan
    pass clang
    built build asan
    ahead small_builds
    pass asan
    built small_builds
    pass tsan
    pass aarch64
    built oldest_architecture
}

tools/setup.sh tests
case "${1-}" in
"") quick ;;
all)
    quick
    rest
    ;;
rest) rest ;;
*)
    for name in "$@"; do
        build "$name"
        pass "$name"
    done
    ;;
esac
echo "== passed ($SECONDS s)"
