/* SPDX-License-Identifier: MIT */
/* The options of softqam-demod and softqam-demod-mpi with the text of --help, and the checks of their combinations. */
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/normal.h"
#include "demod.h"

/* Ranges that softqam.h gives. */
enum {
    MAX_THREADS = 1024,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28,
    MAX_PLANE_SYMBOLS = 1 << 22, /* a batch holds at least one code block */
    MAX_SHARDS = 1000000
};

/* With more symbols the size of a file would exceed a signed 64-bit number. */
enum { MAX_SYMBOL_NBYTES = 16 };
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / MAX_SYMBOL_NBYTES)

static bool take_c_init(const struct option_call *call)
{
    struct demod_options *options = call->target;
    options->c_init_given = true;
    options->descrambles = strcmp(call->text, "none") != 0;
    return !options->descrambles || arguments_parse_c_init(call->text, &options->c_init);
}

static bool take_modulation(const struct option_call *call)
{
    struct demod_options *options = call->target;
    options->modulation_given = true;
    options->modulation_auto = !strcmp(call->text, "auto");
    return options->modulation_auto || option_take_modulation(call);
}

static bool take_input_scale(const struct option_call *call)
{
    struct demod_options *options = call->target;
    double scale = 0;
    if (!arguments_parse_ratio(call->row->name, call->text, (double)FLT_MIN, (double)FLT_MAX, "auto", &scale))
        return false;
    options->scale_given = true;
    options->scale_auto = scale == 0;
    options->config.input_scale = (float)scale;
    return true;
}

static bool take_noise_var(const struct option_call *call)
{
    struct demod_options *options = call->target;
    const bool good = arguments_parse_ratio(call->row->name, call->text, (double)FLT_MIN, (double)FLT_MAX, "auto",
                                            &options->noise_var);
    options->noise = options->noise_var > 0 ? NOISE_VALUE : NOISE_AUTO;
    return good;
}

static bool take_snr_db(const struct option_call *call)
{
    struct demod_options *options = call->target;
    double snr_db = 0;
    if (!arguments_parse_real(call->row->name, call->text, -200, 200, &snr_db))
        return false;
    options->noise_var = normal_power_ratio(-snr_db);
    options->noise = NOISE_VALUE;
    return true;
}

static bool take_noise_file(const struct option_call *call)
{
    ((struct demod_options *)call->target)->noise = NOISE_FILE;
    return option_take_text(call);
}

static bool take_noise_floor(const struct option_call *call)
{
    double floor = 0;
    const bool good = arguments_parse_ratio(call->row->name, call->text, (double)FLT_MIN, 0x1p40, NULL, &floor);
    ((struct demod_options *)call->target)->config.noise_floor = (float)floor;
    return good;
}

/* Takes K/N, 1 <= K <= N. */
static bool take_part(const struct option_call *call, unsigned *part, unsigned *n_parts)
{
    static const char digits[] = "0123456789";
    const size_t length = strspn(call->text, digits);
    const char *second = call->text + length + 1; /* what follows the slash */
    const bool is_form = length > 0 && call->text[length] == '/' && *second && !second[strspn(second, digits)];
    const unsigned long k = strtoul(call->text, NULL, 10), n = is_form ? strtoul(second, NULL, 10) : 0;
    *part = (unsigned)k;
    *n_parts = (unsigned)n;
    return (k >= 1 && k <= n && n <= call->row->max) ||
           message_print(call->row->name, "'%s' is not K/N with whole numbers K from 1 to N and N up to %" PRIu64,
                         call->text, call->row->max);
}

static bool take_shard(const struct option_call *call)
{
    struct demod_options *options = call->target;
    return take_part(call, &options->shard, &options->n_shards);
}

static bool take_channel(const struct option_call *call)
{
    struct demod_options *options = call->target;
    return take_part(call, &options->channel, &options->n_channels);
}

/* Takes no value, or json. */
static bool take_stats(const struct option_call *call)
{
    struct demod_options *options = call->target;
    options->stats = true;
    options->stats_json = call->text != NULL;
    return !call->text || !strcmp(call->text, "json") || message_print(call->row->name, "'%s' is not json", call->text);
}

