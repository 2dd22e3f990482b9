/* SPDX-License-Identifier: MIT */
/* The kernels for the fake runtime: the CPU's fastest loops. They take the arguments that the launcher gives to the
 * real ones. There is no kernel of large codewords. */
#include "fake_cuda.h"
#include "kernel_list.h"
#include "prepared_segment.h"

/* The static functions of this file take a resolved segment. */
#define softqam_cpu_demodulate_part      fake_cpu_demodulate_part
#define softqam_cpu_demodulate_converted fake_cpu_demodulate_converted
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
        .noise_floor = limit->min_noise,
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

static softqam_kernel block_kernel(bool is_wanted, const fake_kernel *fake)
{
    return (softqam_kernel){.address = is_wanted ? fake : NULL, .threads = BLOCK_THREADS};
}

/* Plain calls: the first part of a softqam_codeword_argument, all of which the launcher passes; the table of u8. */

static void run_plain(const fake_kernel *self, void *const arguments[])
{
    const softqam_codeword_argument *launch = arguments[0];
    const softqam_params params = make_params((softqam_input_format)self->input_format, self->output_format,
                                              launch->plain.steps_per_nat < 0.0f, &launch->plain.limit);
    run_segment(&params, &launch->segment);
}

static softqam_kernel plain_kernel(softqam_input_format in, softqam_kernel_key key)
{
    static fake_kernel fakes[N_INPUT_FORMATS][N_OUTPUT_FORMATS];
    fake_kernel *fake = &fakes[in][key.output_format];
    *fake = (fake_kernel){
        run_plain, {sizeof(softqam_codeword_argument), sizeof(softqam_u8_table)}, (int)in, (int)key.output_format};
    return (softqam_kernel){.address = key.input_format == in && key.kind < CODEWORD_CALL ? fake : NULL,
                            .threads = key.kind == SMALL_CALL ? SMALL_BLOCK_THREADS : BLOCK_THREADS,
                            .group_symbols = 4,
                            .max_rounds = 8};
}

#define DEFINE_PLAIN_KERNELS(NAME, in)                                                                                 \
    softqam_kernel NAME(softqam_kernel_key key) { return plain_kernel(in, key); }
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cf32, SOFTQAM_INPUT_CF32)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cs16, SOFTQAM_INPUT_CS16)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cs8, SOFTQAM_INPUT_CS8)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cf16, SOFTQAM_INPUT_CF16)

/* Segments: a softqam_common_argument, the segments, how thread blocks share their code blocks if some have soft
 * buffers, the numbers of their first thread blocks, the table of u8. */

static void run_segments(const fake_kernel *self, void *const arguments[])
{
    const softqam_common_argument *launch = arguments[0];
    const softqam_resolved_segment *segments = arguments[1];
    const softqam_params params = make_params((softqam_input_format)launch->input_format, self->output_format,
                                              segments[0].placement.steps_per_nat < 0.0f, &launch->limit);
    for (unsigned k = 0; k < launch->n_segments; k++)
        run_segment(&params, &segments[k]);
}

enum {
    SEGMENTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_resolved_segment),
    PARTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_code_block_parts),
    EXTRAS_NBYTES = MAX_SEGMENTS * sizeof(softqam_extras),
    FIRST_BLOCKS_NBYTES = MAX_SEGMENTS * sizeof(unsigned)
};

softqam_kernel softqam_segment_kernels(softqam_kernel_key key)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[key.output_format] = (fake_kernel){
        .run = run_segments,
        .nbytes = {sizeof(softqam_common_argument), SEGMENTS_NBYTES, FIRST_BLOCKS_NBYTES, sizeof(softqam_u8_table)},
        .output_format = (int)key.output_format};
    return block_kernel(key.kind == SEGMENT_KERNEL && key.axis_bits == ANY_AXIS_BITS, &fakes[key.output_format]);
}

static softqam_kernel soft_kernel(softqam_output_format format, softqam_kernel_key key)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[format] = (fake_kernel){.run = run_segments,
                                  .nbytes = {sizeof(softqam_common_argument), SEGMENTS_NBYTES, PARTS_NBYTES,
                                             EXTRAS_NBYTES, FIRST_BLOCKS_NBYTES, sizeof(softqam_u8_table)},
                                  .output_format = (int)format};
    return block_kernel(key.output_format == format && key.kind >= SOFT_KERNEL && key.kind < ELEMENT_KERNEL,
                        &fakes[format]);
}

/* Any segments, in device memory: a prepared_argument, the table of u8. Or in argument_segments. */

static void run_prepared(const fake_kernel *self, void *const arguments[])
{
    const prepared_argument *argument = arguments[0];
    const bool are_arguments = !argument->prepared && !argument->descriptors;
    const softqam_common_argument *launch = &argument->common;
    for (unsigned k = 0; k < launch->n_segments && (!argument->n_present || k < *argument->n_present); k++) {
        prepared_segment own;
        if (argument->descriptors)
            softqam_prepare_segment(&own, &argument->descriptors[k], &argument->defaults, launch->input_format,
                                    self->output_format);
        else
            own = are_arguments ? ((const argument_segments *)arguments[0])->segments[k]
                                : *(const prepared_segment *)(const void *)&argument->prepared[k];
        const softqam_params params = make_params((softqam_input_format)launch->input_format, self->output_format,
                                                  own.segment.placement.steps_per_nat < 0.0f, &launch->limit);
        run_segment(&params, &own.segment);
    }
}

static softqam_kernel prepared_kernel(softqam_output_format format, softqam_kernel_key key)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS][2];
    const bool are_arguments = key.kind == ARGUMENT_KERNEL;
    fakes[format][are_arguments] =
        (fake_kernel){.run = run_prepared,
                      .nbytes = {are_arguments ? sizeof(argument_segments) : sizeof(prepared_argument),
                                 are_arguments ? 0 : sizeof(softqam_u8_table)},
                      .output_format = (int)format};
    return block_kernel(key.output_format == format && key.kind >= ARGUMENT_KERNEL && key.axis_bits == ANY_AXIS_BITS,
                        &fakes[format][are_arguments]);
}

#define DEFINE_KERNELS(name, format)                                                                                   \
    softqam_kernel softqam_soft_kernel_##name(softqam_kernel_key key) { return soft_kernel(format, key); }             \
    softqam_kernel softqam_prepared_kernel_##name(softqam_kernel_key key) { return prepared_kernel(format, key); }
DEFINE_KERNELS(u8, SOFTQAM_OUTPUT_U8)
DEFINE_KERNELS(s8, SOFTQAM_OUTPUT_S8)
DEFINE_KERNELS(s16, SOFTQAM_OUTPUT_S16)
DEFINE_KERNELS(f16, SOFTQAM_OUTPUT_F16)
DEFINE_KERNELS(f32, SOFTQAM_OUTPUT_F32)

/* There are no kernels that store straight to soft buffers. */
softqam_kernel softqam_element_kernel_s8(softqam_kernel_key key)
{
    (void)key;
    return (softqam_kernel){.address = NULL};
}

softqam_kernel softqam_element_kernel_f16(softqam_kernel_key key) { return softqam_element_kernel_s8(key); }

cudaError_t softqam_device_gold_tables(const void **tables)
{
    *tables = NULL;
    return cudaSuccess;
}
