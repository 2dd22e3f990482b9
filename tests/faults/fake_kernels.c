/* SPDX-License-Identifier: MIT */
/* The launcher for the fake runtime: the CPU's fastest loops, enqueued like a kernel. */
#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "fake_cuda.h"
#include "gpu_parts.h"
#include "kernels.h"

softqam_status softqam_kernels_prepare(const softqam_params *params)
{
    (void)params;
    int device = 0;
    TRY_CUDA(cudaGetDevice, &device);
    return SOFTQAM_OK;
}

/* What a kernel has in its arguments. */
typedef struct kernel {
    softqam_params params;
    unsigned n_segments;
    softqam_kernel_segment segments[MAX_SEGMENTS];
    softqam_kernel_soft soft[MAX_SEGMENTS]; /* n_cb 0: none */
} kernel;

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

static void run_kernel(void *context)
{
    const kernel *self = context;
    softqam_cpu cpu;
    softqam_cpu_loops loops;
    (void)softqam_cpu_create(&cpu, NULL, NULL);
    cpu.streaming_nbytes = SIZE_MAX;
    softqam_cpu_loops_choose(&loops, cpu.variant, &self->params);
    for (unsigned k = 0; k < self->n_segments; k++) {
        softqam_segment segment = segment_of(&self->segments[k], self->params.input_nbytes);
        const softqam_kernel_soft *soft = self->soft[k].is_used ? &self->soft[k] : NULL;
        if (soft)
            add_soft_buffers(&segment.codeword, soft);
        for (unsigned layer = 0; layer < segment.n_layers; layer++)
            if (softqam_params_have_llrs(&self->params) && !segment.layers[layer].noise_var)
                segment.layers[layer].noise_var = &self->segments[k].noise_value;
        softqam_segment_list list = softqam_segment_list_of(&self->params, &segment, 1);
        list.n_symbols = segment.n_symbols;
        list.repeats = soft && soft->is_repeated;
        list.adds = soft && (soft->is_repeated || soft->combines);
        softqam_cpu_demodulate(&cpu, &loops, &list);
    }
}

/* Only whole segments side by side are checked: what the pipeline passes. */
static bool is_reached(const softqam_params *params, const softqam_kernel_segment *segment)
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

static softqam_status launch_fake(const fake_kernel *fake, void *argument, cudaStream_t stream)
{
    TRY_CUDA(cudaLaunchKernel, fake, (dim3){1, 1, 1}, (dim3){1, 1, 1}, &argument, 0, stream);
    return SOFTQAM_OK;
}

softqam_status softqam_launch_flush(softqam_launch *launch)
{
    static const fake_kernel fake = {run_kernel, sizeof(kernel)};
    kernel argument = {.params = *launch->params, .n_segments = launch->n_segments};
    launch->n_segments = 0;
    launch->has_soft = false;
    for (unsigned k = 0; k < argument.n_segments; k++) {
        argument.segments[k] = launch->segments[k];
        argument.soft[k] = launch->soft[k];
        if (!is_reached(launch->params, &launch->segments[k]))
            return softqam_cuda_status(cudaErrorIllegalAddress, "launching the kernel");
    }
    return argument.n_segments > 0 ? launch_fake(&fake, &argument, launch->stream) : SOFTQAM_OK;
}

/* What such a kernel has in its arguments. */
typedef struct device_segments {
    softqam_params params;
    const softqam_segment *segments;
    const unsigned *n_segments;
    unsigned max_segments;
} device_segments;

static void run_device_segments(void *context)
{
    const device_segments *self = context;
    kernel one = {.params = self->params, .n_segments = 1};
    for (unsigned k = 0; k < *self->n_segments && k < self->max_segments; k++) {
        const softqam_kernel_defaults defaults = softqam_kernel_defaults_of(&self->params);
        softqam_kernel_segment_make(&one.segments[0], &self->segments[k], &defaults);
        softqam_kernel_soft_make(&one.soft[0], &self->segments[k], &one.segments[0]);
        if (one.segments[0].n_symbols > 0)
            run_kernel(&one);
    }
}

softqam_status softqam_launch_device_segments(const softqam_params *params, const softqam_segment *segments,
                                              const unsigned *n_segments, unsigned max_segments, size_t max_symbols,
                                              cudaStream_t stream)
{
    static const fake_kernel fake = {run_device_segments, sizeof(device_segments)};
    (void)max_symbols;
    device_segments argument = {*params, segments, n_segments, max_segments};
    return launch_fake(&fake, &argument, stream);
}