static const char *const
    signs[] = {"0", "1", NULL},
    *const backends[] =
        {[SOFTQAM_BACKEND_CPU] = "cpu", [SOFTQAM_BACKEND_CUDA] = "cuda", [DEMOD_BACKEND_AUTO] = "auto", NULL},
    *const progresses[] = {[PROGRESS_AUTO] = "auto", [PROGRESS_ALWAYS] = "always", [PROGRESS_NEVER] = "never", NULL};

#define TO(member) .offset = offsetof(struct demod_options, member)

/* clang-format off */
struct option_row demod_option_rows[] = {
    OPTION_TEXT("Usage"), /* demod_options_parse() names the program */
    OPTION_TEXT("INPUT: symbols of 5G NR (3GPP TS 38.211 clause 5.1) as an equaliser leaves them: one sample a symbol, without offset of time, "
         "frequency and phase, divided by the channel, of unit mean energy after --input-scale. What a radio records must go through a "
         "receiver first."),
    OPTION_TEXT("OUTPUT: their soft bits or LLRs, one for each bit, b0 first. A positive LLR, or a byte above the midpoint, means bit 0 "
         "(with --sign 1, bit 1). LLRs are exact max-log. u8 is as in liquid-dsp: 255 means certainly that bit, 0 certainly the "
         "other one, 127 undecided (as a hard decision 0)."),
    OPTION_TEXT("\"-\" is standard input or output. softqam-demod-mpi does the same as an MPI job: mpirun -n 4 softqam-demod-mpi "
         "capture.cf32 capture.u8"),
    OPTION_TEXT("Examples:"),
    OPTION_TEXT("  $ softqam-demod capture.cf32 capture.u8\n"
         "  $ softqam-demod -m qpsk --snr-db 12 --c-init 0x1234 capture.cs16 capture.s8\n"
         "  $ softqam-demod --noise-var auto recording.sigmf-meta llrs.s8\n"
         "  $ softqam-demod --compare sent.hard --stats capture.cf32 capture.bits\n"
         "  $ receiver | softqam-demod -m 16qam -i cs16 --input-scale auto -o hard - bits"),
    OPTION_TEXT("Options:"),
    OPTION_TEXT("Input and output:"),
    {"--modulation", "NAME",
     "bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam or auto, which takes the one that fits the first symbols best, if "
     "that is clear; default: the recording's own, else 256qam. pi/2-BPSK rotates odd symbols; INPUT's first symbol is number 0",
     take_modulation, TO(config.modulation), .letter = 'm'},
    {"--c-init", "N|none",
     "descramble with the sequence of this c_init, 0 to 2147483647, decimal or 0x.. (clause 5.2.1); INPUT's first "
     "symbol is the codeword's first, even with --skip; default: the recording's own, else none",
     .take = take_c_init},
    {"--planes", "N",
     "bit planes: every N symbols are a code block (the last may be shorter), whose values come out as all b0, all b1, "
     "..; 1 to 4194304; --skip must be a multiple of N",
     option_take_count, TO(plane_symbols), .min = 1, .max = MAX_PLANE_SYMBOLS},
    {"--input-format", "FORMAT",
     "cf32, cs16, cs8, cf16, cu8, cs32, cf64 or another, see below; default: by INPUT's suffix; cf32 for \"-\" and a name "
     "without a suffix",
     option_take_text, TO(named_input_format), .letter = 'i'},
    {"--output-format", "FORMAT",
     "u8, s8, s16, f16, f32, hard or bits, see below; default: by OUTPUT's suffix; u8 for \"-\" and a name without a "
     "suffix",
     option_take_text, TO(named_output_format), .letter = 'o'},
    {"--input-scale", "X|auto",
     "factor that brings samples to unit mean symbol energy, a number or a fraction A/B; auto: the one that gives the "
     "first 262144 symbols the mean energy 1 + N0, with N0 as given, or estimated; default: the recording's own, else 1 (cf32, "
     "cf16, cf64), 1/8192 (cs16), 1/64 (cs8, cu8, cu8h), 1/536870912 (cs32)",
     .take = take_input_scale},
    {"--skip", "N", "skip the first N symbols, their variances in a noise file, and their bits in --compare's; default: 0", option_take_count,
     TO(skip), .max = MAX_SYMBOLS},
    {"--count", "N", "demodulate only N symbols, the first after --skip", option_take_count, TO(count), .max = MAX_SYMBOLS},
    {"--header-bytes", "N", "skip the first N bytes of INPUT, a header, before its first symbol; default: 0", option_take_count,
     TO(header_bytes), .max = INT64_MAX},
    {"--channel", "K/N", "INPUT interleaves the symbols of N channels: demodulate channel K, from 1 to N",
     take_channel, .max = SIGMF_MAX_CHANNELS},
    {"--swap-iq", NULL, "INPUT has Q before I", option_take_true, TO(swaps)},
    {"--conjugate", NULL, "INPUT has -Q in place of Q, as after a mixer above the signal's frequency", option_take_true, TO(conjugates)},
    {"--no-clobber", NULL, "do not replace a file that is there already", option_take_true, TO(no_clobber), .letter = 'n'},
    OPTION_TEXT("Counts may have a suffix: k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024; 1e6 is a count, too."),
    OPTION_TEXT("Formats of INPUT, for each symbol I then Q in this machine's byte order:"),
    OPTION_TEXT("  cf32  two 32-bit floats; .cf32 .fc32 .cfile\n"
         "  cs16  two 16-bit integers; .cs16 .sc16 .ci16\n"
         "  cs8   two 8-bit integers; .cs8 .sc8 .ci8\n"
         "  cf16  two 16-bit floats; .cf16\n"
         "  cu8   two bytes, 128 for 0, as rtl_sdr writes them; .cu8\n"
         "  cu8h  the same, 127.5 for 0; .cu8h\n"
         "  cs32  two 32-bit integers, rounded to 32-bit floats; .cs32 .ci32\n"
         "  cf64  two 64-bit floats, rounded to 32-bit floats; .cf64\n"
         "  cf32be cs16be cs32be cf64be  the same in big-endian byte order"),
    OPTION_TEXT("Formats of OUTPUT, for each bit of a symbol:"),
    OPTION_TEXT("  u8    soft bit, a byte; only for 256qam, without --c-init and --planes; .u8\n"
         "  s8    LLR, a signed byte; .s8\n"
         "  s16   LLR, a 16-bit integer; .s16\n"
         "  f16   LLR in nats, a 16-bit float; .f16\n"
         "  f32   LLR in nats, a 32-bit float; .f32\n"
         "  hard  hard decision, a byte 0 or 1; .hard\n"
         "  bits  the same, packed, the first bit highest in its byte; .bits"),
    OPTION_TEXT("An INPUT with any other suffix is refused without --input-format, an OUTPUT without --output-format. Suffixes "
         "are names of formats too, in any case: -i sc16. An OUTPUT that is INPUT, the noise file or BITS, by whatever "
         "name or link, is always refused, and so is a terminal."),
    OPTION_TEXT("Noise variance (s8, s16, f16 and f32 need one of these; the last one counts):"),
    {"--noise-var", "X|auto",
     "N0, a number or a fraction A/B; auto: estimated from the first 262144 symbols: their mean squared distance to the "
     "nearest point, corrected for wrong decisions, which lower it, if all points are equally likely",
     .take = take_noise_var},
    {"--snr-db", "X", "N0 = 10^(-X/10), Es/N0 in dB, -200 to 200", .take = take_snr_db},
    {"--noise-file", "FILE", "one N0 for each symbol of INPUT, 32-bit floats", take_noise_file, TO(noise_file)},
    {"--noise-floor", "X",
     "the least N0 of a noise file, such as 1e-5: smaller values, also 0 and negative ones, count as that. Equalisers write 0 for "
     "their best symbols; without this option the LLRs of such symbols are 0",
     .take = take_noise_floor},
    OPTION_TEXT("N0 is the variance of the complex noise, E|n|^2, not of one component, for unit mean symbol energy."),
    OPTION_TEXT("Soft bits and LLRs:"),
    {"--sign", "0|1", "the bit that a positive LLR, or a byte above the midpoint, means; default: 0", option_take_choice,
     TO(config.sign), .names = signs},
    {"--llr-scale", "X",
     "steps per nat, a number or a fraction A/B; s8: 1/1024 to 1048576, default: 6; s16: 1/1024 to 16384, default: 64",
     option_take_text, TO(llr_scale)},
    {"--llr-limit", "N",
     "largest magnitude, from 1; s8: to 127, s16: to 32767, which are the defaults", option_take_text,
     TO(llr_limit)},
    OPTION_TEXT("Machine (the bytes are the same with all of these but --shard):"),
    {"--backend", "NAME",
     "cpu, cuda or auto; default: auto, which chooses before the first symbol: cuda if INPUT is a regular file of which at "
     "least 65536 symbols are to be demodulated and the GPU can be used, or if --device names one; else cpu, also for a pipe. "
     "--stats says which",
     option_take_choice, TO(backend), .names = backends},
    {"--device", "N",
     "the ordinal of the CUDA device; default: CUDA's choice; in an MPI job the ranks of a host take its devices in turn. "
     "To use several GPUs, start a process for each: an MPI job, or --shard",
     option_take_unsigned, TO(context_config.device), 0, INT_MAX},
    {"--threads", "N", "CPU threads, of each rank, 1 to 1024; default: one per CPU that it may use", option_take_unsigned,
     TO(context_config.n_threads), 1, MAX_THREADS},
    {"--streams", "N", "CUDA: chunks in flight, 1 to 64; default: 3", option_take_unsigned, TO(context_config.n_streams),
     1, MAX_STREAMS},
    {"--chunk", "SYMBOLS", "CUDA: symbols in a chunk, 1 to 268435456; default: 1048576", option_take_count,
     TO(context_config.chunk_symbols), 1, MAX_CHUNK_SYMBOLS},
    {"--shard", "K/N",
     "only part K, from 1 to N, of N parts of INPUT, which must be a regular file; the outputs of all parts, joined by "
     "cat, are that of the whole. Not for softqam-demod-mpi, whose ranks are the parts",
     take_shard, .max = MAX_SHARDS},
    OPTION_TEXT("Reports, on standard error:"),
    {"--verify", NULL,
     "check soft bits against liquid-dsp, all of the first 16777216 symbols, or LLRs against max-log in double "
     "precision, of the first 262144; then one symbol in 257",
     option_take_true, TO(verify)},
    {"--compare", "FILE",
     "count wrong hard decisions: FILE (BITS) has a byte 0 or 1 for each bit that was sent, as softqam-gen --bits and "
     "format hard write it",
     option_take_text, TO(compared_bits)},
    {"--stats", "[=json]",
     "symbols, times in seconds and rates, of the library's calls and overall, backend, saturated share, erased symbols, "
     "energy, and N0 and EVM as estimated from the symbols (for LLRs of more than 65536 symbols, from an eighth of them). "
     "json: the same as one line of JSON, the last one",
     .take = take_stats},
    {"--progress", "WHEN", "auto, always or never; default: auto, which shows it on a terminal", option_take_choice,
     TO(progress), .names = progresses},
    {"--strict", NULL, "a warning is a failure, and no OUTPUT appears", option_take_true, TO(strict)},
    {"--quiet", NULL, "print only failures, and what --compare, --stats or --progress=always asks for", option_take_true,
     TO(quiet), .letter = 'q'},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    OPTION_TEXT("Notes:"),
    OPTION_TEXT("LLRs are right only for the right symbols, scale and noise. So softqam-demod compares the first 8192 symbols with scrambled "
         "data, which use all levels of the constellation alike. If another modulation, scale, format, byte order, mean, rotation "
         "or frequency explains them clearly better, or they are like noise, a warning says so. Another one says if the noise is "
         "more than 2 dB from what was given, or a noise file's values cannot be N0. Fewer than 1000 symbols are not checked. "
         "A message that cannot be written is a failure, progress aside."),
    OPTION_TEXT("Points do not show everything. A constellation looks the same if it is turned by a multiple of 90 degrees, if I and Q are "
         "swapped, or if Q has the wrong sign, and BPSK and QPSK in cu8 look like those in cs8 at another scale. Then about half of the bits of a "
         "symbol are wrong, which --compare with known bits, or the CRC after the decoder, shows. --swap-iq and --conjugate mend it."),
    OPTION_TEXT("Symbols from a pipe are demodulated and written as they arrive. An option that is \"auto\" first waits for 262144 symbols or "
         "the end of INPUT. If the reader of standard output goes away, SIGPIPE ends softqam-demod."),
    OPTION_TEXT("SigMF: INPUT may be a recording, given as NAME.sigmf-meta, NAME.sigmf-data or NAME. Its metadata then give the "
         "format: cf32, cf64, ci32 or ci16 with _le or _be, ci8 or cu8. With --input-format, "
         "NAME.sigmf-data is plain samples, and the others are refused. OUTPUT is always a plain file."),
    OPTION_TEXT("A symbol that is NaN or infinite, or whose N0 is NaN, +infinity or, without --noise-floor, not positive, is erased: "
         "its soft bits are 127, its LLRs 0. No NaN or infinity comes out."),
    OPTION_TEXT("OUTPUT appears complete or not at all. An older file of that name stays until then. The new file gets its mode, "
         "and its owner and group if that is allowed, but not its access control list and attributes. Only kill -9 leaves a temporary file, .softqam-*.tmp. A rank that fails ends the job with one "
         "message."),
    OPTION_TEXT("Exit status:"),
    OPTION_TEXT("  0  done\n"
         "  1  the data, the file or the device failed (--strict: or there was a warning)\n"
         "  2  the command was wrong"),
    {.name = NULL},
};
/* clang-format on */

