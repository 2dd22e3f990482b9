/* SPDX-License-Identifier: MIT */
/* A receiver with symbols on the GPU and a CUDA runtime of its own beside the one inside the library. Without a GPU it
 * only links. */
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <softqam/softqam_cuda.h>

static int demodulate_on_device(const softqam_demodulator *demodulator)
{
    const float symbol[2] = {2, -2};
    const unsigned char expected[8] = {255, 0, 0, 0, 0, 0, 0, 0};
    unsigned char soft_bits[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    void *d_symbol, *d_soft_bits;
    cudaStream_t stream;
    if (cudaMalloc(&d_symbol, sizeof symbol) != cudaSuccess || cudaMalloc(&d_soft_bits, 8) != cudaSuccess ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return 1;
    cudaMemcpyAsync(d_symbol, symbol, sizeof symbol, cudaMemcpyHostToDevice, stream);
    const softqam_status status = softqam_cuda_demodulate(demodulator, d_symbol, NULL, 1, d_soft_bits, stream);
    cudaMemcpyAsync(soft_bits, d_soft_bits, sizeof soft_bits, cudaMemcpyDeviceToHost, stream);
    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(d_soft_bits);
    cudaFree(d_symbol);
    return status == SOFTQAM_OK && error == cudaSuccess && memcmp(soft_bits, expected, sizeof expected) == 0 ? 0 : 1;
}

int main(void)
{
    softqam_context_config context_config;
    softqam_context_config_init(&context_config);
    context_config.backend = SOFTQAM_BACKEND_CUDA;
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_U8;
    const softqam_status found = softqam_context_create(&config.context, &context_config);
    if (found == SOFTQAM_ERROR_BACKEND_UNAVAILABLE)
        return puts("no GPU") < 0;
    softqam_demodulator *demodulator;
    if (found != SOFTQAM_OK || softqam_demodulator_create(&demodulator, &config) != SOFTQAM_OK) {
        fprintf(stderr, "%s\n", softqam_error_message());
        return 1;
    }
    const int is_wrong = demodulate_on_device(demodulator);
    printf("demodulated on %s\n", softqam_backend_detail(demodulator));
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(config.context);
    return is_wrong;
}
