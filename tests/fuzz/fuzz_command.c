/* SPDX-License-Identifier: MIT */
/* Any command line, arguments separated by NUL, the first byte for the tool: the parsers end, and what they accept is
 * in the ranges that the library documents. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "demod/demod.h"
#include "fuzz.h"

/* softqam-gen, of which only the parser is called. */
int gen_main(int argc, char *argv[]);
#define main gen_main
#include "../../tools/gen/gen.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { MAX_ARGUMENTS = 40 };

static bool is_to_run(enum option_result action)
{
    check_messages(action == OPTIONS_WRONG, "");
    require(action == OPTIONS_RUN || action == OPTIONS_HELP || action == OPTIONS_VERSION || action == OPTIONS_WRONG);
    return action == OPTIONS_RUN;
}

static void parse_for_demod(int argc, char **argv, bool is_mpi)
{
    struct demod_options options;
    hold_messages();
    if (!is_to_run(demod_options_parse(argc, argv, is_mpi, &options)))
        return;
    require(options.input && options.output);
    /* The library has nothing to object to; here it gets neither a GPU, which may not be there, nor many threads, which
     * take long to start. */
    options.context_config.backend = SOFTQAM_BACKEND_CPU;
    options.context_config.n_threads = options.context_config.n_threads <= 1024 ? 1 : options.context_config.n_threads;
    softqam_demodulator *demodulator;
    require(softqam_context_create(&options.config.context, &options.context_config) == SOFTQAM_OK);
    require(softqam_demodulator_create(&demodulator, &options.config) == SOFTQAM_OK);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(options.config.context);
}

static void parse_for_gen(int argc, char **argv)
{
    struct options options;
    hold_messages();
    if (is_to_run(parse_options(argc, argv, &options))) {
        require(options.output && options.scale > 0);
        require(softqam_input_symbol_nbytes(options.format) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    char name[] = "tool";
    char *argv[MAX_ARGUMENTS + 2] = {name};
    int argc = 1;
    if (nbytes < 1)
        return 0;
    char *text = malloc(nbytes);
    require(text);
    memcpy(text, data + 1, nbytes - 1);
    text[nbytes - 1] = '\0';
    for (size_t at = 0; at < nbytes && argc <= MAX_ARGUMENTS; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    optind = 0; /* getopt starts again */
    if (data[0] % 2)
        parse_for_gen(argc, argv);
    else
        parse_for_demod(argc, argv, data[0] & 2);
    free(text);
    return 0;
}
