#!/bin/sh
# SPDX-License-Identifier: MIT
# The tools on small files under valgrind: usage test_tools.sh GEN DEMOD VALGRIND OPTION...
set -eu
gen=$1
demod=$2
shift 2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# A command that fails by itself: what valgrind finds has another exit status.
fails() {
    status=0
    "$@" 2>message || status=$?
    [ $status = 1 ] || { cat message; exit 1; }
}

"$@" "$gen" -q --symbols 3000 --snr-db 25 --bits x.bits x.cf32
"$@" "$gen" -q --symbols 3000 x.cs16
"$@" "$demod" --backend cpu --threads 2 --verify --stats x.cf32 x.u8
"$@" "$demod" --backend cpu --noise-var auto --stats --progress always x.cs16 x.s8
head -c 12000 /dev/zero >n0
"$@" "$demod" --backend cpu --noise-file n0 -i cf32 - x.f32 <x.cf32
printf '{"global":{"core:datatype":"ci16_le","core:version":"1.0.0"},"captures":[{"core:sample_start":0}]}' >r.sigmf-meta
mv x.cs16 r.sigmf-data
"$@" "$demod" --backend cpu r y
"$@" "$demod" --help >/dev/null
# Refusals take other ways.
fails "$@" "$demod" --backend cpu --noise-file n0 x.cf32 none/x.f16
grep -q 'No such file or directory' message
printf '{"global":{"core:datatype":"ci16_le"},}' >r.sigmf-meta
fails "$@" "$demod" --backend cpu r y
grep -q 'not JSON' message
printf 1 >>x.cf32
fails "$@" "$demod" --backend cpu x.cf32 y.u8
grep -q 'not a whole number of symbols' message
