/* SPDX-License-Identifier: MIT */
/* kernels.cu for the fake runtime: the portable loop, enqueued like a kernel. */
#include "block.h"
#include "cpu_variant.h"
#include "fake_cuda.h"
#include "float_environment.h"
#include "kernels.h"

cudaError_t softqam_kernel_check(const softqam_plan *plan)
{
    (void)plan;
    int device = 0;
    int n = 0;
    const cudaError_t error = cudaGetDevice(&device);
    return error == cudaSuccess ? cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) : error;
}

size_t softqam_kernel_input_alignment(const softqam_plan *plan, const softqam_block *block)
{
    return block->symbols_q ? plan->input_nbytes / 2 : plan->input_nbytes;
}

size_t softqam_kernel_output_alignment(const softqam_plan *plan)
{
    return plan->output_nbytes < 16 ? plan->output_nbytes : 16;
}

/* A block and what a kernel would have in its arguments. */
typedef struct kernel {
    softqam_plan plan;
    softqam_block block;
    float noise_var;
} kernel;

static void demodulate_piece(const softqam_plan *plan, const softqam_block *piece)
{
    if (softqam_block_is_contiguous(piece) && piece->noise_stride <= 1) {
        softqam_cpu_loop_portable(plan, piece->symbols, piece->noise_var, piece->noise_stride, piece->n_symbols,
                                  piece->out);
        return;
    }
    softqam_cursor cursor = softqam_cursor_at(plan, piece, 1, 0);
    for (size_t done = 0; done < piece->n_symbols; done++) {
        unsigned char symbol[8];
        const softqam_block one = softqam_cursor_take(&cursor, 1);
        softqam_block_gather_symbols(plan, &one, symbol);
        softqam_cpu_loop_portable(plan, symbol, one.noise_var, 0, 1, one.out);
    }
}

static void run_kernel(void *context)
{
    kernel *self = context;
    const softqam_float_environment environment = softqam_float_enter();
    if (!self->block.noise_var) {
        self->block.noise_var = &self->noise_var;
        self->block.noise_stride = 0;
    }
    softqam_cursor cursor = softqam_cursor_at(&self->plan, &self->block, 1, 0);
    const softqam_block whole = softqam_cursor_take(&cursor, self->block.n_symbols);
    demodulate_piece(&self->plan, &whole);
    softqam_float_leave(environment);
}

/* Only whole blocks side by side are checked: what the pipeline passes. */
static bool is_reached(const softqam_plan *plan, const softqam_block *block)
{
    const size_t n = block->n_symbols;
    if (block->symbols_q || block->symbol_stride > 1)
        return true;
    return fake_cuda_reaches(block->symbols, n * plan->input_nbytes) &&
           fake_cuda_reaches(block->out, n * plan->output_nbytes) &&
           (!block->noise_var || fake_cuda_reaches(block->noise_var, (block->noise_stride ? n : 1) * sizeof(float)));
}

cudaError_t softqam_kernel_launch(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks,
                                  float noise_var, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t k = 0; k < n_blocks && error == cudaSuccess; k++) {
        if (blocks[k].n_symbols == 0)
            continue;
        if (!is_reached(plan, &blocks[k]))
            return cudaErrorIllegalAddress;
        static const fake_kernel fake = {run_kernel, sizeof(kernel)};
        kernel argument = {*plan, blocks[k], noise_var};
        void *arguments[] = {&argument};
        error = cudaLaunchKernel(&fake, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, stream);
    }
    return error;
}
