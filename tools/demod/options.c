/* SPDX-License-Identifier: MIT */
/* The table of both softqam-demod's options, with all of --help. */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/normal.h"

/* Ranges that softqam.h gives. */
enum {
    MAX_THREADS = 1024,
    MAX_DEVICES = 64,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28,
    MAX_PLANE_SYMBOLS = 1 << 22, /* each block that is read holds that many at least */
    MAX_SHARDS = 1000000
};

/* As many as leave the size of every file a 64-bit signed number. */
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / FILE_SYMBOL_MAX_NBYTES)

static bool take_c_init(const struct option_call *call)
{
    struct demod_options *options = call->target;
    options->c_init_given = true;
    options->descrambles = strcmp(call->text, "none") != 0;
    return !options->descrambles || arguments_parse_c_init(call->text, &options->c_init);
}

static bool take_input_scale(const struct option_call *call)
{
    struct demod_options *options = call->target;
    double scale = 0;
    if (!arguments_parse_ratio(call->row->name, call->text, "auto", &scale))
        return false;
    options->scale_auto = scale == 0;
    options->config.input_scale = (float)scale;
    return true;
}

/* Takes over an option that says where the noise variances come from. The same one again counts as it does last, like
 * all options. */
static bool choose_noise(const struct option_call *call, enum noise_kind kind)
{
    struct demod_options *options = call->target;
    const char *before = options->raw.noise_option;
    if (before && strcmp(before, call->row->name) != 0)
        return message_print(call->row->name, "contradicts %s: noise variances come from one of the two", before);
    options->raw.noise_option = call->row->name;
    options->noise = kind;
    return true;
}

static bool take_noise_var(const struct option_call *call)
{
    struct demod_options *options = call->target;
    return arguments_parse_ratio(call->row->name, call->text, "auto", &options->noise_var) &&
           choose_noise(call, options->noise_var > 0 ? NOISE_VALUE : NOISE_AUTO);
}

static bool take_snr_db(const struct option_call *call)
{
    struct demod_options *options = call->target;
    double snr_db = 0;
    if (!arguments_parse_snr_db(call->text, &snr_db))
        return false;
    options->noise_var = normal_power_ratio(-snr_db);
    return choose_noise(call, NOISE_VALUE);
}

static bool take_noise_file(const struct option_call *call)
{
    return option_take_text(call) && choose_noise(call, NOISE_FILE);
}

/* A number, numbers with commas between them, or "all". */
static bool take_device(const struct option_call *call)
{
    static int devices[MAX_DEVICES];
    softqam_context_config *config = &((struct demod_options *)call->target)->context_config;
    char one[ARGUMENTS_NAME_NBYTES];
    unsigned n = 0;
    config->device = -1;
    config->devices = NULL;
    config->n_devices = 0;
    if (!strcmp(call->text, "all")) {
        config->n_devices = SOFTQAM_ALL_DEVICES;
        return true;
    }
    for (const char *rest = call->text; arguments_next_name(&rest, one); n++) {
        uint64_t device = 0;
        if (!arguments_parse_count(call->row->name, one, 0, INT_MAX, &device))
            return false;
        if (n == MAX_DEVICES)
            return message_print(call->row->name, "more than %d devices", MAX_DEVICES);
        for (unsigned k = 0; k < n; k++)
            if (devices[k] == (int)device)
                return message_print(call->row->name, "'%s' names device %d twice", call->text, devices[k]);
        devices[n] = (int)device;
    }
    if (n == 1) {
        config->device = devices[0];
    } else {
        config->devices = devices;
        config->n_devices = n;
    }
    return true;
}