/* Combinations of options and of files' names. */

static bool is_decisions(enum output_kind kind) { return kind == OUTPUT_HARD || kind == OUTPUT_BITS; }

/* Refuses inputs that name one descriptor: they would share its bytes. */
static bool check_descriptors(const struct demod_options *options)
{
    const char *const names[] = {options->input, options->noise_file, options->compared_bits};
    static const char *const roles[] = {"INPUT", "--noise-file", "--compare"};
    for (int i = 1; i < 3; i++) {
        const int fd = names[i] ? file_name_descriptor(names[i], STDIN_FILENO) : -1;
        for (int k = 0; k < i && fd >= 0; k++)
            if (names[k] && file_name_descriptor(names[k], STDIN_FILENO) == fd)
                return message_print(roles[i], "'%s' is %s as well", names[i], roles[k]);
    }
    return true;
}

static bool check_combinations(const struct demod_options *options)
{
    const char *format = sample_format_name(options->output_kind);
    const bool is_given = options->noise > NOISE_UNIT;
    const bool takes_noise = options->output_kind != OUTPUT_U8 && !is_decisions(options->output_kind);
    if (takes_noise != is_given)
        return message_print(NULL, "output format %s %s noise variance: --noise-var, --snr-db or --noise-file", format,
                             is_given ? "takes no" : "needs a");
    if (options->config.noise_floor > 0 && options->noise != NOISE_FILE)
        return message_print("--noise-floor", "only for the values of --noise-file");
    if (is_decisions(options->output_kind) && options->config.sign != SOFTQAM_SIGN_POSITIVE_IS_0)
        return message_print("--sign", "only for soft bits and LLRs; %s is bits", format);
    /* --skip must end where a code block ends. */
    if (options->plane_symbols > 0 && options->skip % options->plane_symbols != 0)
        return message_print("--planes",
                             "--skip %" PRIu64 " is not a multiple of the %" PRIu64 " symbols of a code block",
                             options->skip, options->plane_symbols);
    if (options->verify && !verification)
        return message_print("--verify",
                             "this softqam-demod was built without the reference, which liquid-dsp is part of");
    return options->backend != SOFTQAM_BACKEND_CPU || options->context_config.device < 0 ||
           message_print("--device", "contradicts --backend cpu");
}

