/* SPDX-License-Identifier: MIT */
/* kernels.cu for the fake runtime: the portable loops, enqueued like a kernel. */
#include "cpu/float_environment.h"
#include "cpu/variant.h"
#include "fake_cuda.h"
#include "kernels.h"

const softqam_kernels *softqam_kernels_choose(const softqam_params *params)
{
    (void)params;
    return NULL; /* one for all */
}

cudaError_t softqam_kernels_prepare(const softqam_params *params, unsigned capacity)
{
    (void)params;
    (void)capacity;
    int device = 0;
    int n = 0;
    const cudaError_t error = cudaGetDevice(&device);
    return error == cudaSuccess ? cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) : error;
}

size_t softqam_kernel_input_alignment(const softqam_params *params, const softqam_segment *segment)
{
    return segment->layers[0].symbols_q ? params->input_nbytes / 2 : params->input_nbytes;
}

size_t softqam_kernel_output_alignment(const softqam_params *params, const softqam_segment *segment)
{
    const size_t nbytes = softqam_params_output_nbytes(params, segment->modulation);
    return nbytes < 16 ? nbytes : 16;
}

/* What a kernel has in its arguments. */
typedef struct kernel {
    softqam_params params;
    unsigned n_segments;
    softqam_kernel_segment segments[MANY_SEGMENTS];
} kernel;

/* One symbol after the other, from wherever it lies. */
static void run_segment(const softqam_params *params, const softqam_cpu_loops *loops,
                        const softqam_kernel_segment *segment)
{
    const size_t half = params->input_nbytes / 2;
    const size_t out_nbytes = softqam_params_output_nbytes(params, params->modulation);
    const size_t step = segment->symbol_stride * (segment->symbols_q ? half : 2 * half);
    const softqam_noise_kind of_llrs = segment->noise_is_inverse ? SOFTQAM_NOISE_INVERSE : SOFTQAM_NOISE_N0;
    const softqam_noise_kind kind = softqam_params_take_noise(params) ? of_llrs : SOFTQAM_ONE_WEIGHT;
    const softqam_llr_scale scale = {segment->steps_per_nat, params->llr_limit};
    for (size_t k = 0; k < segment->n_symbols; k++) {
        const unsigned char *i = (const unsigned char *)segment->symbols + k * step;
        const unsigned char *q = segment->symbols_q ? (const unsigned char *)segment->symbols_q + k * step : i + half;
        unsigned char *out = (unsigned char *)segment->out + k * out_nbytes;
        float components[2];
        loops->convert(i, segment->input_scale, 1, &components[0]);
        loops->convert(q, segment->input_scale, 1, &components[1]);
        const float noise = segment->noise ? segment->noise[k * segment->noise_stride] : segment->noise_value;
        const int axis_bits = softqam_axis_bits(params->modulation);
        const softqam_loop_call call = {.params = params,
                                        .table = params->llrs[axis_bits],
                                        .scale = scale,
                                        .components = components,
                                        .noise = &noise,
                                        .n_symbols = 1,
                                        .out = out};
        loops->by_noise[axis_bits][kind](&call);
    }
}

static void run_kernel(void *context)
{
    const kernel *self = context;
    softqam_cpu_loops loops;
    const softqam_float_environment environment = softqam_float_enter(false);
    softqam_cpu_loops_choose(&loops, &softqam_cpu_portable, &self->params);
    for (unsigned k = 0; k < self->n_segments; k++)
        run_segment(&self->params, &loops, &self->segments[k]);
    softqam_float_leave(environment);
}

/* Only whole segments side by side are checked: what the pipeline passes. */
static bool is_reached(const softqam_params *params, const softqam_kernel_segment *segment)
{
    const size_t n = segment->n_symbols;
    if (segment->symbols_q || segment->symbol_stride > 1)
        return true;
    return fake_cuda_reaches(segment->symbols, n * params->input_nbytes) &&
           fake_cuda_reaches(segment->out, n * softqam_params_output_nbytes(params, params->modulation)) &&
           (!segment->noise || fake_cuda_reaches(segment->noise, (segment->noise_stride ? n : 1) * sizeof(float)));
}

void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, unsigned capacity, cudaStream_t stream)
{
    launch->params = params;
    launch->stream = stream;
    launch->capacity = capacity;
    launch->n_segments = 0;
}

cudaError_t softqam_launch_end(softqam_launch *launch)
{
    static const fake_kernel fake = {run_kernel, sizeof(kernel)};
    if (launch->n_segments == 0)
        return cudaSuccess;
    kernel argument = {.params = *launch->params, .n_segments = launch->n_segments};
    for (unsigned k = 0; k < launch->n_segments; k++) {
        argument.segments[k] = launch->segments[k];
        if (!is_reached(launch->params, &launch->segments[k]))
            return cudaErrorIllegalAddress;
    }
    launch->n_segments = 0;
    void *arguments[] = {&argument};
    return cudaLaunchKernel(&fake, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, launch->stream);
}

cudaError_t softqam_launch_add(softqam_launch *launch, const softqam_segment *segment, float noise_value)
{
    const softqam_layer *layer = &segment->layers[0];
    cudaError_t error = cudaSuccess;
    if (segment->n_symbols == 0)
        return cudaSuccess;
    if (launch->n_segments == launch->capacity)
        error = softqam_launch_end(launch);
    launch->segments[launch->n_segments++] = (softqam_kernel_segment){
        .symbols = layer->symbols,
        .symbols_q = layer->symbols_q,
        .noise = layer->noise_var,
        .out = segment->out,
        .n_symbols = segment->n_symbols,
        .symbol_stride = segment->symbol_stride,
        .noise_stride = layer->noise_var ? segment->noise_stride : 0,
        .input_scale = segment->input_scale,
        .steps_per_nat = softqam_params_llr_scale(launch->params, segment).steps_per_nat,
        .noise_value = noise_value,
        .noise_is_inverse = segment->noise_form == SOFTQAM_NOISE_FORM_INVERSE,
    };
    return error;
}