/* K/N, 1 <= K <= N. */
static bool take_shard(const struct option_call *call)
{
    static const char digits[] = "0123456789";
    struct demod_options *options = call->target;
    const size_t length = strspn(call->text, digits);
    const char *second = call->text + length + 1; /* where the first ends at a slash */
    const bool is_form = length > 0 && call->text[length] == '/' && *second && !second[strspn(second, digits)];
    const unsigned long shard = strtoul(call->text, NULL, 10), n_shards = is_form ? strtoul(second, NULL, 10) : 0;
    options->shard = (unsigned)shard;
    options->n_shards = (unsigned)n_shards;
    return (shard >= 1 && shard <= n_shards && n_shards <= MAX_SHARDS) ||
           message_print(call->row->name, "'%s' is not K/N with whole numbers K from 1 to N and N up to %d", call->text,
                         MAX_SHARDS);
}

/* Nothing, json or json:FILE. */
static bool take_stats(const struct option_call *call)
{
    struct demod_options *options = call->target;
    const bool names_file = call->text && !strncmp(call->text, "json:", 5) && call->text[5];
    options->stats = true;
    options->stats_json = call->text != NULL;
    options->stats_file = names_file ? call->text + 5 : NULL;
    return !call->text || names_file || !strcmp(call->text, "json") ||
           message_print(call->row->name, "'%s' is not one of json, json:FILE", call->text);
}

static const char *const
    partials[] = {"error", "ignore", NULL},
    *const signs[] = {"0", "1", NULL},
    *const backends[] =
        {[SOFTQAM_BACKEND_CPU] = "cpu", [SOFTQAM_BACKEND_CUDA] = "cuda", [SOFTQAM_BACKEND_AUTO] = "auto", NULL},
    *const progresses[] = {[PROGRESS_AUTO] = "auto", [PROGRESS_ALWAYS] = "always", [PROGRESS_NEVER] = "never", NULL};

#define TO(member) .offset = offsetof(struct demod_options, member)

