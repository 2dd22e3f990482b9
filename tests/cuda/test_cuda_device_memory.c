/* SPDX-License-Identifier: MIT */
/* Kinds of memory: mapped, pinned by the caller, managed, and more than 32 bits count. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

HARNESS_TEST(test_mapped_host_memory)
{
    const size_t n = 30011;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, n);
    uint8_t *in, *out;
    void *d_in, *d_out;
    CUDA(cudaHostAlloc((void **)&in, n * 8, cudaHostAllocMapped));
    CUDA(cudaHostAlloc((void **)&out, n * HARNESS_SYMBOL_BITS, cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&d_in, in, 0));
    CUDA(cudaHostGetDevicePointer(&d_out, out, 0));
    memcpy(in, self.part.symbols, n * 8);
    harness_poison(out, self.part.expected, n * HARNESS_SYMBOL_BITS);
    device_enqueue(self.demodulator, d_in, NULL, n, d_out, self.stream);
    CUDA(cudaStreamSynchronize(self.stream));
    assert_true(harness_soft_bits_equal("mapped host memory", self.part.values, self.part.expected, out, n));
    CUDA(cudaFreeHost(out));
    CUDA(cudaFreeHost(in));
}

/* The host-to-host call on memory that the caller has pinned or had from CUDA, whole or in part. */
static void check_host_call(device_fixture *self, const char *what, uint8_t *in, uint8_t *out, size_t n)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.chunk_symbols = n / 3;
    scoped_demodulator *ring = harness_create(&setup);
    memcpy(in, self->part.symbols, n * 8);
    harness_poison(out, self->part.expected, n * HARNESS_SYMBOL_BITS);
    harness_demodulate(self->demodulator, in, n, out);
    assert_true(harness_soft_bits_equal(what, self->part.values, self->part.expected, out, n));
    harness_poison(out, self->part.expected, n * HARNESS_SYMBOL_BITS);
    harness_demodulate(ring, in, n, out);
    assert_true(harness_soft_bits_equal(what, self->part.values, self->part.expected, out, n));
}

HARNESS_TEST(test_host_call_on_pinned_memory)
{
    const size_t n = 8192, nbytes = n * 8;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, n);
    harness_buffer in, out;
    harness_buffer_open(&in, nbytes);
    harness_buffer_open(&out, nbytes);
    harness_buffer_place_at_start(&in, nbytes, 0);
    harness_buffer_place_at_start(&out, nbytes, 0);
    static const size_t halves[] = {1, 2};
    for (size_t i = 0; i < HARNESS_COUNT(halves); i++) {
        CUDA(cudaHostRegister(in.data, nbytes / halves[i], cudaHostRegisterDefault));
        check_host_call(&self, "input registered", in.data, out.data, n);
        CUDA(cudaHostRegister(out.data, nbytes / halves[i], cudaHostRegisterDefault));
        check_host_call(&self, "both registered", in.data, out.data, n);
        CUDA(cudaHostUnregister(in.data));
        check_host_call(&self, "output registered", in.data, out.data, n);
        CUDA(cudaHostUnregister(out.data));
    }
    harness_buffer_check(&in);
    harness_buffer_check(&out);
    harness_buffer_close(&out);
    harness_buffer_close(&in);
}

HARNESS_TEST(test_host_call_on_memory_of_cuda)
{
    const size_t n = 8192;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, n);
    uint8_t *in, *out, *plain = harness_alloc(n * HARNESS_SYMBOL_BITS);
    CUDA(cudaMallocManaged((void **)&in, n * 8, cudaMemAttachGlobal));
    CUDA(cudaMallocManaged((void **)&out, n * HARNESS_SYMBOL_BITS, cudaMemAttachGlobal));
    check_host_call(&self, "managed memory", in, out, n);
    /* Device memory is for the other call; the host cannot read it. */
    device_prepare_output(&self.output, 0, self.part.expected, n);
    assert_int_equal(softqam_demodulate(self.demodulator, self.d_symbols, NULL, n, plain),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate(self.demodulator, in, NULL, n, self.output.d_out),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    device_check_call(&self, "after misuse", n, 0, 0, self.stream);
    CUDA(cudaFree(out));
    CUDA(cudaFree(in));
    free(plain);
}

/* Fills n_symbols of device memory with a pattern over and over, by doubling what is there. */
static void fill_with_pattern(uint8_t *d_symbols, size_t n_symbols, const uint8_t *pattern, size_t n_pattern)
{
    const size_t symbol_nbytes = 2 * sizeof(float);
    CUDA(cudaMemcpy(d_symbols, pattern, n_pattern * symbol_nbytes, cudaMemcpyHostToDevice));
    for (size_t n = n_pattern; n < n_symbols; n *= 2) {
        size_t n_copied = n_symbols - n < n ? n_symbols - n : n;
        CUDA(cudaMemcpy(d_symbols + n * symbol_nbytes, d_symbols, n_copied * symbol_nbytes, cudaMemcpyDeviceToDevice));
    }
}

/* More bytes than 32 bits count, on the way in and out. */
HARNESS_TEST(test_more_than_4_gib)
{
    const size_t n = ((size_t)1 << 29) + 3, n_pattern = DEVICE_SAMPLES;
    size_t n_free, n_total;
    CUDA(cudaMemGetInfo(&n_free, &n_total));
    if (n_free < 17 * n || harness_is_under_compute_sanitizer()) {
        print_message("needs 9 GB of free device memory, and no compute-sanitizer\n");
        skip();
    }
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, n_pattern);
    uint8_t *d_symbols, *d_out, *got = harness_alloc(n_pattern * HARNESS_SYMBOL_BITS);
    CUDA(cudaMalloc((void **)&d_symbols, n * 8));
    CUDA(cudaMalloc((void **)&d_out, n * HARNESS_SYMBOL_BITS));
    fill_with_pattern(d_symbols, n, self.part.symbols, n_pattern);
    CUDA(cudaMemset(d_out, DEVICE_CANARY, n * HARNESS_SYMBOL_BITS));
    CUDA(cudaDeviceSynchronize());
    device_enqueue(self.demodulator, d_symbols, NULL, n, d_out, self.stream);
    CUDA(cudaStreamSynchronize(self.stream));
    for (size_t first = 0; first < n; first += n_pattern) {
        size_t n_chunk = n - first < n_pattern ? n - first : n_pattern;
        CUDA(cudaMemcpy(got, d_out + first * HARNESS_SYMBOL_BITS, n_chunk * HARNESS_SYMBOL_BITS,
                        cudaMemcpyDeviceToHost));
        assert_true(harness_soft_bits_equal("4 GiB", self.part.values, self.part.expected, got, n_chunk));
    }
    CUDA(cudaFree(d_out));
    CUDA(cudaFree(d_symbols));
    free(got);
}
