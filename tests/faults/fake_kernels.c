/* SPDX-License-Identifier: MIT */
/* The kernels for the fake runtime: the CPU's fastest loops. They take the arguments that the launcher gives to the
 * real ones. There is no kernel of large codewords. */
#include "fake_cuda.h"
#include "kernels.h"

/* The static functions of this file take a resolved segment. */
#define softqam_cpu_demodulate fake_cpu_demodulate
#include "cpu/cpu_demodulate.c"

/* The parameters that a kernel and its arguments have for all segments. */
static softqam_params params_of(const fake_kernel *self, bool is_negative, const softqam_llr_limit *limit,
                                float sum_limit)
{
    softqam_params params;
    const bool is_float = self->output_format == SOFTQAM_OUTPUT_F16 || self->output_format == SOFTQAM_OUTPUT_F32;
    softqam_demodulator_config config = {
        .modulation = SOFTQAM_MODULATION_256QAM,
        .input_format = (softqam_input_format)self->input_format,
        .output_format = (softqam_output_format)self->output_format,
        .sign = is_negative ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0,
        .noise_form = SOFTQAM_NOISE_FORM_N0,
        .input_scale = 1.0f,
        .llr_scale = 1.0f,
        .llr_limit = is_float ? 0 : limit->steps,
    };
    softqam_params_make(&params, &config);
    params.sum_limit = sum_limit;
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
    demodulate_in_tiles(&w, false);
    softqam_float_leave(&environment);
}

/* True if the device can access all that a contiguous segment reads and writes; the pipeline passes such ones. */
static bool segment_is_reached(const softqam_params *params, const softqam_resolved_segment *segment)
{
    const size_t n = segment->n_symbols;
    const softqam_source *source = &segment->source;
    const softqam_placement *placement = &segment->placement;
    const softqam_source_layer *layer = &source->layers[0];
    const size_t out_nbytes = softqam_params_output_nbytes(params, (softqam_modulation)placement->modulation);
    if (source->is_split || source->symbol_stride > 1 || source->n_layers > 1 || placement->plane_stride > n ||
        placement->has_code_blocks)
        return true;
    const size_t noise_nbytes = (source->noise_stride ? n : 1) * sizeof(float);
    return fake_cuda_reaches(layer->symbols, n * params->defaults.symbol_nbytes) &&
           fake_cuda_reaches(placement->out, n * out_nbytes) &&
           (!layer->noise_var || fake_cuda_reaches(layer->noise_var, noise_nbytes)) &&
           (!layer->gain || fake_cuda_reaches(layer->gain, noise_nbytes));
}

/* Plain calls: the first part of a softqam_codeword_launch, all of which the launcher passes; the table of u8. */

static softqam_params plain_params(const fake_kernel *self, const softqam_codeword_launch *launch)
{
    return params_of(self, launch->plain.steps_per_nat < 0.0f, &launch->plain.limit, 0.0f);
}

static void run_plain(const fake_kernel *self, void *const arguments[])
{
    const softqam_codeword_launch *launch = arguments[0];
    const softqam_params params = plain_params(self, launch);
    run_segment(&params, &launch->segment);
}

static bool plain_is_reached(const fake_kernel *self, void *const arguments[])
{
    const softqam_codeword_launch *launch = arguments[0];
    const softqam_params params = plain_params(self, launch);
    return segment_is_reached(&params, &launch->segment);
}

static softqam_kernel plain_kernel(softqam_input_format in, softqam_output_format out, softqam_plain_kind kind)
{
    static fake_kernel fakes[N_INPUT_FORMATS][N_OUTPUT_FORMATS];
    if (kind == CODEWORD_CALL)
        return (softqam_kernel){0};
    fake_kernel *fake = &fakes[in][out];
    *fake = (fake_kernel){.run = run_plain,
                          .is_reached = plain_is_reached,
                          .nbytes = {sizeof(softqam_codeword_launch), sizeof(softqam_u8_table)},
                          .input_format = (int)in,
                          .output_format = (int)out};
    return (softqam_kernel){.address = fake,
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

static softqam_params launch_params(const fake_kernel *self, const softqam_segment_launch *launch, bool is_negative)
{
    fake_kernel with_input = *self;
    with_input.input_format = (int)launch->input_format;
    return params_of(&with_input, is_negative, &launch->limit, launch->sum_limit);
}

static void run_segments(const fake_kernel *self, void *const arguments[])
{
    const softqam_segment_launch *launch = arguments[0];
    const softqam_resolved_segment *segments = arguments[1];
    const bool is_negative =
        launch->device_segments ? launch->defaults.is_negative : segments[0].placement.steps_per_nat < 0.0f;
    const softqam_params params = launch_params(self, launch, is_negative);
    for (unsigned k = 0; k < launch->n_segments; k++) {
        softqam_resolved_segment segment;
        if (!launch->device_segments)
            segment = segments[k];
        else if (k < *launch->n_device_segments)
            softqam_segment_resolve(&segment, &launch->device_segments[k], &launch->defaults);
        else
            break;
        run_segment(&params, &segment);
    }
}

static bool segments_are_reached(const fake_kernel *self, void *const arguments[])
{
    const softqam_segment_launch *launch = arguments[0];
    const softqam_resolved_segment *segments = arguments[1];
    const softqam_params params = launch_params(self, launch, false);
    bool are_reached = true;
    for (unsigned k = 0; k < launch->n_segments && !launch->device_segments; k++)
        are_reached = are_reached && segment_is_reached(&params, &segments[k]);
    return are_reached;
}

enum {
    SEGMENTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_resolved_segment),
    PARTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_code_block_parts),
    FIRST_BLOCKS_NBYTES = MAX_SEGMENTS * sizeof(unsigned)
};

const void *softqam_segment_kernel(softqam_output_format format)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[format] = (fake_kernel){
        .run = run_segments,
        .is_reached = segments_are_reached,
        .nbytes = {sizeof(softqam_segment_launch), SEGMENTS_NBYTES, FIRST_BLOCKS_NBYTES, sizeof(softqam_u8_table)},
        .output_format = (int)format,
    };
    return &fakes[format];
}

const void *softqam_soft_kernel_integers(softqam_output_format format)
{
    static fake_kernel fakes[N_OUTPUT_FORMATS];
    fakes[format] = *(const fake_kernel *)softqam_segment_kernel(format);
    fakes[format].nbytes[2] = PARTS_NBYTES;
    fakes[format].nbytes[3] = FIRST_BLOCKS_NBYTES;
    fakes[format].nbytes[4] = sizeof(softqam_u8_table);
    return &fakes[format];
}

const void *softqam_soft_kernel_floats(softqam_output_format format) { return softqam_soft_kernel_integers(format); }
