/* SPDX-License-Identifier: MIT */
/* The kernels for the fake runtime: the CPU's fastest loops. They take the arguments that the launcher gives to the
 * real ones. There is no kernel of large codewords. */
#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "fake_cuda.h"
#include "kernels.h"

/* The codeword that a kernel's segment has been made of. */
static void add_codeword(softqam_segment *segment, const softqam_kernel_segment *from)
{
    const softqam_code_blocks *blocks = &from->blocks;
    const uint64_t n_longer = blocks->n_transmitted - blocks->n_shorter;
    const uint64_t n_symbols = (uint64_t)blocks->n_transmitted * blocks->shorter + n_longer * blocks->n_layers;
    segment->first_symbol = from->codeword_symbol;
    segment->scrambling_offset = from->first_symbol - from->codeword_symbol;
    segment->out = NULL;
    segment->codeword = (softqam_codeword){
        .n_bits = n_symbols * softqam_symbol_bits(segment->modulation),
        .buffers = from->out,
        .block_stride = from->block_stride,
        .block_buffers = from->block_buffers,
        .n_code_blocks = blocks->n_code_blocks,
        .n_cbg = blocks->n_groups,
        .cbgti = blocks->cbgti,
        .deinterleave = from->is_deinterleaved,
    };
}

/* And its soft buffers. That k0 may have lain in the fillers does not matter. */
static void add_soft_buffers(softqam_codeword *codeword, const softqam_kernel_soft *from)
{
    const softqam_soft_buffer *buffer = &from->buffer;
    codeword->n_cb = softqam_soft_buffer_size(buffer);
    codeword->k0 = buffer->start + (buffer->start < buffer->first_filler ? 0 : buffer->n_fillers);
    codeword->first_filler = buffer->first_filler;
    codeword->n_fillers = buffer->n_fillers;
    codeword->filler_value = from->filler_value;
    codeword->combine = from->combines;
}

_Static_assert(SEGMENT_RESERVED == 764, "put the new field back");

/* A codeword's layers, which were interleaved where a kernel's segment is one run of all. */
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