/* .variant: rows of softqam-demod alone, of softqam-demod-mpi alone. */
enum { PLAIN = 1, MPI };

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT_OF(PLAIN, "Usage: softqam-demod [options] INPUT OUTPUT"),
    OPTION_TEXT_OF(MPI, "Usage: softqam-demod-mpi [options] INPUT OUTPUT"),
    OPTION_TEXT_OF(PLAIN, "Demodulates the symbols of 5G NR (3GPP TS 38.211 clause 5.1) in INPUT to soft bits or LLRs, one for "
                   "each bit, b0 first, in OUTPUT. \"-\" is standard input or output."),
    OPTION_TEXT_OF(MPI, "Demodulates the symbols of 5G NR (3GPP TS 38.211 clause 5.1) in INPUT to soft bits or LLRs, one for "
                 "each bit, b0 first, in OUTPUT, with all ranks of an MPI job: each reads its part of INPUT and writes "
                 "its part of OUTPUT. The bytes are softqam-demod's for every number of ranks. Files must be regular "
                 "ones, on file systems that all hosts see."),
    OPTION_TEXT("Examples:"),
    OPTION_TEXT_OF(PLAIN, "  $ softqam-demod capture.cf32 capture.u8\n"
                   "  $ softqam-demod -m qpsk --snr-db 12 --c-init 0x1234 capture.cs16 capture.s8\n"
                   "  $ softqam-demod --noise-var auto recording.sigmf-meta llrs.s8\n"
                   "  $ softqam-demod --compare sent.hard --stats capture.cf32 capture.bits\n"
                   "  $ receiver | softqam-demod -m 16qam -i cs16 --input-scale auto -o hard - bits"),
    OPTION_TEXT_OF(MPI, "  $ mpirun -n 4 softqam-demod-mpi capture.cf32 capture.u8\n"
                 "  $ mpirun -n 4 softqam-demod-mpi -m qpsk --snr-db 12 capture.cs16 capture.s8"),
    OPTION_TEXT("Sign: a positive LLR, or a byte above the midpoint, means bit 0 (with --sign 1, bit 1). In format u8, 255 is "
         "that bit for certain, 0 the other one for certain, and 127 unknown; 127 and above decide for that bit."),
    OPTION_TEXT("Algorithm: u8 is liquid-dsp's: hard decision and distances to the nearest neighbours, at a fixed scale. s8, "
         "s16, f16 and f32 are exact max-log:"),
    OPTION_TEXT("  LLR(b) = (min |r-x|^2 of points x with b = 1 - the same with b = 0) / N0"),
    OPTION_TEXT("Input and output:"),
    {"--modulation", "NAME",
     "bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: the recording's own, else 256qam. pi/2-BPSK "
     "rotates odd symbols; INPUT's first symbol is number 0",
     option_take_modulation, TO(config.modulation), .letter = 'm'},
    {"--c-init", "N|none",
     "descramble with the sequence of this c_init, 0 to 2147483647, decimal or 0x.. (clause 5.2.1); INPUT's first "
     "symbol is the codeword's first, even with --skip; default: the recording's own, else none",
     .take = take_c_init},
    {"--planes", "N",
     "bit planes: every N symbols are a code block (the last may be shorter), whose values come out as all b0, all b1, "
     "..; 1 to 4194304",
     option_take_count, TO(plane_symbols), .min = 1, .max = MAX_PLANE_SYMBOLS},
    {"--input-format", "FORMAT",
     "cf32, cs16, cs8, cf16, cu8, cs32 or cf64, see below; default: by INPUT's suffix; cf32 for \"-\" and a name "
     "without a suffix",
     option_take_text, TO(raw.input_format), .letter = 'i'},
    {"--output-format", "FORMAT",
     "u8, s8, s16, f16, f32, hard or bits, see below; default: by OUTPUT's suffix; u8 for \"-\" and a name without a "
     "suffix",
     option_take_text, TO(raw.output_format), .letter = 'o'},
    {"--input-scale", "X|auto",
     "factor that brings samples to unit mean symbol energy, a number or a fraction A/B; auto: the one that gives the "
     "first 262144 symbols the energy 1 + N0, N0 as given or else estimated; default: 1 (cf32, cf16, cf64), 1/32768 "
     "(cs16), 1/128 (cs8, cu8), 1/2147483648 (cs32)",
     .take = take_input_scale},
    {"--skip", "N", "skip the first N symbols, and their variances in a noise file; default: 0", option_take_count,
     TO(skip), .max = MAX_SYMBOLS},
    {"--count", "N", "demodulate only the N symbols after these", option_take_count, TO(count), .max = MAX_SYMBOLS},
    {"--partial", "error|ignore",
     "an incomplete symbol at the end of INPUT is an error, the default, or left out with a warning", option_take_choice,
     TO(ignore_partial), .names = partials},
    {"--no-clobber", NULL, "do not replace a file that is there already", option_take_true, TO(no_clobber), .letter = 'n'},
    {"--no-sync", NULL, "do not wait until OUTPUT is on the disk: faster, but after a power cut it may be empty",
     option_take_true, TO(no_sync)},
    OPTION_TEXT("Counts may have a suffix: k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024; 1e6 and 1.5M are counts "
         "too."),
    OPTION_TEXT("Formats of INPUT, for each symbol I then Q in this machine's byte order:"),
    OPTION_TEXT("  cf32  two 32-bit floats; .cf32 .fc32 .cfile\n"
         "  cs16  two 16-bit integers; .cs16 .sc16 .ci16\n"
         "  cs8   two 8-bit integers; .cs8 .sc8 .ci8\n"
         "  cf16  two 16-bit floats; .cf16\n"
         "  cu8   two bytes, 128 for 0, as rtl_sdr writes them; .cu8\n"
         "  cs32  two 32-bit integers, rounded to 32-bit floats; .cs32 .ci32\n"
         "  cf64  two 64-bit floats, rounded to 32-bit floats; .cf64"),
    OPTION_TEXT("Formats of OUTPUT, for each bit of a symbol:"),
    OPTION_TEXT("  u8    soft bit, a byte; only for 256qam, without --c-init and --planes; .u8\n"
         "  s8    LLR, a signed byte; .s8\n"
         "  s16   LLR, a 16-bit integer; .s16\n"
         "  f16   LLR in nats, a 16-bit float; .f16\n"
         "  f32   LLR in nats, a 32-bit float; .f32\n"
         "  hard  hard decision, a byte 0 or 1; .hard\n"
         "  bits  the same, packed, the first bit highest in its byte; .bits"),
    OPTION_TEXT("An INPUT with any other suffix is refused without --input-format, an OUTPUT without --output-format. A "
         "suffix is what follows the last dot of a name; dots at its start do not count. Suffixes "
         "are names of formats too, in any case: -i sc16. An OUTPUT that is INPUT, the noise file or BITS, by whatever "
         "name or link, is always refused, and so is a terminal."),
    OPTION_TEXT("Noise variance (s8, s16, f16 and f32 need exactly one of these):"),
    {"--noise-var", "X|auto",
     "N0, a number or a fraction A/B; auto: estimated from the first 262144 symbols: their mean squared distance to the "
     "nearest point, corrected for wrong decisions, which lower it, if all points are equally likely",
     .take = take_noise_var},
    {"--snr-db", "X", "N0 = 10^(-X/10), Es/N0 in dB, -200 to 200", .take = take_snr_db},
    {"--noise-file", "FILE", "one N0 for each symbol of INPUT, 32-bit floats", take_noise_file, TO(noise_file)},
    OPTION_TEXT("N0 is the variance of the complex noise, E|n|^2, not of one component, for unit mean symbol energy."),
    OPTION_TEXT("Soft bits and LLRs:"),
    {"--sign", "0|1", "the bit that a positive LLR, or a byte above the midpoint, means; default: 0", option_take_choice,
     TO(config.sign), .names = signs},
    {"--llr-scale", "X",
     "steps per nat, a number or a fraction A/B; s8: 1/1024 to 1048576, default: 6; s16: 1/1024 to 16384, default: 64",
     option_take_text, TO(raw.llr_scale)},
    {"--llr-limit", "N",
     "largest magnitude, from 1; s8: to 127, s16: to 32767, which are the defaults", option_take_text,
     TO(raw.llr_limit)},
    OPTION_TEXT_OF(PLAIN, "Machine (the bytes are the same with all of these but --shard):"),
    OPTION_TEXT_OF(MPI, "Machine (the bytes are the same with all of these):"),
    {"--backend", "NAME", "cpu, cuda or auto; default: auto", option_take_choice, TO(context_config.backend),
     .names = backends},
    {"--device", "LIST",
     "CUDA devices: an ordinal, several with commas between them, or all; default: CUDA's choice. One that is named "
     "must be there, even with --backend auto",
     .take = take_device, .variant = PLAIN},
    {"--device", "LIST",
     "CUDA devices of every rank; default: the devices of a host are assigned to its ranks round-robin. One that is named must be "
     "there, even with --backend auto",
     .take = take_device, .variant = MPI},
    {"--threads", "N", "CPU threads, 1 to 1024; default: one per CPU", option_take_unsigned, TO(context_config.n_threads),
     1, MAX_THREADS, .variant = PLAIN},
    {"--threads", "N", "CPU threads of a rank, 1 to 1024; default: one per CPU that it may use", option_take_unsigned,
     TO(context_config.n_threads), 1, MAX_THREADS, .variant = MPI},
    {"--streams", "N", "CUDA: chunks in flight, 1 to 64; default: 3", option_take_unsigned, TO(context_config.n_streams),
     1, MAX_STREAMS},
    {"--chunk", "SYMBOLS", "CUDA: symbols in a chunk, 1 to 268435456; default: 1048576", option_take_count,
     TO(context_config.chunk_symbols), 1, MAX_CHUNK_SYMBOLS},
    {"--shard", "K/N",
     "only part K, from 1 to N, of N parts of INPUT, which must be a regular file; the outputs of all parts, joined by "
     "cat, are that of the whole",
     .take = take_shard, .variant = PLAIN},
    OPTION_TEXT("Reports, on standard error:"),
    {"--verify", NULL,
     "check soft bits against liquid-dsp, all of the first 16777216 symbols, or LLRs against max-log in double "
     "precision, of the first 262144; then one symbol in 256",
     option_take_true, TO(verify)},
    {"--compare", "FILE",
     "count wrong hard decisions: FILE (BITS) has a byte 0 or 1 for each bit that was sent, as softqam-gen --bits and "
     "format hard write it",
     option_take_text, TO(compared_bits)},
    {"--stats", "[=json[:FILE]]",
     "symbols, rates, backend, saturated fraction, erased symbols, energy, estimated N0 and EVM; warns when more than 5 % "
     "of the LLRs saturate at so few nats that it may cost the decoder more than 0.01 bit a symbol. json: as one line "
     "of JSON, with names, formats, modulation, version, SNR and bit error rate too, which FILE gets instead of "
     "standard error",
     .take = take_stats},
    {"--progress", "WHEN", "auto, always or never; default: auto, which shows it on a terminal", option_take_choice,
     TO(raw.progress), .names = progresses},
    {"--strict", NULL, "a warning is a failure, and no OUTPUT appears", option_take_true, TO(strict)},
    {"--quiet", NULL, "print only failures, and what --compare, --stats and --progress always ask for", option_take_true,
     TO(quiet), .letter = 'q'},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    OPTION_TEXT("LLRs are right only for the right modulation, scale and noise. So there is a warning when the first 8192 "
         "symbols look like another modulation, when the energy of the first 65536 is more than 10 % from 1 + N0, and "
         "when their noise is more than 2 dB from what was given. It names what they look like and the option that "
         "mends it. Fewer than 1000 symbols, or as few in a part, are not checked. A message that cannot be written is a "
         "failure, progress aside."),
    OPTION_TEXT_OF(PLAIN, "From a pipe, what has arrived is demodulated and written as soon as nothing more comes for a "
                   "millisecond, or after five. Whatever \"auto\" estimates, it waits for 262144 symbols or the end of "
                   "INPUT first. A reader of standard output that leaves ends the tool with SIGPIPE."),
    OPTION_TEXT("SigMF: INPUT may be a recording, given as NAME.sigmf-meta, NAME.sigmf-data or NAME. Its metadata then give the "
         "format, of one channel: cf32, cf64, ci32 and ci16 in either byte order, ci8 and cu8. With --input-format, "
         "NAME.sigmf-data is plain samples, and the others are refused. OUTPUT is always a plain file."),
    OPTION_TEXT_OF(MPI, "A rank that fails ends the job with one message."),
    OPTION_TEXT("A symbol that is NaN or infinite, or whose N0 is zero, negative, NaN or infinite, is erased: its soft bits are "
         "127, its LLRs 0. No NaN or infinity comes out."),
    OPTION_TEXT("OUTPUT appears complete or not at all. An older file of that name stays until then. What takes its name is "
         "a new file with its mode, and its owner and group where that is allowed, but without its access control list "
         "and attributes. Only kill -9 leaves a temporary file, .softqam-*.tmp."),
    OPTION_TEXT("Exit status:"),
    OPTION_TEXT("  0  done\n"
         "  1  the data, the file or the device failed (--strict: or it was warned of)\n"
         "  2  the command was wrong"),
    {.name = NULL},
};
/* clang-format on */

const char *demod_help(bool is_mpi) { return option_table_help(rows, is_mpi ? MPI : PLAIN); }

enum option_result demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options)
{
    memset(options, 0, sizeof *options);
    options->count = UINT64_MAX;
    softqam_demodulator_config_init(&options->config);
    options->config.modulation = SOFTQAM_MODULATION_DEFAULT;
    softqam_context_config_init(&options->context_config);
    options->context_config.backend = SOFTQAM_BACKEND_AUTO;
    const enum option_result result = option_table_parse(rows, is_mpi ? MPI : PLAIN, argc, argv, options);
    if (result != OPTIONS_RUN)
        return result;
    if (!arguments_count_operands(argc, 2, "INPUT and OUTPUT"))
        return OPTIONS_WRONG;
    options->input = argv[optind];
    options->output = argv[optind + 1];
    return demod_rules_complete(options) ? OPTIONS_RUN : OPTIONS_WRONG;
}
