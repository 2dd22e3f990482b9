/* SPDX-License-Identifier: MIT */
/* The kernels for the fake runtime: the CPU's fastest loops. They take the arguments that the launcher gives to the
 * real ones. There is no kernel of large codewords. */
#include "fake_cuda.h"
#include "kernels.h"
#include "prepared_segment.h"

/* The static functions of this file take a resolved segment. */
#define softqam_cpu_demodulate_part fake_cpu_demodulate_part
#include "cpu/cpu_demodulate.c"

/* Makes the parameters that a kernel and its arguments have for all segments. */
static softqam_params make_params(softqam_input_format input_format, int output_format, bool is_negative,
                                  const softqam_llr_limit *limit)
{
    softqam_params params;
    const bool is_float = output_format == SOFTQAM_OUTPUT_F16 || output_format == SOFTQAM_OUTPUT_F32;
    const softqam_demodulator_config config = {
        .modulation = SOFTQAM_MODULATION_256QAM,
        .input_format = input_format,
        .output_format = (softqam_output_format)output_format,
        .sign = is_negative ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0,
        .noise_form = SOFTQAM_NOISE_FORM_N0,
        .input_scale = 1.0f,
        .llr_scale = 1.0f,
        .llr_limit = is_float ? 0 : limit->steps,
        .noise_floor = limit->least_noise,
    };
    softqam_params_make(&params, &config);
    params.llr_limit = limit->llr;
    return params;
}

/* Demodulates a segment on the CPU. */
static void run_segment(const softqam_params *params, const softqam_resolved_segment *segment)
{
    softqam_cpu cpu;
    softqam_cpu_loops loops;
    scratch memory;
    work w = {.params = params, .loops = &loops, .scratch = &memory, .segment = *segment};
    if (segment->n_symbols == 0)
        return;
    (void)softqam_cpu_create(&cpu, NULL, NULL);
    softqam_cpu_loops_choose(&loops, cpu.variant, params);
    for (unsigned k = 0; k < segment->source.n_layers; k++)
        if (softqam_params_have_llrs(params) && !segment->source.layers[k].noise_var)
            w.segment.source.layers[k].noise_var = &w.segment.source.noise_value;
    softqam_float_environment environment = softqam_float_enter();
    memory.is_gold_open = false;
    demodulate_in_tiles(&w);
    softqam_float_leave(&environment);
}

/* Plain calls: the first part of a softqam_codeword_launch, all of which the launcher passes; the table of u8. */

static void run_plain(const fake_kernel *self, void *const arguments[])
{
    const softqam_codeword_launch *launch = arguments[0];
    const softqam_params params = make_params((softqam_input_format)self->input_format, self->output_format,
                                              launch->plain.steps_per_nat < 0.0f, &launch->plain.limit);
    run_segment(&params, &launch->segment);
}

static softqam_kernel plain_kernel(softqam_input_format in, softqam_output_format out, softqam_plain_kind kind)
{
    static fake_kernel fakes[N_INPUT_FORMATS][N_OUTPUT_FORMATS];
    fakes[in][out] =
        (fake_kernel){run_plain, {sizeof(softqam_codeword_launch), sizeof(softqam_u8_table)}, (int)in, (int)out};
    return (softqam_kernel){.address = kind >= CODEWORD_CALL ? NULL : &fakes[in][out],
                            .threads = kind == SMALL_CALL ? SMALL_BLOCK_THREADS : BLOCK_THREADS,
                            .group_symbols = 4,
                            .most_tiles = 8};
}

#define DEFINE_PLAIN_KERNELS(NAME, in)                                                                                 \
    softqam_kernel NAME(softqam_output_format format, int axis_bits, softqam_plain_kind kind)                          \
    {                                                                                                                  \
        (void)axis_bits;                                                                                               \
        return plain_kernel(in, format, kind);                                                                         \
    }
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cf32, SOFTQAM_INPUT_CF32)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cs16, SOFTQAM_INPUT_CS16)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cs8, SOFTQAM_INPUT_CS8)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cf16, SOFTQAM_INPUT_CF16)

/* Segments: a softqam_segment_launch, the segments, how thread blocks share their code blocks if some have soft
 * buffers, the numbers of their first thread blocks, the table of u8. */

