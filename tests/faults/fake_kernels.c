/* SPDX-License-Identifier: MIT */
/* The kernels for the fake runtime: the CPU's fastest loops. They take the arguments that the launcher gives to the
 * real ones. There is no kernel of large codewords. */
#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "fake_cuda.h"
#include "kernels.h"

/* The codeword that a segment's placement has been resolved from. That k0 may have lain in the fillers does not matter.
 */
static softqam_codeword codeword_of(const softqam_placement *placement)
{
    const softqam_code_blocks *blocks = &placement->blocks;
    const softqam_soft_buffer *buffer = &placement->buffer;
    const uint64_t n_longer = blocks->n_transmitted - blocks->n_shorter;
    const uint64_t n_symbols = (uint64_t)blocks->n_transmitted * blocks->shorter + n_longer * blocks->n_layers;
    softqam_codeword codeword = {
        .n_bits = n_symbols * softqam_symbol_bits((softqam_modulation)placement->modulation),
        .buffers = placement->out,
        .block_stride = placement->block_stride,
        .block_buffers = placement->block_buffers,
        .n_code_blocks = blocks->n_code_blocks,
        .n_cbg = blocks->n_groups,
        .cbgti = blocks->cbgti,
        .deinterleave = placement->is_deinterleaved,
    };
    if (placement->has_soft_buffers) {
        codeword.n_cb = softqam_soft_buffer_size(buffer);
        codeword.k0 = buffer->start + (buffer->start < buffer->first_filler ? 0 : buffer->n_fillers);
        codeword.first_filler = buffer->first_filler;
        codeword.n_fillers = buffer->n_fillers;
        codeword.filler_value = placement->filler_value;
        codeword.combine = placement->combines;
    }
    return codeword;
}

/* Gives a codeword its layers back, which were interleaved if a resolved segment has one for all of them. */
static void add_layers(softqam_segment *segment, size_t symbol_nbytes)
{
    segment->symbol_stride = segment->noise_stride = segment->n_layers;
    for (unsigned k = 1; k < segment->n_layers; k++) {
        segment->layers[k] = segment->layers[0];
        segment->layers[k].symbols = (const uint8_t *)segment->layers[0].symbols + k * symbol_nbytes;
        segment->layers[k].noise_var = segment->layers[0].noise_var + k;
        segment->layers[k].gain = segment->layers[0].gain ? segment->layers[0].gain + k : NULL;
    }
}

/* The segment that has been resolved. */
static softqam_segment segment_of(const softqam_resolved_segment *from)
{
    const softqam_source *source = &from->source;
    const softqam_placement *placement = &from->placement;
    softqam_segment segment = {
        .n_symbols = from->n_symbols,
        .first_symbol = placement->position,
        .out = placement->out,
        .plane_stride = placement->plane_stride,
        .symbol_stride = source->symbol_stride,
        .noise_stride = source->noise_stride,
        .n_layers = source->n_layers,
        .modulation = (softqam_modulation)placement->modulation,
        .noise_form = source->noise_is_inverse ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0,
        .input_scale = source->input_scale,
        .llr_scale = fabsf(placement->steps_per_nat),
        .descramble = placement->is_descrambled,
        .c_init = placement->c_init,
    };
    for (unsigned k = 0; k < source->n_layers; k++) {
        segment.layers[k].symbols = source->layers[k].symbols;
        segment.layers[k].symbols_q = source->layers[k].symbols_q;
        segment.layers[k].noise_var = source->layers[k].noise_var;
        segment.layers[k].gain = source->layers[k].gain;
    }
    if (placement->has_code_blocks) {
        segment.first_symbol = placement->codeword_symbol;
        segment.scrambling_offset = placement->position - placement->codeword_symbol;
        segment.out = NULL;
        segment.codeword = codeword_of(placement);
        if (placement->blocks.n_layers != source->n_layers) {
            segment.n_layers = placement->blocks.n_layers;
            add_layers(&segment, source->symbol_nbytes);
        }
    }
    return segment;
}

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
static void run_segment(const softqam_params *params, const softqam_resolved_segment *from)
{
    const softqam_placement *placement = &from->placement;
    softqam_cpu cpu;
    softqam_cpu_loops loops;
    if (from->n_symbols == 0)
        return;
    softqam_segment segment = segment_of(from);
    (void)softqam_cpu_create(&cpu, NULL, NULL);
    cpu.streaming_nbytes = SIZE_MAX;
    softqam_cpu_loops_choose(&loops, cpu.variant, params);
    for (unsigned layer = 0; layer < segment.n_layers; layer++)
        if (softqam_params_have_llrs(params) && !segment.layers[layer].noise_var)
            segment.layers[layer].noise_var = &from->source.noise_value;
    softqam_segment_list list = softqam_segment_list_of(params, &segment, 1);
    list.n_symbols = segment.n_symbols;
    list.repeats = placement->is_repeated;
    list.adds = placement->is_repeated || placement->combines;
    softqam_cpu_demodulate(&cpu, &loops, &list);
}

/* Only whole segments side by side are checked: what the pipeline passes. */
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
    return fake_cuda_reaches(layer->symbols, n * params->input_nbytes) &&
           fake_cuda_reaches(placement->out, n * out_nbytes) &&
           (!layer->noise_var || fake_cuda_reaches(layer->noise_var, noise_nbytes)) &&
           (!layer->gain || fake_cuda_reaches(layer->gain, noise_nbytes));
}

/* Plain calls: a softqam_plain_launch, the table of u8. */

static softqam_params plain_params(const fake_kernel *self, const softqam_plain_launch *launch)
{
    return params_of(self, launch->segment.placement.steps_per_nat < 0.0f, &launch->limit, 0.0f);
}

static void run_plain(const fake_kernel *self, void *const arguments[])
{
    const softqam_plain_launch *launch = arguments[0];
    const softqam_params params = plain_params(self, launch);
    run_segment(&params, &launch->segment);
}

static bool plain_is_reached(const fake_kernel *self, void *const arguments[])
{
    const softqam_plain_launch *launch = arguments[0];
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
                          .nbytes = {sizeof(softqam_plain_launch), sizeof(softqam_u8_table)},
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

/* Segments: a softqam_segment_launch, the segments, how thread blocks share their code blocks if
 * some have soft buffers, the numbers of their first
 * thread blocks, the table of u8. */

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
