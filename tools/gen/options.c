/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <float.h>
#include <math.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "common/sigmf.h"

enum { DEFAULT_SYMBOLS = 1000000 };

/* As many symbols as leave the size of every file a 64-bit signed number. */
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / MODULATION_MAX_BITS)

static bool take_c_init(const struct option_call *call)
{
    struct gen_options *options = call->target;
    options->scrambles = true;
    return arguments_parse_c_init(call->text, &options->c_init);
}

static bool take_snr_db(const struct option_call *call)
{
    return arguments_parse_real(call->row->name, call->text, -200, 200, &((struct gen_options *)call->target)->snr_db);
}

static bool take_output_scale(const struct option_call *call)
{
    struct gen_options *options = call->target;
    options->scale_text = call->text;
    return arguments_parse_ratio(call->row->name, call->text, (double)FLT_MIN, (double)FLT_MAX, NULL, &options->scale);
}

#define TO(member) .offset = offsetof(struct gen_options, member)

/* clang-format off */
const struct option_row gen_option_rows[] = {
    OPTION_TEXT("Usage: softqam-gen [options] OUTPUT"),
    OPTION_TEXT("Writes random symbols of 5G NR (3GPP TS 38.211 clause 5.1, unit mean energy) with white Gaussian noise to OUTPUT; "
         "\"-\" is standard output. The same seed gives the same file on every machine; a longer file starts "
         "with the symbols of a shorter one."),
    OPTION_TEXT("Examples:"),
    OPTION_TEXT("  $ softqam-gen --snr-db 22 --bits sent.hard capture.cf32\n"
         "  $ softqam-gen -m qpsk --c-init 0x1234 --symbols 1M capture.cs16\n"
         "  $ softqam-gen -m 64qam --snr-db 18 recording.sigmf-meta"),
    OPTION_TEXT("Symbols and files:"),
    {"--modulation", "NAME", "bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: 256qam", option_take_modulation,
     TO(modulation), .letter = 'm'},
    {"--c-init", "N",
     "scramble the bits with the sequence of this c_init, 0 to 2147483647, decimal or 0x.. (3GPP TS 38.211 clause "
     "5.2.1), which begins at the first bit",
     .take = take_c_init},
    {"--symbols", "N", "how many; default: 1000000. 1M and 64Ki are counts too", option_take_count, TO(n_symbols),
     0, MAX_SYMBOLS},
    {"--snr-db", "X",
     "Es/N0 in dB, -200 to 200, with N0 the variance of the complex noise (N0/2 a component); default: no noise",
     .take = take_snr_db},
    {"--seed", "S", "0 to 2^64 - 1; default: 1", option_take_count, TO(seed), 0, UINT64_MAX},
    {"--output-format", "FORMAT",
     "cf32, cs16, cs8 or cf16, see below; default: by OUTPUT's suffix; cf32 for \"-\" and a name without a suffix",
     option_take_text, TO(format_name), .letter = 'o'},
    {"--output-scale", "X",
     "what a sample of 1 stands for, a number or a fraction A/B: softqam-demod's --input-scale; default: 1 (cf32, cf16), "
     "1/8192 (cs16), 1/64 (cs8), which leave room for the outer points and noise",
     .take = take_output_scale},
    {"--bits", "FILE", "the bits that were sent, before scrambling, one byte (0 or 1) each, b0 first", option_take_text,
     TO(bits)},
    {"--no-clobber", NULL, "do not replace a file that is there already", option_take_true, TO(no_clobber), .letter = 'n'},
    {"--no-sync", NULL, "do not wait until the files are on the disk", option_take_true, TO(no_sync)},
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

/* Room for 4 (cs16) and 2 (cs8) where the outermost component of 1024QAM is 31/sqrt(682) = 1.19: at softqam-demod's own
 * default, where full scale is 1, it would be clipped. */
static const char *const scales[] = {[SOFTQAM_INPUT_CF32] = "1",
                                     [SOFTQAM_INPUT_CS16] = "1/8192",
                                     [SOFTQAM_INPUT_CS8] = "1/64",
                                     [SOFTQAM_INPUT_CF16] = "1"};

/* A recording's name says nothing of its format; without one it is cf32. */
static bool choose_format(struct gen_options *options)
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
    if (!options->scale_text) {
        options->scale_text = scales[chosen];
        return arguments_parse_ratio("", options->scale_text, 0, 1, NULL, &options->scale);
    }
    return true;
}

enum option_result gen_options_parse(int argc, char *const argv[], struct gen_options *options)
{
    *options = (struct gen_options){
        .modulation = SOFTQAM_MODULATION_256QAM, .n_symbols = DEFAULT_SYMBOLS, .seed = 1, .snr_db = (double)INFINITY};
    const enum option_result result = option_table_parse(gen_option_rows, argc, argv, options);
    if (result != OPTIONS_RUN)
        return result;
    if (!arguments_count_operands(argc, 1, "OUTPUT"))
        return OPTIONS_WRONG;
    options->output = argv[optind];
    return choose_format(options) ? OPTIONS_RUN : OPTIONS_WRONG;
}
