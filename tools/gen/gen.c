/* SPDX-License-Identifier: MIT */
/* softqam-gen: writes random symbols with noise, and their bits, batch by batch. */
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/file.h"
#include "common/message.h"
#include "common/option_table.h"
#include "common/sigmf.h"
#include "common/transmitter.h"

enum { DEFAULT_SYMBOLS = 1000000, BATCH_SYMBOLS = 1 << 20 };

/* With more symbols the size of a file would exceed a signed 64-bit number. */
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / MODULATION_MAX_BITS)

struct options {
    const char *output;
    bool is_sigmf;           /* output names a recording */
    const char *bits;        /* a file's name; NULL: none */
    const char *noise_file;  /* likewise, for a fading channel's noise variances */
    double phase, frequency; /* degrees, and degrees a symbol */
    bool swaps;
    softqam_modulation modulation;
    bool scrambles; /* scrambles the bits by c_init */
    uint32_t c_init;
    uint64_t n_symbols;
    uint64_t seed;
    double snr_db;           /* infinite: no noise */
    const char *format_name; /* as given; NULL: not given */
    softqam_input_format format;
    double scale;
    const char *scale_text; /* as given, for softqam-demod's --input-scale; NULL: not given */
    bool no_clobber;
    bool quiet;
};

static bool take_c_init(const struct option_call *call)
{
    struct options *options = call->target;
    options->scrambles = true;
    return arguments_parse_c_init(call->text, &options->c_init);
}

static bool take_snr_db(const struct option_call *call)
{
    return arguments_parse_real(call->row->name, call->text, -200, 200, &((struct options *)call->target)->snr_db);
}

/* Reads an angle in degrees. */
static bool take_angle(const struct option_call *call)
{
    double *angle = (void *)((char *)call->target + call->row->offset);
    return arguments_parse_real(call->row->name, call->text, -360, 360, angle);
}

static bool take_output_scale(const struct option_call *call)
{
    struct options *options = call->target;
    options->scale_text = call->text;
    return arguments_parse_ratio(call->row->name, call->text, (double)FLT_MIN, (double)FLT_MAX, NULL, &options->scale);
}

