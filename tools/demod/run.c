/* SPDX-License-Identifier: MIT */
/* Opens the files of a run, selects their symbols, and makes the demodulator and the memory for its stages. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/container.h"
#include "common/message.h"
#include "common/modulation.h"
#include "demod.h"

/* Symbols of a batch: enough to make the cost of a call small, few enough to stay in the cache of a CPU between
 * reading, demodulating and writing. The GPU's batches are longer, because a call costs it more, but not much longer,
 * because pinning memory takes time too. */
static const size_t cpu_batch_symbols = 256 << 10;
static const size_t cuda_batch_symbols = 1 << 20;

/* A smaller input is demodulated on the CPU unless the command says otherwise. */
static const uint64_t MIN_CUDA_SYMBOLS = 65536;

static uint64_t at_most(uint64_t n, uint64_t other) { return n < other ? n : other; }

size_t demod_run_output_bits(const struct demod_run *run)
{
    const size_t n_bits = softqam_bits_per_symbol(run->config->modulation);
    const enum output_kind kind = run->options->output_kind;
    return kind == OUTPUT_BITS ? n_bits : 8 * (kind == OUTPUT_HARD ? n_bits : run->value_nbytes);
}

/* Takes from a recording's metadata what the command does not say. */
static bool complete_options(struct demod_run *run)
{
    struct demod_options *options = run->options;
    struct sigmf_input *recording = &run->recording;
    softqam_demodulator_config *config = run->config = &options->config;
    run->noise_var = options->noise == NOISE_UNIT ? 1 : (float)options->noise_var;
    recording->format = options->input_format;
    if (options->input_is_sigmf && !sigmf_input_read(recording, options->input))
        return false;
    if (options->input_is_sigmf && recording->n_channels != (options->n_channels ? options->n_channels : 1))
        return message_print(recording->meta_path, "core:num_channels: %u; --channel K/%u chooses one",
                             recording->n_channels, recording->n_channels);
    if (!options->c_init_given) {
        options->descrambles = recording->is_scrambled;
        options->c_init = recording->c_init;
    }
    config->input_format = file_formats[recording->format].library;
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT && !options->modulation_auto)
        config->modulation = recording->modulation;
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT)
        config->modulation = SOFTQAM_MODULATION_256QAM;
    if (config->input_scale == 0 && !options->scale_auto)
        config->input_scale = (float)recording->scale;
    if (config->input_scale == 0)
        config->input_scale = file_formats[recording->format].scale;
    return true;
}

/* Skips the bytes that lie before the first symbol and after the last, as the command or the metadata say. */
static bool skip_header_and_trailer(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    struct input_file *file = &run->symbols;
    const uint64_t header = options->header_bytes + run->recording.header_nbytes,
                   trailer = run->recording.trailing_nbytes;
    uint64_t skipped = 0;
    if (!options->input_is_sigmf && options->header_bytes == 0 && !container_check(file))
        return false;
    if (!input_file_skip(file, header, &skipped))
        return false;
    if (skipped < header)
        return message_print(file->name, "has only %" PRIu64 " bytes, and its header should have %" PRIu64, skipped,
                             header);
    if (file->is_regular && trailer > file->n_left)
        return message_print(file->name, "core:trailing_bytes is %" PRIu64 ", and only %" PRIu64 " bytes are there",
                             trailer, file->n_left);
    file->n_left -= file->is_regular ? trailer : 0;
    return true;
}

bool demod_run_open(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    if (!complete_options(run))
        return false;
    const size_t n_channels = options->n_channels ? options->n_channels : 1;
    const size_t nbytes = file_formats[run->recording.format].symbol_nbytes * n_channels;
    const char *data = options->input_is_sigmf ? run->recording.data_path : options->input,
               *meta = run->recording.meta_path;
    if (!input_file_open(&run->symbols, data, n_channels > 1 ? "group" : "symbol", nbytes, nbytes) ||
        !skip_header_and_trailer(run) || (options->modulation_auto && !demod_choose_modulation(run)))
        return false;
    const size_t n_bits = softqam_bits_per_symbol(run->config->modulation);
    run->value_nbytes = softqam_output_nbytes(run->config->output_format, run->config->modulation, 1);
    return message_check_command(demod_options_check_format(options, *meta ? meta : NULL)) &&
           (!options->noise_file ||
            (input_file_open(&run->noise_vars, options->noise_file, "noise variance", sizeof(float), sizeof(float)) &&
             container_check_values(&run->noise_vars))) &&
           (!options->compared_bits || input_file_open(&run->sent_bits, options->compared_bits, "bit", 1, n_bits));
}