/* The ranges and defaults of llr_scale and llr_limit in softqam.h; all 0 for formats that have none. */
static const struct {
    double max_scale; /* the smallest is 1/1024 */
    float default_scale;
    unsigned max_limit; /* the default */
} llr_settings[N_LIBRARY_FORMATS] = {
    [SOFTQAM_OUTPUT_S8] = {1048576, 6, 127}, [SOFTQAM_OUTPUT_S16] = {16384, 64, 32767}};
_Static_assert(N_LIBRARY_FORMATS == 5, "Give a new format of integers its row above");

/* Chooses the scale and the limit of LLRs that are integers: the command's, or the defaults. */
static bool choose_llr_steps(struct demod_options *options)
{
    static const char scale_option[] = "--llr-scale", limit_option[] = "--llr-limit";
    const softqam_output_format format = options->config.output_format;
    const unsigned max_limit = llr_settings[format].max_limit;
    double scale = (double)llr_settings[format].default_scale;
    uint64_t limit = max_limit;
    if (max_limit == 0 && (options->llr_scale || options->llr_limit))
        return message_print(options->llr_scale ? scale_option : limit_option, "only for output formats s8 and s16");
    if ((options->llr_scale && !arguments_parse_ratio(scale_option, options->llr_scale, 1.0 / 1024,
                                                      llr_settings[format].max_scale, NULL, &scale)) ||
        (options->llr_limit && !arguments_parse_count(limit_option, options->llr_limit, 1, max_limit, &limit)))
        return false;
    options->config.llr_scale = (float)scale;
    options->config.llr_limit = (int)limit;
    return true;
}

