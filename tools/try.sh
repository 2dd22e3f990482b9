#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From a clone to soft bits: sets the machine up, builds softqam, makes a capture of a million symbols at 30 dB, demodulates
# it, checks every byte against liquid-dsp and prints the first symbols. Leaves its files in build/try.
# CPU only, in a minute or two after the packages; with SOFTQAM_CUDA=ON in the environment also CUDA, in some more.
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin

tools/setup.sh
cmake --preset release -G Ninja -DSOFTQAM_TESTS=OFF -DSOFTQAM_CUDA="${SOFTQAM_CUDA:-OFF}" -B build/try/softqam >/dev/null
cmake --build build/try/softqam

demod=build/try/softqam/tools/softqam-demod
gen=build/try/softqam/tools/softqam-gen
set -x
$gen --symbols 1000000 --snr-db 30 --seed 1 --bits build/try/x.bits build/try/x.cf32
$demod --verify --stats build/try/x.cf32 build/try/x.u8
{ set +x; } 2>/dev/null

echo
echo "The first four symbols: I and Q, their soft bits b0 .. b7 (255 is a sure 0, 0 a sure 1), and the bits sent"
paste -d '|' <(od -An -v -w8 -tf4 -N32 build/try/x.cf32) <(od -An -v -w8 -tu1 -N32 build/try/x.u8) \
    <(od -An -v -w8 -tu1 -N32 build/try/x.bits)

echo
echo "The programs are in build/try/softqam/tools. To call them by name, and the commands of README.md:"
echo "    PATH=\"$PWD/build/try/softqam/tools:\$PATH\""