static void run_segments(const fake_kernel *self, void *const arguments[])
{
    const softqam_segment_launch *launch = arguments[0];
    const softqam_resolved_segment *segments = arguments[1];
    if (launch->only_counts)
        return;
    const bool is_negative =
        launch->device_segments ? launch->defaults.is_negative : segments[0].placement.steps_per_nat < 0.0f;
    const softqam_params params =
        make_params((softqam_input_format)launch->input_format, self->output_format, is_negative, &launch->limit);
    for (unsigned k = 0; k < launch->n_segments; k++) {
        softqam_resolved_segment resolved;
        if (launch->device_segments && k == *launch->n_device_segments)
            break;
        if (launch->device_segments)
            softqam_segment_resolve(&resolved, &launch->device_segments[k], &launch->defaults);
        run_segment(&params, launch->device_segments ? &resolved : &segments[k]);
    }
}

enum {
    SEGMENTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_resolved_segment),
    PARTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_code_block_parts),
    PAIRS_NBYTES = MAX_SEGMENTS * sizeof(softqam_pairs),
    FIRST_BLOCKS_NBYTES = MAX_SEGMENTS * sizeof(unsigned)
};

const void *softqam_segment_kernel(softqam_output_format format)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[format] = (fake_kernel){
        .run = run_segments,
        .nbytes = {sizeof(softqam_segment_launch), SEGMENTS_NBYTES, FIRST_BLOCKS_NBYTES, sizeof(softqam_u8_table)},
        .output_format = (int)format};
    return &fakes[format];
}

const void *softqam_soft_kernel_integers(softqam_output_format format)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[format] = (fake_kernel){.run = run_segments,
                                  .nbytes = {sizeof(softqam_segment_launch), SEGMENTS_NBYTES, PARTS_NBYTES,
                                             PAIRS_NBYTES, FIRST_BLOCKS_NBYTES, sizeof(softqam_u8_table)},
                                  .output_format = (int)format};
    return &fakes[format];
}

const void *softqam_soft_kernel_floats(softqam_output_format format) { return softqam_soft_kernel_integers(format); }

const void *softqam_code_block_kernel(softqam_output_format format) { return softqam_soft_kernel_integers(format); }

/* Prepared segments: a prepared_launch, the table of u8. */

static void run_prepared(const fake_kernel *self, void *const arguments[])
{
    const prepared_launch *argument = arguments[0];
    for (unsigned k = 0; k < argument->launch.n_segments && k < *argument->n_prepared; k++) {
        const softqam_resolved_segment *segment = &argument->prepared[k].segment;
        const softqam_params params =
            make_params((softqam_input_format)argument->launch.input_format, self->output_format,
                        segment->placement.steps_per_nat < 0.0f, &argument->launch.limit);
        run_segment(&params, segment);
    }
}

const void *softqam_prepared_kernel_integers(softqam_output_format format)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[format] = (fake_kernel){.run = run_prepared,
                                  .nbytes = {sizeof(prepared_launch), sizeof(softqam_u8_table)},
                                  .output_format = (int)format};
    return &fakes[format];
}

const void *softqam_prepared_kernel_floats(softqam_output_format format)
{
    return softqam_prepared_kernel_integers(format);
}

/* There are no kernels that store straight to soft buffers. */
const void *softqam_element_kernel_s8(int axis_bits, unsigned neighbours, bool adds, bool counts)
{
    (void)axis_bits, (void)neighbours, (void)adds, (void)counts;
    return NULL;
}

const void *softqam_element_kernel_f16(int axis_bits, unsigned neighbours, bool adds, bool counts)
{
    return softqam_element_kernel_s8(axis_bits, neighbours, adds, counts);
}
const void *softqam_pair_kernel(softqam_output_format format) { return softqam_soft_kernel_integers(format); }
const void *softqam_count_kernel_integers(softqam_output_format format) { return softqam_soft_kernel_integers(format); }
const void *softqam_count_kernel_floats(softqam_output_format format) { return softqam_soft_kernel_integers(format); }
const void *softqam_count_kernel_pairs(softqam_output_format format) { return softqam_soft_kernel_integers(format); }

cudaError_t softqam_device_gold_tables(const void **tables)
{
    *tables = NULL;
    return cudaSuccess;
}