/* With --input-format INPUT is plain samples, so of a recording's files it may name the data only. Otherwise a
 * recording's metadata say the format, whatever its suffix. */
static bool choose_input_format(struct demod_options *options)
{
    const char *named = options->named_input_format;
    options->input_is_sigmf = !named && sigmf_name_is_recording(options->input);
    if (named && sigmf_name_is_metadata(options->input))
        return message_print(options->input,
                             "metadata of SigMF, not samples; give the .sigmf-data, or drop --input-format");
    if (options->input_is_sigmf)
        return true;
    if (!named && sigmf_name_is_archive(options->input))
        return message_print(options->input, "an archive of SigMF; unpack it with tar, and give its .sigmf-meta");
    const int format = sample_format_choose(FILE_SYMBOLS_IN, "--input-format", named, options->input);
    if (format < 0)
        return false;
    options->input_format = (enum file_format)format;
    return true;
}

/* Decisions are the signs of LLRs, which neither the format nor N0 changes. So the library makes f32 for them, with an
 * N0 of 1 unless one is given. */
static bool choose_output_format(struct demod_options *options)
{
    const int kind =
        sample_format_choose(FILE_SOFT_BITS, "--output-format", options->named_output_format, options->output);
    if (kind < 0)
        return false;
    options->output_kind = (enum output_kind)kind;
    options->config.output_format =
        is_decisions(options->output_kind) ? SOFTQAM_OUTPUT_F32 : (softqam_output_format)kind;
    if (is_decisions(options->output_kind) && options->noise == NOISE_NONE)
        options->noise = NOISE_UNIT;
    return true;
}