#define TO(member) .offset = offsetof(struct options, member)

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT("Usage: softqam-gen [options] OUTPUT"),
    OPTION_TEXT("Writes random symbols of 5G NR (3GPP TS 38.211 clause 5.1, unit mean energy) with white Gaussian noise to OUTPUT; "
         "\"-\" is standard output. The same seed gives the same file on every machine; a longer file starts "
         "with the symbols of a shorter one."),
    OPTION_TEXT("Examples:"),
    OPTION_TEXT("  $ softqam-gen --snr-db 22 --bits sent.hard capture.cf32\n"
         "  $ softqam-gen -m qpsk --c-init 0x1234 --symbols 1M capture.cs16\n"
         "  $ softqam-gen -m 64qam --snr-db 18 recording.sigmf-meta"),
    OPTION_TEXT("Options:"),
    OPTION_TEXT("Symbols and files:"),
    {"--modulation", "NAME", "bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: 256qam", option_take_modulation,
     TO(modulation), .letter = 'm'},
    {"--c-init", "N",
     "scramble the bits with the sequence of this c_init, 0 to 2147483647, decimal or 0x.. (3GPP TS 38.211 clause "
     "5.2.1), which begins at the first bit",
     .take = take_c_init},
    {"--symbols", "N", "how many; default: 1000000. 1e6, 1M and 64Ki are counts too", option_take_count, TO(n_symbols),
     0, MAX_SYMBOLS},
    {"--snr-db", "X",
     "Es/N0 in dB, -200 to 200, with N0 the variance of the complex noise (N0/2 a component); default: no noise",
     .take = take_snr_db},
    {"--seed", "S", "0 to 2^64 - 1; default: 1", option_take_count, TO(seed), 0, UINT64_MAX},
    {"--output-format", "FORMAT",
     "cf32, cs16, cs8 or cf16, see below; default: by OUTPUT's suffix; cf32 for \"-\" and a name without a suffix",
     option_take_text, TO(format_name), .letter = 'o'},
    {"--output-scale", "X",
     "what a sample of 1 stands for, a number or a fraction A/B: softqam-demod's --input-scale; default: softqam-demod's own, "
     "1 (cf32, cf16), 1/8192 (cs16), 1/64 (cs8), which leave room for the outer points and noise",
     .take = take_output_scale},
    {"--bits", "FILE", "the bits that were sent, before scrambling, one byte (0 or 1) each, b0 first", option_take_text,
     TO(bits)},
    OPTION_TEXT("What receivers meet (these need not give the same last bit on every machine):"),
    {"--phase", "X", "turn all symbols by X degrees, -360 to 360", take_angle, TO(phase)},
    {"--frequency-offset", "X", "turn each symbol by X degrees more than the one before it", take_angle, TO(frequency)},
    {"--swap-iq", NULL, "write Q before I", option_take_true, TO(swaps)},
    {"--fading", "FILE",
     "a Rayleigh channel that changes every 12 symbols, and is divided out: the mean Es/N0 before that is --snr-db's, which it "
     "needs, and FILE gets N0 of each symbol, as softqam-demod --noise-file reads it", option_take_text, TO(noise_file)},
    OPTION_TEXT("Files and messages:"),
    {"--no-clobber", NULL, "do not replace a file that is there already", option_take_true, TO(no_clobber), .letter = 'n'},
    {"--quiet", NULL, "print only failures on standard error", option_take_true, TO(quiet), .letter = 'q'},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    OPTION_TEXT("Formats of OUTPUT, for each symbol I then Q in this machine's byte order:"),
    OPTION_TEXT("  cf32  two 32-bit floats; .cf32 .fc32 .cfile\n"
         "  cs16  two 16-bit integers; .cs16 .sc16 .ci16\n"
         "  cs8   two 8-bit integers; .cs8 .sc8 .ci8\n"
         "  cf16  two 16-bit floats; .cf16"),
    OPTION_TEXT("An OUTPUT that ends in .sigmf-meta or .sigmf-data becomes a SigMF recording, of cf32 unless --output-format names "
         "cs16 or cs8; its metadata have the scale, the modulation and c_init, which softqam-demod takes from there."),
    OPTION_TEXT("An OUTPUT with any other suffix is refused without --output-format. OUTPUT and FILE appear complete or not at "
         "all, as softqam-demod's, and may be neither the same file nor a terminal. A message that cannot be written is a "
         "failure."),
    OPTION_TEXT("Exit status:"),
    OPTION_TEXT("  0  done\n"
         "  1  a file failed\n"
         "  2  the command was wrong"),
    {.name = NULL},
};
/* clang-format on */

/* Chooses the format. A recording's suffix does not say it: the default is cf32. */
static bool choose_format(struct options *options)
{
    const char *format = options->format_name;
    options->is_sigmf = sigmf_name_is_explicit(options->output);
    if (!format && options->is_sigmf)
        format = "cf32";
    const int chosen = sample_format_choose(FILE_SYMBOLS_OUT, "--output-format", format, options->output);
    if (chosen < 0)
        return false;
    options->format = (softqam_input_format)chosen;
    if (options->is_sigmf && !file_formats[chosen].datatype)
        return message_print("--output-format", "%s has no datatype in SigMF; choose another", format);
    if (!options->scale_text)
        options->scale = (double)softqam_input_default_scale(options->format);
    return true;
}

static enum option_result parse_options(int argc, char *const argv[], struct options *options)
{
    *options = (struct options){
        .modulation = SOFTQAM_MODULATION_256QAM, .n_symbols = DEFAULT_SYMBOLS, .seed = 1, .snr_db = (double)INFINITY};
    const enum option_result result = option_table_parse(rows, argc, argv, options, 1, "OUTPUT");
    if (result != OPTIONS_RUN)
        return result;
    options->output = argv[optind];
    if (options->noise_file && isinf(options->snr_db)) {
        message_print("--fading", "needs --snr-db: without noise a channel that is divided out changes nothing");
        return OPTIONS_WRONG;
    }
    return choose_format(options) ? OPTIONS_RUN : OPTIONS_WRONG;
}

