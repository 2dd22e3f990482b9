/* SPDX-License-Identifier: MIT */
/* A receiver with symbols on the GPU and a CUDA runtime of its own beside the one inside the library. Without a GPU it
 * only links. */
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <softqam/softqam_cuda.h>

/* Returns whether the soft bits of one symbol are right. */
static int demodulates(const softqam_demodulator *demodulator)
{
    const float symbol[2] = {2, -2};
    const unsigned char expected[8] = {255, 0, 0, 0, 0, 0, 0, 0};
    unsigned char soft_bits[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    void *d_symbol, *d_soft_bits;
    const int is_good = !cudaMalloc(&d_symbol, sizeof symbol) && !cudaMalloc(&d_soft_bits, 8) &&
                        !cudaMemcpy(d_symbol, symbol, sizeof symbol, cudaMemcpyHostToDevice) &&
                        softqam_cuda_demodulate(demodulator, d_symbol, NULL, 1, d_soft_bits, 0) == SOFTQAM_OK &&
                        !cudaMemcpy(soft_bits, d_soft_bits, sizeof soft_bits, cudaMemcpyDeviceToHost);
    cudaFree(d_soft_bits);
    cudaFree(d_symbol);
    return is_good && memcmp(soft_bits, expected, sizeof expected) == 0;
}

int main(void)
{
    softqam_context_config context_config;
    softqam_context_config_init(&context_config);
    context_config.backend = SOFTQAM_BACKEND_CUDA;
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_U8;
    if (softqam_context_create(&config.context, &context_config) == SOFTQAM_ERROR_BACKEND_UNAVAILABLE)
        return puts("no GPU") < 0;
    softqam_demodulator *demodulator;
    const int is_good =
        softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK && config.context && demodulates(demodulator);
    printf("%s: %s\n", softqam_backend_detail(demodulator), softqam_error_message());
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(config.context);
    return !is_good;
}