bool demod_options_check_format(const struct demod_options *options, const char *subject)
{
    const softqam_modulation modulation = options->config.modulation;
    static const char cause[] = "has no soft bits u8; choose LLRs, hard or bits with --output-format";
    if (options->output_kind != OUTPUT_U8)
        return true;
    if (modulation != SOFTQAM_MODULATION_DEFAULT && modulation != SOFTQAM_MODULATION_256QAM)
        return message_print(subject ? subject : "--modulation", "%s %s", modulation_get(modulation)->option, cause);
    if (options->descrambles)
        return message_print(subject ? subject : "--c-init", "what is descrambled %s", cause);
    return options->plane_symbols == 0 || message_print("--planes", "what comes out as bit planes %s", cause);
}

enum option_result demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options)
{
    demod_option_rows[0].help =
        is_mpi ? "Usage: softqam-demod-mpi [options] INPUT OUTPUT" : "Usage: softqam-demod [options] INPUT OUTPUT";
    memset(options, 0, sizeof *options);
    options->count = UINT64_MAX;
    softqam_demodulator_config_init(&options->config);
    options->config.modulation = SOFTQAM_MODULATION_DEFAULT;
    softqam_context_config_init(&options->context_config);
    options->backend = DEMOD_BACKEND_AUTO;
    const enum option_result result = option_table_parse(demod_option_rows, argc, argv, options, 2, "INPUT and OUTPUT");
    if (result != OPTIONS_RUN)
        return result;
    options->input = argv[optind];
    options->output = argv[optind + 1];
    if (options->noise != NOISE_FILE)
        options->noise_file = NULL;
    if (is_mpi && options->n_shards > 0) {
        message_print("--shard", "not for an MPI job, whose ranks are the parts");
        return OPTIONS_WRONG;
    }
    if (!choose_input_format(options) || !choose_output_format(options) || !demod_options_check_format(options, NULL) ||
        !choose_llr_steps(options) || !check_combinations(options) || !check_descriptors(options))
        return OPTIONS_WRONG;
    if (options->context_config.device >= 0)
        options->backend = SOFTQAM_BACKEND_CUDA;
    options->config.noise = options->noise == NOISE_FILE ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    options->show_progress = options->progress == PROGRESS_ALWAYS ||
                             (options->progress == PROGRESS_AUTO && !options->quiet && isatty(STDERR_FILENO));
    return OPTIONS_RUN;
}