static softqam_segment segment_of(const softqam_kernel_segment *from, size_t symbol_nbytes)
{
    softqam_segment segment = {
        .n_symbols = from->n_symbols,
        .first_symbol = from->first_symbol,
        .out = from->out,
        .plane_stride = from->plane_stride,
        .symbol_stride = from->symbol_stride,
        .noise_stride = from->noise_stride,
        .n_layers = from->n_layers,
        .modulation = (softqam_modulation)from->modulation,
        .noise_form = from->noise_is_inverse ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0,
        .input_scale = from->input_scale,
        .llr_scale = fabsf(from->steps_per_nat),
        .descramble = from->is_descrambled,
        .c_init = from->c_init,
    };
    for (unsigned k = 0; k < from->n_layers; k++) {
        segment.layers[k].symbols = from->layers[k].symbols;
        segment.layers[k].symbols_q = from->layers[k].symbols_q;
        segment.layers[k].noise_var = from->layers[k].noise_var;
        segment.layers[k].gain = from->gains[k];
    }
    if (from->has_codeword) {
        add_codeword(&segment, from);
        if (from->blocks.n_layers != from->n_layers) {
            segment.n_layers = from->blocks.n_layers;
            add_layers(&segment, symbol_nbytes);
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

/* A kernel's segment, on the CPU; soft may be NULL. */
static void run_segment(const softqam_params *params, const softqam_kernel_segment *from,
                        const softqam_kernel_soft *soft)
{
    softqam_cpu cpu;
    softqam_cpu_loops loops;
    if (from->n_symbols == 0)
        return;
    softqam_segment segment = segment_of(from, params->input_nbytes);
    (void)softqam_cpu_create(&cpu, NULL, NULL);
    cpu.streaming_nbytes = SIZE_MAX;
    softqam_cpu_loops_choose(&loops, cpu.variant, params);
    if (soft)
        add_soft_buffers(&segment.codeword, soft);
    for (unsigned layer = 0; layer < segment.n_layers; layer++)
        if (softqam_params_have_llrs(params) && !segment.layers[layer].noise_var)
            segment.layers[layer].noise_var = &from->noise_value;
    softqam_segment_list list = softqam_segment_list_of(params, &segment, 1);
    list.n_symbols = segment.n_symbols;
    list.repeats = soft && soft->is_repeated;
    list.adds = soft && (soft->is_repeated || soft->combines);
    softqam_cpu_demodulate(&cpu, &loops, &list);
}

/* Only whole segments side by side are checked: what the pipeline passes. */
static bool segment_is_reached(const softqam_params *params, const softqam_kernel_segment *segment)
{
    const size_t n = segment->n_symbols;
    const softqam_kernel_layer *layer = &segment->layers[0];
    const size_t out_nbytes = softqam_params_output_nbytes(params, (softqam_modulation)segment->modulation);
    if (layer->symbols_q || segment->symbol_stride > 1 || segment->n_layers > 1 || segment->plane_stride > n ||
        segment->has_codeword)
        return true;
    const size_t noise_nbytes = (segment->noise_stride ? n : 1) * sizeof(float);
    return fake_cuda_reaches(layer->symbols, n * params->input_nbytes) &&
           fake_cuda_reaches(segment->out, n * out_nbytes) &&
           (!layer->noise_var || fake_cuda_reaches(layer->noise_var, noise_nbytes)) &&
           (!segment->gains[0] || fake_cuda_reaches(segment->gains[0], noise_nbytes));
}

/* Plain calls: a softqam_plain_segment, the table of u8. */

static softqam_kernel_segment plain_segment(const fake_kernel *self, const softqam_plain_segment *from)
{
    const bool is_pi2 = from->pi2_sign != from->other_pi2_sign;
    return (softqam_kernel_segment){
        .n_symbols = from->n_symbols,
        .first_symbol = from->pi2_sign >> 31,
        .out = from->out,
        .symbol_stride = 1,
        .noise_stride = from->has_noise_each,
        .layers = {{.symbols = from->symbols, .noise_var = from->noise}},
        .input_scale = from->input_scale,
        .steps_per_nat = from->steps_per_nat,
        .noise_value = from->noise_value,
        .modulation = (uint8_t)(self->axis_bits > 0 ? SOFTQAM_MODULATION_QPSK - 1 + self->axis_bits
                                : is_pi2            ? SOFTQAM_MODULATION_PI2_BPSK
                                                    : SOFTQAM_MODULATION_BPSK),
        .n_layers = 1,
        .noise_is_inverse = from->noise_is_inverse,
    };
}

static softqam_params plain_params(const fake_kernel *self, const softqam_plain_segment *from)
{
    return params_of(self, from->steps_per_nat < 0.0f, &from->limit, 0.0f);
}

static void run_plain(const fake_kernel *self, void *const arguments[])
{
    const softqam_params params = plain_params(self, arguments[0]);
    const softqam_kernel_segment segment = plain_segment(self, arguments[0]);
    run_segment(&params, &segment, NULL);
}

static bool plain_is_reached(const fake_kernel *self, void *const arguments[])
{
    const softqam_params params = plain_params(self, arguments[0]);
    const softqam_kernel_segment segment = plain_segment(self, arguments[0]);
    return segment_is_reached(&params, &segment);
}

static softqam_kernel plain_kernel(softqam_input_format in, softqam_output_format out, int axis_bits,
                                   softqam_plain_kind kind)
{
    static fake_kernel fakes[N_INPUT_FORMATS][N_OUTPUT_FORMATS][MAX_AXIS_BITS + 1];
    if (kind == CODEWORD_CALL)
        return (softqam_kernel){0};
    fake_kernel *fake = &fakes[in][out][axis_bits];
    *fake = (fake_kernel){.run = run_plain,
                          .is_reached = plain_is_reached,
                          .nbytes = {sizeof(softqam_plain_segment), sizeof(softqam_u8_table)},
                          .input_format = (int)in,
                          .output_format = (int)out,
                          .axis_bits = axis_bits};
    return (softqam_kernel){.address = fake,
                            .threads = kind == SMALL_CALL ? SMALL_BLOCK_THREADS : BLOCK_THREADS,
                            .group_symbols = 4,
                            .most_tiles = 8};
}

#define DEFINE_PLAIN_KERNELS(NAME, in)                                                                                 \
    softqam_kernel NAME(softqam_output_format format, int axis_bits, softqam_plain_kind kind)                          \
    {                                                                                                                  \
        return plain_kernel(in, format, axis_bits, kind);                                                              \
    }
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cf32, SOFTQAM_INPUT_CF32)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cs16, SOFTQAM_INPUT_CS16)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cs8, SOFTQAM_INPUT_CS8)
DEFINE_PLAIN_KERNELS(softqam_plain_kernels_cf16, SOFTQAM_INPUT_CF16)

