/* SPDX-License-Identifier: MIT */
/* Kinds of memory: mapped, pinned by the caller, managed, and more than 32 bits count. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

/* Soft bits of N symbols, of which the CPU's are expected. */
enum { N = 8192, NBYTES = N * HARNESS_SYMBOL_BITS };
_Static_assert(HARNESS_SYMBOL_BITS == 2 * sizeof(float), "as many bytes in as out");

static void open_soft_bits(device_slot *self)
{
    device_soft_bits_open(self, SOFTQAM_INPUT_CF32, N);
    harness_demodulate(self->cpu, self->symbols.host, N, self->expected.host);
}

static void prepare(const device_slot *self, uint8_t *in, uint8_t *out)
{
    memcpy(in, self->symbols.host, NBYTES);
    harness_poison(out, self->expected.host, NBYTES);
}

static void compare(const device_slot *self, const char *what, const uint8_t *out)
{
    assert_true(harness_soft_bits_equal(what, (const float *)(void *)self->symbols.host, self->expected.host, out, N));
}

HARNESS_TEST(test_mapped_host_memory)
{
    SCOPED(device_slot_close) device_slot self;
    open_soft_bits(&self);
    uint8_t *in, *out;
    void *d_in, *d_out;
    CUDA(cudaHostAlloc((void **)&in, NBYTES, cudaHostAllocMapped));
    CUDA(cudaHostAlloc((void **)&out, NBYTES, cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&d_in, in, 0));
    CUDA(cudaHostGetDevicePointer(&d_out, out, 0));
    prepare(&self, in, out);
    device_enqueue(self.cuda, d_in, NULL, N, d_out, 0);
    CUDA(cudaStreamSynchronize(0));
    compare(&self, "mapped host memory", out);
    CUDA(cudaFreeHost(out));
    CUDA(cudaFreeHost(in));
}

/* The host-to-host call on memory that the caller has pinned or had from CUDA, whole or in part. */
static void check_host_call(const device_slot *self, const char *what, uint8_t *in, uint8_t *out)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.chunk_symbols = N / 3;
    scoped_demodulator *ring = harness_create(&setup);
    const softqam_demodulator *const demodulators[] = {self->cuda, ring};
    for (size_t k = 0; k < HARNESS_COUNT(demodulators); k++) {
        prepare(self, in, out);
        harness_demodulate(demodulators[k], in, N, out);
        compare(self, what, out);
    }
}

HARNESS_TEST(test_host_call_on_pinned_memory)
{
    SCOPED(device_slot_close) device_slot self;
    open_soft_bits(&self);
    harness_buffer in, out;
    harness_buffer_open(&in, NBYTES);
    harness_buffer_open(&out, NBYTES);
    harness_buffer_place_at_start(&in, NBYTES, 0);
    harness_buffer_place_at_start(&out, NBYTES, 0);
    for (size_t parts = 1; parts <= 2; parts++) {
        CUDA(cudaHostRegister(in.data, NBYTES / parts, cudaHostRegisterDefault));
        check_host_call(&self, "input registered", in.data, out.data);
        CUDA(cudaHostRegister(out.data, NBYTES / parts, cudaHostRegisterDefault));
        check_host_call(&self, "both registered", in.data, out.data);
        CUDA(cudaHostUnregister(in.data));
        check_host_call(&self, "output registered", in.data, out.data);
        CUDA(cudaHostUnregister(out.data));
    }
    harness_buffer_check(&in);
    harness_buffer_check(&out);
    harness_buffer_close(&out);
    harness_buffer_close(&in);
}

HARNESS_TEST(test_host_call_on_memory_of_cuda)
{
    SCOPED(device_slot_close) device_slot self;
    open_soft_bits(&self);
    uint8_t *in, *out;
    CUDA(cudaMallocManaged((void **)&in, NBYTES, cudaMemAttachGlobal));
    CUDA(cudaMallocManaged((void **)&out, NBYTES, cudaMemAttachGlobal));
    check_host_call(&self, "managed memory", in, out);
    /* Device memory is for the other call; the host cannot read it. */
    assert_int_equal(softqam_demodulate(self.cuda, self.symbols.device, NULL, N, self.got),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate(self.cuda, in, NULL, N, self.expected.device), SOFTQAM_ERROR_INVALID_ARGUMENT);
    device_check_call(&self, "after misuse", N, 0, 0, 0);
    CUDA(cudaFree(out));
    CUDA(cudaFree(in));
}

/* More bytes than 32 bits count, on the way in and out: a pattern over and over, made by doubling what is there. */
HARNESS_TEST(test_more_than_4_gib)
{
    enum { N_CHUNK = 256 };
    const size_t n = ((size_t)1 << 29) + 3;
    size_t n_free, n_total;
    CUDA(cudaMemGetInfo(&n_free, &n_total));
    if (n_free < 17 * n || harness_is_under_compute_sanitizer()) {
        print_message("needs 9 GB of free device memory, and no compute-sanitizer\n");
        skip();
    }
    SCOPED(device_slot_close) device_slot self;
    open_soft_bits(&self);
    uint8_t *d_symbols, *d_out, *got = harness_alloc((size_t)N_CHUNK * NBYTES);
    CUDA(cudaMalloc((void **)&d_symbols, n * HARNESS_SYMBOL_BITS));
    CUDA(cudaMalloc((void **)&d_out, n * HARNESS_SYMBOL_BITS));
    CUDA(cudaMemcpy(d_symbols, self.symbols.host, NBYTES, cudaMemcpyHostToDevice));
    for (size_t done = NBYTES, all = n * HARNESS_SYMBOL_BITS; done < all; done *= 2)
        CUDA(cudaMemcpy(d_symbols + done, d_symbols, all - done < done ? all - done : done, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemset(d_out, DEVICE_CANARY, n * HARNESS_SYMBOL_BITS));
    CUDA(cudaDeviceSynchronize());
    device_enqueue(self.cuda, d_symbols, NULL, n, d_out, 0);
    for (size_t at = 0, left = n * HARNESS_SYMBOL_BITS; left > 0; at += NBYTES, left -= left < NBYTES ? left : NBYTES) {
        const size_t in_chunk = at % ((size_t)N_CHUNK * NBYTES);
        if (in_chunk == 0)
            CUDA(cudaMemcpy(got, d_out + at, left < (size_t)N_CHUNK * NBYTES ? left : (size_t)N_CHUNK * NBYTES,
                            cudaMemcpyDeviceToHost));
        assert_memory_equal(got + in_chunk, self.expected.host, left < NBYTES ? left : NBYTES);
    }
    CUDA(cudaFree(d_out));
    CUDA(cudaFree(d_symbols));
    free(got);
}
