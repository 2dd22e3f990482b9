/* SPDX-License-Identifier: MIT */
/* --stats=json: what --stats says as one line of JSON, null for what is not known. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "common/utf8.h"
#include "report.h"

static void put_text(FILE *file, const char *name, const char *value)
{
    char *text = strdup(value), *c = text;
    if (!text)
        return;
    utf8_repair(text);
    fprintf(file, "\"%s\": \"", name);
    for (; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else
            fprintf(file, (unsigned char)*c < 0x20 ? "\\u%04x" : "%c", (unsigned)(unsigned char)*c);
    fprintf(file, "\", ");
    free(text);
}

static void put_count(FILE *file, const char *name, uint64_t count)
{
    fprintf(file, "\"%s\": %" PRIu64 ", ", name, count);
}

static void put_number(FILE *file, const char *name, double number, const char *after)
{
    if (isfinite(number))
        fprintf(file, "\"%s\": %.9g%s", name, number, after);
    else
        fprintf(file, "\"%s\": null%s", name, after);
}

static void put_command(FILE *file, const struct demod_run *run)
{
    const struct demod_options *options = run->options;
    put_text(file, "version", softqam_version());
    put_text(file, "input", run->symbols.file.name);
    put_text(file, "output", options->output);
    put_text(file, "input_format", file_format_name(run->input_format));
    put_text(file, "output_format", sample_format_name(options->output_kind));
    put_text(file, "modulation", modulation_get(run->config.modulation)->option);
    if (run->descrambles)
        put_count(file, "c_init", run->c_init);
}

static void put_comparison(FILE *file, const struct bit_comparison *comparison)
{
    if (!comparison->is_wanted)
        return;
    put_count(file, "bits_compared", comparison->n_compared);
    put_count(file, "bits_wrong", comparison->n_wrong);
    put_number(file, "bit_error_rate", (double)comparison->n_wrong / (double)comparison->n_compared, ", ");
}

static void put_noise(FILE *file, const char *n0_name, const char *snr_name, double noise_var)
{
    put_number(file, n0_name, noise_var, ", ");
    put_number(file, snr_name, round(-1e7 * log10(noise_var)) / 1e6, ", ");
}

bool report_json(const struct demod_run *run, char *text, size_t nbytes)
{
    const struct noise_source *source = &run->noise;
    const struct noise_estimate *estimate = &run->statistics.noise;
    const bool has_noise = source->kind == NOISE_VALUE || source->n_estimated > 0;
    FILE *file = fmemopen(text, nbytes, "w");
    if (!file)
        return false;
    fputc('{', file);
    put_command(file, run);
    put_count(file, "symbols", run->n_demodulated);
    put_number(file, "library_s", run->seconds_in_library, ", ");
    put_number(file, "overall_s", clock_seconds() - run->started, ", ");
    put_text(file, "backend", softqam_backend_name(run->demodulator));
    put_text(file, "backend_detail", softqam_backend_detail(run->demodulator));
    put_number(file, "input_scale", (double)run->config.input_scale, ", ");
    put_noise(file, "n0", "snr_db", has_noise ? (double)source->noise_var : (double)NAN);
    put_number(file, "saturated_share", statistics_saturated_share(&run->statistics, run->config.modulation), ", ");
    put_count(file, "erased", run->statistics.n_erased);
    put_comparison(file, &run->comparison);
    put_number(file, "energy", noise_estimate_energy(estimate), ", ");
    put_noise(file, "estimated_n0", "estimated_snr_db", noise_estimate_variance(estimate, run->config.modulation));
    put_number(file, "evm", noise_estimate_evm(estimate), "}\n");
    return !fclose(file);
}