/* Segments: a softqam_segment_launch, the segments, their soft buffers if some have them, the numbers of their first
 * thread blocks, the table of u8. */

static softqam_params launch_params(const fake_kernel *self, const softqam_segment_launch *launch, bool is_negative)
{
    fake_kernel with_input = *self;
    with_input.input_format = (int)launch->input_format;
    return params_of(&with_input, is_negative, &launch->limit, launch->sum_limit);
}

static void run_device_segments(const softqam_params *params, const softqam_segment_launch *launch)
{
    for (unsigned k = 0; k < *launch->n_device_segments && k < launch->n_segments; k++) {
        softqam_kernel_segment segment;
        softqam_kernel_soft soft;
        softqam_kernel_segment_make(&segment, &launch->device_segments[k], &launch->defaults);
        softqam_kernel_soft_make(&soft, &launch->device_segments[k], &segment);
        run_segment(params, &segment, softqam_segment_has_soft_buffers(&launch->device_segments[k]) ? &soft : NULL);
    }
}

static void run_segments(const fake_kernel *self, void *const arguments[])
{
    const softqam_segment_launch *launch = arguments[0];
    const softqam_kernel_segment *segments = arguments[1];
    const softqam_kernel_soft *soft = self->nbytes[4] > 0 ? arguments[2] : NULL;
    const bool is_negative = launch->device_segments ? launch->defaults.is_negative : segments[0].steps_per_nat < 0.0f;
    const softqam_params params = launch_params(self, launch, is_negative);
    if (launch->device_segments)
        run_device_segments(&params, launch);
    for (unsigned k = 0; k < launch->n_segments && !launch->device_segments; k++)
        run_segment(&params, &segments[k], soft && soft[k].is_used ? &soft[k] : NULL);
}

static bool segments_are_reached(const fake_kernel *self, void *const arguments[])
{
    const softqam_segment_launch *launch = arguments[0];
    const softqam_kernel_segment *segments = arguments[1];
    const softqam_params params = launch_params(self, launch, false);
    bool are_reached = true;
    for (unsigned k = 0; k < launch->n_segments && !launch->device_segments; k++)
        are_reached = are_reached && segment_is_reached(&params, &segments[k]);
    return are_reached;
}

enum {
    SEGMENTS_NBYTES = MAX_SEGMENTS * sizeof(softqam_kernel_segment),
    SOFT_NBYTES = MAX_SEGMENTS * sizeof(softqam_kernel_soft),
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
    fakes[format].nbytes[2] = SOFT_NBYTES;
    fakes[format].nbytes[3] = FIRST_BLOCKS_NBYTES;
    fakes[format].nbytes[4] = sizeof(softqam_u8_table);
    return &fakes[format];
}

const void *softqam_soft_kernel_floats(softqam_output_format format) { return softqam_soft_kernel_integers(format); }
