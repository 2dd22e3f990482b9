/* SPDX-License-Identifier: MIT */
/* The text of --help, for both softqam-demod. Man pages and bash completion are made from it. */
#include <stdio.h>

#include "options.h"

/* clang-format off */
static const struct {
    enum { IN_BOTH, IN_PLAIN, IN_MPI } where;
    const char *text;
} parts[] = {
    {IN_PLAIN,
     "Usage: softqam-demod [options] INPUT OUTPUT\n"
     "\n"
     "Demodulates the symbols of 5G NR (3GPP TS 38.211 clause 5.1) in INPUT to soft\n"
     "bits or LLRs, one for each bit, b0 first, in OUTPUT. \"-\" is standard input or\n"
     "output.\n"},
    {IN_MPI,
     "Usage: softqam-demod-mpi [options] INPUT OUTPUT\n"
     "\n"
     "Demodulates the symbols of 5G NR (3GPP TS 38.211 clause 5.1) in INPUT to soft\n"
     "bits or LLRs, one for each bit, b0 first, in OUTPUT, with all ranks of an MPI\n"
     "job: each reads its share of INPUT and writes its place of OUTPUT. The bytes are\n"
     "softqam-demod's for every number of ranks. Files must be regular ones, on file\n"
     "systems that all hosts share.\n"},
    {IN_BOTH,
     "\n"
     "Sign: a positive LLR, or a byte above the midpoint, means bit 0 (with --sign 1,\n"
     "bit 1). In format u8, 255 is that bit for certain, 0 the other one for certain,\n"
     "and 127 unknown; 127 and above decide for that bit.\n"
     "\n"
     "Algorithm: u8 is liquid-dsp's: hard decision and distances to the nearest\n"
     "neighbours, at a fixed scale. s8, s16, f16 and f32 are exact max-log:\n"
     "  LLR(b) = (min |r-x|^2 of points x with b = 1 - the same with b = 0) / N0\n"
     "\n"
     "Input and output:\n"
     "  -m, --modulation NAME       bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or\n"
     "                              1024qam; default: the recording's own, else\n"
     "                              256qam. pi/2-BPSK rotates odd symbols; INPUT's\n"
     "                              first symbol is number 0\n"
     "      --c-init N              descramble with the sequence of this c_init, 0 to\n"
     "                              2147483647, decimal or 0x.. (clause 5.2.1);\n"
     "                              INPUT's first symbol is the codeword's first,\n"
     "                              even with --skip; none: do not; default: the\n"
     "                              recording's own, else none\n"
     "      --planes N              bit planes: every N symbols are a code block (the\n"
     "                              last may be shorter), whose values come out as\n"
     "                              all b0, all b1, ..; 1 to 4194304\n"
     "  -i, --input-format FORMAT   cf32, cs16, cs8, cf16, cu8, cs32 or cf64, see\n"
     "                              below; default: by INPUT's suffix; cf32 for \"-\"\n"
     "                              and a name without a suffix\n"
     "  -o, --output-format FORMAT  u8, s8, s16, f16, f32, hard or bits, see below;\n"
     "                              default: by OUTPUT's suffix; u8 for \"-\" and a name\n"
     "                              without a suffix\n"
     "      --input-scale X         factor that brings samples to unit mean symbol\n"
     "                              energy, a number or a fraction A/B; default:\n"
     "                              1 (cf32, cf16, cf64), 1/32768 (cs16), 1/128\n"
     "                              (cs8, cu8), 1/2147483648 (cs32)\n"
     "      --input-scale auto      the factor that gives the first 262144 symbols the\n"
     "                              energy 1 + N0, N0 as given or else estimated\n"
     "      --skip N                skip the first N symbols, and their variances in a\n"
     "                              noise file; default: 0\n"
     "      --count N               demodulate only the N symbols after these\n"
     "      --partial error|ignore  an incomplete symbol at the end of INPUT is an\n"
     "                              error, the default, or left out with a warning\n"
     "      --sigmf, --no-sigmf     OUTPUT is a SigMF recording, or a plain file;\n"
     "                              default: by INPUT and OUTPUT, see SigMF below\n"
     "      --no-sync               do not wait until OUTPUT is on the disk: faster,\n"
     "                              but after a power cut it may be empty\n"},
    {IN_PLAIN,
     "      --no-hash               leave the SHA-512 of INPUT and OUTPUT out of a\n"
     "                              recording's metadata, which saves time\n"},
    {IN_BOTH,
     "\n"
     "Formats of INPUT, for each symbol I then Q in this machine's byte order:\n"
     "  cf32  two 32-bit floats; .cf32 .fc32 .cfile\n"
     "  cs16  two 16-bit integers; .cs16 .sc16 .ci16\n"
     "  cs8   two 8-bit integers; .cs8 .sc8 .ci8\n"
     "  cf16  two 16-bit floats; .cf16\n"
     "  cu8   two bytes, 128 for 0, as rtl_sdr writes them; .cu8\n"
     "  cs32  two 32-bit integers, rounded to 32-bit floats; .cs32 .ci32\n"
     "  cf64  two 64-bit floats, rounded to 32-bit floats; .cf64\n"
     "\n"
     "Formats of OUTPUT, for each bit of a symbol:\n"
     "  u8    soft bit, a byte; only for 256qam, without --c-init and --planes; .u8\n"
     "  s8    LLR, a signed byte; .s8\n"
     "  s16   LLR, a 16-bit integer; .s16\n"
     "  f16   LLR in nats, a 16-bit float; .f16\n"
     "  f32   LLR in nats, a 32-bit float; .f32\n"
     "  hard  hard decision, a byte 0 or 1; .hard\n"
     "  bits  the same, packed, the first bit highest in its byte; .bits\n"
     "\n"
     "An INPUT with any other suffix is refused without --input-format, an OUTPUT\n"
     "without --output-format; for SigMF's see below. A suffix is what follows the\n"
     "last dot of a name; dots at its start do not count. Suffixes are names of\n"
     "formats too: -i sc16. An OUTPUT that is INPUT, the noise file or BITS, by\n"
     "whatever name or link, is always refused.\n"
     "\n"
     "Noise variance (s8, s16, f16 and f32 need exactly one of these):\n"
     "      --noise-var X           N0, a number or a fraction A/B\n"
     "      --noise-var auto        N0 estimated from the first 262144 symbols: their\n"
     "                              mean squared distance to the nearest point,\n"
     "                              corrected for wrong decisions, which lower it, if\n"
     "                              all points are equally likely\n"
     "      --snr-db X              N0 = 10^(-X/10), Es/N0 in dB, -200 to 200\n"
     "      --noise-file FILE       one N0 for each symbol of INPUT, 32-bit floats\n"
     "\n"
     "N0 is the variance of the complex noise, E|n|^2, not of one component, for unit\n"
     "mean symbol energy.\n"
     "\n"
     "Soft bits and LLRs:\n"
     "      --sign 0|1              the bit that a positive LLR, or a byte above the\n"
     "                              midpoint, means; default: 0\n"
     "      --llr-scale X           steps per nat, a number or a fraction A/B; s8:\n"
     "                              1/1024 to 1048576, default: 6; s16: 1/1024 to\n"
     "                              16384, default: 64\n"
     "      --llr-limit N           largest magnitude, from 1; s8: to 127, s16: to\n"
     "                              32767, which are the defaults\n"
     "\n"},
    {IN_PLAIN,
     "Machine (the bytes are the same with all of these but --shard):\n"},
    {IN_MPI,
     "Machine (the bytes are the same with all of these):\n"},
    {IN_BOTH,
     "      --backend NAME          auto, cpu or cuda; default: auto\n"},
    {IN_PLAIN,
     "      --device LIST           CUDA devices: an ordinal, several with commas\n"
     "                              between them, or all; default: CUDA's choice.\n"
     "                              One that is named must be there, even with\n"
     "                              --backend auto\n"
     "      --threads N             CPU threads, 1 to 1024; default: one per CPU\n"},
    {IN_MPI,
     "      --device LIST           CUDA devices of every rank; default: the ranks of\n"
     "                              a host take its devices in turn. One that is\n"
     "                              named must be there, even with --backend auto\n"
     "      --threads N             CPU threads of a rank, 1 to 1024; default: one per\n"
     "                              CPU that it may use\n"},
    {IN_BOTH,
     "      --streams N             CUDA: chunks in flight, 1 to 64; default: 3\n"
     "      --chunk SYMBOLS         CUDA: most symbols in a chunk, 1 to 268435456;\n"
     "                              default: 1048576\n"},
    {IN_PLAIN,
     "      --shard K/N             only part K, from 1 to N, of N parts of INPUT,\n"
     "                              which must be a regular file; the outputs of\n"
     "                              all parts, joined by cat, are that of the whole\n"},
    {IN_BOTH,
     "\n"
     "Reports, on standard error:\n"
     "      --verify                check soft bits against liquid-dsp, all of the\n"
     "                              first 16777216 symbols, or LLRs against max-log\n"
     "                              in double precision, of the first 262144; then\n"
     "                              one symbol in 256\n"
     "      --compare BITS          count wrong hard decisions: BITS has a byte 0 or 1\n"
     "                              for each bit that was sent, as softqam-gen --bits\n"
     "                              and format hard write it\n"
     "      --stats                 symbols, rates, backend, saturated share, erased\n"
     "                              symbols, energy, estimated N0 and EVM; warns\n"
     "                              when more than 5 % of the LLRs saturate at so\n"
     "                              few nats that it may cost the decoder more than\n"
     "                              0.01 bit a symbol\n"
     "      --stats=json            the same as one line of JSON\n"
     "      --progress WHEN         auto, always or never; default: auto, which shows\n"
     "                              it on a terminal\n"
     "      --strict                a warning is a failure, and no OUTPUT appears\n"
     "  -q, --quiet                 print only failures, and what --compare, --stats\n"
     "                              and --progress always ask for\n"
     "  -h, --help                  this text\n"
     "  -V, --version               the version\n"
     "\n"
     "LLRs are right only for the right modulation, scale and noise. So there is a\n"
     "warning when the first 8192 symbols look like another modulation, when the\n"
     "energy of the first 65536 is more than 10 % from 1 + N0, and when their noise is\n"
     "more than 2 dB from what was given. It names what they look like and the option\n"
     "that mends it. A message that cannot be written is a failure, progress aside.\n"},
    {IN_PLAIN,
     "\n"
     "From a pipe, what has arrived is demodulated and written as soon as nothing\n"
     "more comes for a millisecond, or after five. Whatever \"auto\" estimates, it waits\n"
     "for 262144 symbols or the end of INPUT first. A reader of standard output that\n"
     "leaves ends the tool with SIGPIPE.\n"},
    {IN_BOTH,
     "\n"
     "SigMF: INPUT may be a recording, given as NAME.sigmf-meta, NAME.sigmf-data or\n"
     "NAME. Its metadata then give the format, of one channel: cf32, cf64, ci32 and\n"
     "ci16 in either byte order, ci8 and cu8. With --input-format, NAME.sigmf-data is\n"
     "plain samples, and the others are refused. OUTPUT may be a recording, given in\n"
     "the same ways. It has a channel for each bit, so that sample k is symbol k.\n"
     "OUTPUT is a recording where its name says so, and where INPUT is one unless\n"},
    {IN_PLAIN,
     "--shard, --skip, --count or --planes is given, OUTPUT is no regular file, or it\n"
     "has a suffix. Captures and annotations are carried over.\n"},
    {IN_MPI,
     "--skip, --count or --planes is given or OUTPUT has a suffix. Captures and\n"
     "annotations are carried over; no hashes are computed.\n"},
    {IN_BOTH,
     "\n"
     "A symbol that is NaN or infinite, or whose N0 is zero, negative, NaN or\n"
     "infinite, is erased: its soft bits are 127, its LLRs 0. No NaN or infinity comes\n"
     "out. OUTPUT appears complete or not at all. An older file of that name\n"},
    {IN_PLAIN,
     "stays until then.\n"},
    {IN_MPI,
     "stays until then. A rank that fails ends the job with one message.\n"},
    {IN_BOTH,
     "What takes its name keeps its mode, access control list and user attributes, and\n"
     "its owner and group where that is allowed. A recording is two files: between\n"
     "their names there is an instant in which kill -9 leaves new data beside old\n"
     "metadata, whose core:sha512 then differs, or a name .softqam-*.tmp.\n"
     "\n"
     "Exit status:\n"
     "  0  done\n"
     "  1  the data, the file or the device failed\n"
     "  2  the command was wrong\n"},
};
/* clang-format on */

const char *demod_help(bool is_mpi)
{
    static char help[16384];
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].where == IN_BOTH || (parts[i].where == IN_MPI) == is_mpi)
            length += (size_t)snprintf(help + length, sizeof help - length, "%s", parts[i].text);
    return help;
}