/* Checks that OUTPUT is no file that is read. Both files of a recording are, even if one is read as plain samples. */
static bool check_output(const struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const struct input_file *const files[] = {&run->symbols, &run->noise_vars, &run->sent_bits};
    static const char *const roles[] = {"INPUT as well", "--noise-file as well", "--compare's as well"};
    char paths[2][PATH_MAX] = {"", ""};
    struct stat status;
    const char *role = NULL;
    if ((options->input_is_sigmf || sigmf_name_is_explicit(options->input)) &&
        !sigmf_name_files(options->input, paths[0], paths[1]))
        return false;
    for (int i = 0; i < 2; i++)
        if (!stat(paths[i], &status) && output_file_is(&run->output, &status))
            role = "INPUT's";
    for (int i = options->input_is_sigmf; i < 3; i++)
        if (files[i]->fd > 0 && output_file_is(&run->output, &files[i]->status))
            role = roles[i];
    return !role || message_check_command(message_print(run->output.name, "is %s; give OUTPUT another name", role));
}

bool demod_run_open_output(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    return output_file_find(&run->output, options->output, options->no_clobber) && check_output(run) &&
           output_file_create(&run->output) && message_check_command(output_file_check_terminal(&run->output));
}

/* Selects n symbols from symbol `first` on, with their noise variances and sent bits. */
static bool select_symbols(struct demod_run *run, uint64_t first, uint64_t n_symbols)
{
    struct input_file *const files[] = {&run->noise_vars, &run->sent_bits, &run->symbols};
    uint64_t n_skipped = first;
    for (int i = 0; i < 3; i++)
        if (files[i]->fd > 0 && !input_file_select(files[i], first, n_symbols, &n_skipped))
            return false;
    return n_skipped == first ||
           message_print(run->symbols.name, "has only %" PRIu64 " symbols, so --skip %" PRIu64 " leaves nothing",
                         n_skipped, first);
}

/* Checks that a file has a value for each symbol, if both numbers are known. */
static bool check_fits(const struct demod_run *run, const struct input_file *file)
{
    if (!file->is_regular || !run->symbols.is_regular)
        return true;
    const uint64_t wanted = input_file_n_symbols(&run->symbols) * file->symbol_nbytes;
    return input_file_is_whole(file, file->n_left) &&
           (file->n_left == wanted || demod_misfit(run, file, file->n_left < wanted));
}

/* Returns n * index / n_parts, rounded down; the product alone may be too large. */
static uint64_t part_start(uint64_t n, unsigned index, unsigned n_parts)
{
    return n / n_parts * index + n % n_parts * index / n_parts;
}

/* Selects part `index` of n_parts. A pipe has no parts: other processes would read from it too. */
static bool choose_part(struct demod_run *run, unsigned index, unsigned n_parts)
{
    const struct input_file *const files[] = {&run->symbols, &run->noise_vars, &run->sent_bits};
    for (int i = 0; i < 3; i++)
        if (files[i]->fd > 0 && !files[i]->is_regular)
            return message_print(files[i]->name, "not a regular file, so no part of it can be chosen");
    if (run->options->output_kind == OUTPUT_BITS && demod_run_output_bits(run) % 8 > 0)
        return message_print("--output-format", "bits of a part would not begin at a byte; choose hard");
    if (!demod_estimate(run))
        return false;
    const uint64_t n = run->n_symbols, unit = run->options->plane_symbols ? run->options->plane_symbols : 1;
    const uint64_t n_units = (n + unit - 1) / unit;
    const uint64_t first = at_most(n, unit * part_start(n_units, index, n_parts));
    const uint64_t end = at_most(n, unit * part_start(n_units, index + 1, n_parts));
    run->first_symbol = first;
    run->n_symbols = end - first;
    return select_symbols(run, first, end - first);
}

bool demod_run_select(struct demod_run *run, unsigned index, unsigned n_parts)
{
    const uint64_t skip = run->options->skip, count = run->options->count,
                   n_there = input_file_n_symbols(&run->symbols);
    const bool has_rest = n_there >= skip && n_there - skip >= count; /* then the bytes after them may be anything */
    if ((run->symbols.is_regular && !has_rest && !input_file_is_whole(&run->symbols, run->symbols.n_left)) ||
        !select_symbols(run, skip, UINT64_MAX) || !check_fits(run, &run->noise_vars) ||
        !check_fits(run, &run->sent_bits) || !select_symbols(run, 0, count))
        return false;
    run->n_symbols = input_file_n_symbols(&run->symbols);
    return n_parts <= 1 || choose_part(run, index, n_parts);
}

/* Returns the symbols of a batch: at least a chunk of the user's, but no more than the input has, if that is known. */
static size_t choose_batch_symbols(const struct demod_run *run)
{
    const bool on_gpu = !strcmp(softqam_backend_name(run->demodulator), "cuda");
    const size_t unit = run->options->plane_symbols, chunk = run->options->context_config.chunk_symbols;
    size_t n = on_gpu ? cuda_batch_symbols : cpu_batch_symbols;
    if (on_gpu && n < chunk)
        n = chunk;
    if (run->n_symbols < n)
        n = (size_t)run->n_symbols + 1;
    return unit == 0 ? n : n < unit ? unit : n - n % unit; /* whole code blocks */
}

/* CUDA's driver takes longer to start than the CPU takes for a small input. The CPU is as fast as a pipe, which often
 * delivers a few symbols at a time. */
