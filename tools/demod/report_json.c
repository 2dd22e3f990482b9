/* SPDX-License-Identifier: MIT */
/* --stats=json: what --stats says as one line of JSON, null for what is not known. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/message.h"
#include "report.h"

static void print_text(const char *name, const char *text)
{
    fprintf(stderr, "\"%s\": \"", name);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(stderr, "\\%c", *text);
        else
            fprintf(stderr, (unsigned char)*text < 0x20 ? "\\u%04x" : "%c", (unsigned)(unsigned char)*text);
    fprintf(stderr, "\", ");
}

static void print_count(const char *name, uint64_t count)
{
    fprintf(stderr, "\"%s\": %" PRIu64 ", ", name, count);
}

static void print_number(const char *name, double number, const char *after)
{
    if (isfinite(number))
        fprintf(stderr, "\"%s\": %.9g%s", name, number, after);
    else
        fprintf(stderr, "\"%s\": null%s", name, after);
}

static void print_comparison(const struct bit_comparison *comparison)
{
    if (!comparison->is_wanted)
        return;
    print_count("bits_compared", comparison->n_compared);
    print_count("bits_wrong", comparison->n_wrong);
}

void report_json(const struct demod_run *run)
{
    const struct noise_source *source = &run->noise;
    const struct noise_estimate *estimate = &run->statistics.noise;
    const bool has_noise = source->kind == NOISE_VALUE || source->n_estimated > 0;
    message_clear_transient();
    fputc('{', stderr);
    print_count("symbols", run->n_demodulated);
    print_number("library_s", run->seconds_in_library, ", ");
    print_number("overall_s", clock_seconds() - run->started, ", ");
    print_text("backend", softqam_backend_name(run->demodulator));
    print_text("backend_detail", softqam_backend_detail(run->demodulator));
    print_number("input_scale", (double)run->config.input_scale, ", ");
    print_number("n0", has_noise ? (double)source->noise_var : (double)NAN, ", ");
    print_number("saturated_share", statistics_saturated_share(&run->statistics, run->config.modulation), ", ");
    print_count("erased", run->statistics.n_erased);
    print_comparison(&run->comparison);
    print_number("energy", noise_estimate_energy(estimate), ", ");
    print_number("estimated_n0", noise_estimate_variance(estimate, run->config.modulation), ", ");
    print_number("evm", noise_estimate_evm(estimate), "}\n");
    fflush(stderr);
}