/* A run. All zero: it holds nothing. */
struct run {
    const struct options *options;
    struct transmitter transmitter;
    struct output_file output;
    struct output_file bits_output;
    struct output_file noise_output;
    struct output_file meta_output;
    char data_path[PATH_MAX], meta_path[PATH_MAX]; /* a recording's two files */
    void *samples;
    uint8_t *bits;
    float *noise_vars;
    uint64_t n_clipped;
};

static bool allocate(struct run *run)
{
    run->samples = malloc(BATCH_SYMBOLS * softqam_input_symbol_nbytes(run->options->format));
    if (run->options->bits)
        run->bits = malloc(run->transmitter.modulation->n_bits * (size_t)BATCH_SYMBOLS);
    if (run->options->noise_file)
        run->noise_vars = malloc(BATCH_SYMBOLS * sizeof *run->noise_vars);
    return (run->samples && (run->bits || !run->options->bits) && (run->noise_vars || !run->options->noise_file)) ||
           message_print(NULL, "out of memory");
}

static bool open_files(struct run *run)
{
    const struct options *options = run->options;
    const bool is_new = options->no_clobber;
    return (!options->is_sigmf || sigmf_name_files(options->output, run->meta_path, run->data_path)) &&
           output_file_open(&run->output, options->is_sigmf ? run->data_path : options->output, is_new) &&
           (!options->bits || output_file_open(&run->bits_output, options->bits, is_new)) &&
           (!options->noise_file || output_file_open(&run->noise_output, options->noise_file, is_new)) &&
           (!options->is_sigmf || output_file_open(&run->meta_output, run->meta_path, is_new));
}

static bool check_files(const struct run *run)
{
    const char *bits = run->options->bits, *noise_file = run->options->noise_file;
    const bool is_sigmf = run->options->is_sigmf;
    if (bits && (output_file_is_same(&run->output, &run->bits_output) ||
                 (is_sigmf && output_file_is_same(&run->meta_output, &run->bits_output))))
        return message_print("--bits", "'%s' is OUTPUT as well", bits);
    if (noise_file && (output_file_is_same(&run->output, &run->noise_output) ||
                       output_file_is_same(&run->bits_output, &run->noise_output) ||
                       (is_sigmf && output_file_is_same(&run->meta_output, &run->noise_output))))
        return message_print("--fading", "'%s' is another output as well", noise_file);
    if (is_sigmf && output_file_is_same(&run->output, &run->meta_output))
        return message_print(run->meta_path, "is %s as well; give OUTPUT another name", run->data_path);
    return output_file_check_terminal(&run->output) &&
           (!noise_file || output_file_check_terminal(&run->noise_output)) &&
           (!bits || output_file_check_terminal(&run->bits_output));
}

/* None of its texts has characters that JSON escapes. */
static const char metadata[] = "{\n"
                               "\t\"global\":\t{\n"
                               "\t\t\"core:datatype\":\t\"%s\",\n"
                               "\t\t\"core:version\":\t\"1.2.0\",\n"
                               "\t\t\"core:recorder\":\t\"softqam-gen %s\",\n"
                               "\t\t\"core:description\":\t\"%" PRIu64 " random %s symbols %s, seed %" PRIu64 "\",\n"
                               "\t\t\"core:extensions\":\t[{\n"
                               "\t\t\t\t\"name\":\t\"" SIGMF_EXTENSION "\",\n"
                               "\t\t\t\t\"version\":\t\"1.0.0\",\n"
                               "\t\t\t\t\"optional\":\ttrue\n"
                               "\t\t\t}],\n"
                               "\t\t\"softqam:modulation\":\t\"%s\",\n"
                               "%s"
                               "\t\t\"softqam:input_scale\":\t%s\n"
                               "\t},\n"
                               "\t\"captures\":\t[{\n"
                               "\t\t\t\"core:sample_start\":\t0\n"
                               "\t\t}],\n"
                               "\t\"annotations\":\t[]\n"
                               "}\n";