bool demod_run_wants_cuda(const struct demod_run *run)
{
    const bool is_large = run->symbols.is_regular && run->n_symbols >= MIN_CUDA_SYMBOLS;
    return run->options->backend == SOFTQAM_BACKEND_CUDA || (run->options->backend == DEMOD_BACKEND_AUTO && is_large);
}

/* Makes the demodulator, its context and all that calls need, so that what fails does so before the first batch is
 * read. After a failure it leaves nothing. */
static softqam_status create_on(struct demod_run *run, softqam_backend backend)
{
    softqam_context_config *config = &run->options->context_config;
    config->backend = backend;
    softqam_status status = softqam_context_create(&run->context, config);
    run->config->context = run->context;
    if (status == SOFTQAM_OK)
        status = softqam_demodulator_create(&run->demodulator, run->config);
    if (status == SOFTQAM_OK && run->n_symbols >= MIN_CUDA_SYMBOLS)
        status = softqam_context_prepare(run->context, SOFTQAM_PREPARE_ALL);
    if (status != SOFTQAM_OK) {
        softqam_demodulator_destroy(run->demodulator);
        softqam_context_destroy(run->context);
        run->demodulator = NULL;
        run->context = NULL;
    }
    return status;
}

/* Creates the demodulator. With --backend auto the CPU replaces a GPU that cannot be used, after a warning if there is
 * a GPU. */
static bool create_demodulator(struct demod_run *run)
{
    const bool wants_cuda = demod_run_wants_cuda(run), may_replace = run->options->backend == DEMOD_BACKEND_AUTO;
    softqam_status status = create_on(run, wants_cuda ? SOFTQAM_BACKEND_CUDA : SOFTQAM_BACKEND_CPU);
    if (wants_cuda && may_replace && status != SOFTQAM_OK && status != SOFTQAM_ERROR_INVALID_ARGUMENT) {
        if (status != SOFTQAM_ERROR_BACKEND_UNAVAILABLE)
            message_warn(NULL, "the CPU demodulates: %s", softqam_error_message());
        status = create_on(run, SOFTQAM_BACKEND_CPU);
    }
    message_check_command(status != SOFTQAM_ERROR_INVALID_ARGUMENT);
    return status == SOFTQAM_OK || message_print(NULL, "%s", softqam_error_message());
}

static bool allocate(struct demod_run *run)
{
    const struct demod_options *options = run->options;
    const size_t n = run->batch_symbols = choose_batch_symbols(run);
    const size_t library_nbytes = softqam_input_symbol_nbytes(run->config->input_format),
                 in_file = run->symbols.symbol_nbytes;
    const size_t room = in_file > library_nbytes ? in_file : library_nbytes;
    run->first_bytes = malloc(FIT_SYMBOLS * FORMAT_ROOM);
    run->first_noise_vars = malloc(FIT_SYMBOLS * sizeof(float));
    if (!run->first_bytes || !run->first_noise_vars)
        return message_print(NULL, "out of memory");
    for (int i = 0; i < N_BATCHES; i++) {
        struct batch *batch = &run->ring.batches[i];
        if (softqam_host_alloc(run->context, n * room, &batch->samples) != SOFTQAM_OK ||
            softqam_host_alloc(run->context, n * run->value_nbytes, &batch->out) != SOFTQAM_OK ||
            (options->noise == NOISE_FILE &&
             softqam_host_alloc(run->context, n * sizeof(float), &batch->noise_vars) != SOFTQAM_OK))
            return message_print(NULL, "%s", softqam_error_message());
    }
    /* --verify and --compare need values symbol by symbol. */
    if (options->plane_symbols == 0 || !(options->verify || options->compared_bits))
        return true;
    run->symbol_order = malloc(n * run->value_nbytes);
    return run->symbol_order || message_print(NULL, "out of memory");
}

static bool start_verifier(struct demod_run *run)
{
    if (!run->options->verify)
        return true;
    if (!verification->start(&run->verifier, run->config, run->options->descrambles ? &run->options->c_init : NULL))
        return message_print("--verify", "out of memory");
    run->verifier.n_seen = run->first_symbol;
    run->verifier.position = run->options->skip;
    return true;
}

bool demod_run_start(struct demod_run *run)
{
    return demod_estimate(run) && create_demodulator(run) && allocate(run) && start_verifier(run) &&
           demod_start_threads(run);
}

void demod_run_close(struct demod_run *run, bool keep)
{
    struct input_file *const files[] = {&run->symbols, &run->noise_vars, &run->sent_bits};
    demod_end_threads(run, true);
    output_file_end(&run->output, keep);
    if (run->verifier.config.context)
        verification->end(&run->verifier);
    for (int i = 0; i < N_BATCHES; i++) {
        softqam_host_free(run->ring.batches[i].samples);
        softqam_host_free(run->ring.batches[i].out);
        softqam_host_free(run->ring.batches[i].noise_vars);
    }
    free(run->symbol_order);
    free(run->first_bytes);
    free(run->first_noise_vars);
    softqam_demodulator_destroy(run->demodulator);
    softqam_context_destroy(run->context);
    if (run->stop_fd > 0)
        close(run->stop_fd);
    for (int i = 0; i < 3; i++)
        input_file_close(files[i]);
}