static bool write_metadata(struct run *run)
{
    const struct options *options = run->options;
    const struct modulation *modulation = run->transmitter.modulation;
    char noise[64] = "without noise", c_init[64] = "", scale[32], text[2048];
    if (!options->is_sigmf)
        return true;
    if (!isinf(options->snr_db))
        snprintf(noise, sizeof noise, "with noise at an Es/N0 of %g dB", options->snr_db);
    if (options->scrambles)
        snprintf(c_init, sizeof c_init, "\t\t\"softqam:c_init\":\t%" PRIu32 ",\n", options->c_init);
    snprintf(scale, sizeof scale, "%.15g", options->scale);
    if (strtod(scale, NULL) != options->scale)
        snprintf(scale, sizeof scale, "%.17g", options->scale);
    const int n =
        snprintf(text, sizeof text, metadata, file_formats[options->format].datatype, softqam_version(),
                 options->n_symbols, modulation->name, noise, options->seed, modulation->option, c_init, scale);
    return output_file_write(&run->meta_output, text, (size_t)n) && output_file_finish(&run->meta_output);
}

/* Finishes and publishes the files, a recording's metadata last, so that nobody finds them without the data. */
static bool finish_files(struct run *run)
{
    return output_file_finish(&run->output) && (!run->bits || output_file_finish(&run->bits_output)) &&
           (!run->noise_vars || output_file_finish(&run->noise_output)) && output_file_publish(&run->noise_output) &&
           write_metadata(run) && output_file_publish(&run->output) && output_file_publish(&run->bits_output) &&
           output_file_publish(&run->meta_output);
}

static bool generate(struct run *run)
{
    const struct options *options = run->options;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(options->format);
    for (uint64_t first = 0; first < options->n_symbols; first += BATCH_SYMBOLS) {
        const uint64_t left = options->n_symbols - first;
        const size_t n = left < BATCH_SYMBOLS ? (size_t)left : BATCH_SYMBOLS;
        run->n_clipped += transmitter_generate(&run->transmitter, first, n, run->samples, run->bits, run->noise_vars);
        if (!output_file_write(&run->output, run->samples, n * symbol_nbytes) ||
            (run->noise_vars && !output_file_write(&run->noise_output, run->noise_vars, n * sizeof *run->noise_vars)) ||
            (run->bits && !output_file_write(&run->bits_output, run->bits, run->transmitter.modulation->n_bits * n)))
            return false;
    }
    return finish_files(run);
}

static void report(const struct run *run)
{
    const struct options *options = run->options;
    const uint64_t n = options->n_symbols;
    if ((float)options->scale != softqam_input_default_scale(options->format) && !options->is_sigmf)
        message_print(run->output.name, "%" PRIu64 " symbol%s; read it with --input-scale %s", n, PLURAL(n),
                      options->scale_text);
    if (run->n_clipped)
        message_warn(run->output.name, "%" PRIu64 " of %" PRIu64 " components were clipped", run->n_clipped, 2 * n);
}

static int generate_files(const struct options *options)
{
    struct run run = {.options = options};
    transmitter_init(&run.transmitter, options->modulation, options->seed, options->snr_db, options->format,
                     options->scale);
    run.transmitter.scrambles = options->scrambles;
    run.transmitter.c_init = options->c_init;
    run.transmitter.phase = options->phase * acos(-1) / 180;
    run.transmitter.frequency = options->frequency * acos(-1) / 180;
    run.transmitter.swaps = options->swaps;
    run.transmitter.fades = options->noise_file != NULL;
    const bool done = allocate(&run) && open_files(&run) && message_check_command(check_files(&run)) && generate(&run);
    if (done && !options->quiet)
        report(&run);
    output_file_end(&run.output, done);
    output_file_end(&run.bits_output, done);
    output_file_end(&run.noise_output, done);
    output_file_end(&run.meta_output, done);
    free(run.samples);
    free(run.bits);
    free(run.noise_vars);
    return message_end(done);
}

int main(int argc, char *argv[])
{
    struct options options;
    message_start("softqam-gen");
    const enum option_result action = parse_options(argc, argv, &options);
    return action == OPTIONS_RUN ? generate_files(&options) : option_table_answer(action, rows);
}
