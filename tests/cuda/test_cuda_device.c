/* SPDX-License-Identifier: MIT */
/* Calls for device memory, but for their bytes, which the programs of ../llr compare once more with device_ways.c:
 * streams, kernels that follow each other, graphs whose demodulator is gone, 2^32 bytes and more. And calls for host
 * memory that the caller has pinned or had from CUDA. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_fixture.h"

/* Symbols, and the soft bits that the CPU makes of them; a demodulator on the GPU. */
typedef struct sample {
    size_t n;
    softqam_demodulator *cuda;
    float *symbols; /* both in memory that the device reaches */
    uint8_t *out;
    uint8_t *expected;
} sample;

static sample open_sample(size_t n)
{
    harness_random random = harness_random_named(__func__);
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_SYMBOL);
    sample self = {.n = n,
                   .cuda = harness_create(&setup),
                   .symbols = device_alloc(n * 2 * sizeof(float)),
                   .out = device_alloc(n * HARNESS_SYMBOL_BITS),
                   .expected = harness_alloc(n * HARNESS_SYMBOL_BITS)};
    harness_fill_mixture(&random, n, self.symbols);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    scoped_demodulator *cpu = harness_create(&setup);
    harness_demodulate(cpu, self.symbols, NULL, n, self.expected);
    harness_poison(self.out, self.expected, n * HARNESS_SYMBOL_BITS);
    return self;
}

static void close_sample(sample *self)
{
    softqam_demodulator_destroy(self->cuda);
    device_free(self->symbols);
    device_free(self->out);
    free(self->expected);
}

static void enqueue(const sample *self, cudaStream_t stream)
{
    if (softqam_cuda_demodulate(self->cuda, self->symbols, NULL, self->n, self->out, stream) != SOFTQAM_OK)
        fail_msg("softqam_cuda_demodulate: %s", softqam_error_message());
}

static void check(const sample *self, const char *what, const uint8_t *out)
{
    assert_true(harness_outputs_equal(what, SOFTQAM_OUTPUT_U8, self->symbols, self->expected, out, self->n));
}

/* Holds up a stream until told to go on, or for two seconds at most. */
typedef struct gate {
    atomic_bool is_open, timed_out;
} gate;

static void CUDART_CB wait_at_gate(void *argument)
{
    gate *self = argument;
    const struct timespec millisecond = {.tv_nsec = 1000000};
    int n_waits = 0;
    while (!atomic_load(&self->is_open) && n_waits++ < 2000)
        nanosleep(&millisecond, NULL);
    atomic_store(&self->timed_out, !atomic_load(&self->is_open));
}

/* Enqueues segments for a kernel of each kind: of plain calls, of segments, of large codewords, of soft buffers that
 * are aligned and of others, of repetition, of joint demapping, of descriptors. */
static void enqueue_all_kinds(const softqam_demodulator *demodulator, uint8_t *in, uint8_t *out, cudaStream_t stream)
{
    enum { N = 4800, LARGE = 1000000, BITS = 8 };
    const float *values = (const float *)(const void *)in;
    softqam_segment plain = harness_segment(in, values, 1, N, out);
    softqam_segment descrambled = plain, large, aligned, odd, repeated, pair;
    descrambled.descramble = 1;
    large = descrambled;
    large.n_symbols = LARGE;
    aligned = descrambled;
    aligned.out = NULL;
    aligned.codeword = (softqam_codeword){
        .n_bits = N * BITS, .n_code_blocks = 4, .buffers = out, .deinterleave = 1, .n_cb = N * BITS / 4, .combine = 1};
    odd = aligned;
    odd.codeword.n_cb++;
    repeated = aligned;
    repeated.codeword.n_cb = N;
    pair = descrambled;
    pair.n_symbols = N / 2;
    pair.n_layers = 2;
    pair.symbol_stride = pair.noise_stride = 2;
    for (size_t k = 0; k < 2; k++)
        pair.layers[k] = (softqam_layer){.symbols = in + 8 * k, .noise_var = values + k, .gain = values + k};
    pair.cross_gain[0] = values;
    const softqam_segment all[] = {plain, descrambled, large, aligned, odd, repeated, pair};
    const size_t n = HARNESS_COUNT(all);
    uint8_t *list = out + LARGE * BITS;
    for (size_t k = 0; k < n; k++)
        if (softqam_cuda_demodulate_segments(demodulator, &all[k], 1, stream) != SOFTQAM_OK)
            fail_msg("kind %zu: %s", k, softqam_error_message());
    /* There is no segment; the list is read when the gate has opened. */
    assert_int_equal(softqam_cuda_demodulate_device_segments(demodulator, (softqam_segment *)(void *)list,
                                                             (unsigned *)(void *)list, 1, N, stream),
                     SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_prepared_segments(demodulator, (void *)list, (void *)list, 1, N, stream),
                     SOFTQAM_OK);
}

/* On a stream that the gate holds up, once kernels are prepared: a call with each kernel returns and has waited for
 * nothing, and its work is done when the demodulator is gone. Destroying it may wait for the device, and so for the
 * gate, which then opens by itself. */
HARNESS_TEST(test_held_stream)
{
    enum { IN_NBYTES = 8 << 20, OUT_NBYTES = (8 << 20) + 4096 };
    gate held = {0};
    const cudaStream_t stream = device_open_stream();
    SCOPED(close_sample) sample self = open_sample(100003);
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    scoped_demodulator *llrs = harness_create(&setup);
    uint8_t *in = device_alloc(IN_NBYTES), *out = device_alloc(OUT_NBYTES);
    memset(in, 0, IN_NBYTES);
    memset(out, 0, OUT_NBYTES);
    const softqam_demodulator *const prepared[] = {self.cuda, llrs};
    for (size_t k = 0; k < HARNESS_COUNT(prepared); k++)
        assert_int_equal(softqam_context_prepare(softqam_demodulator_context(prepared[k]), SOFTQAM_PREPARE_KERNELS),
                         SOFTQAM_OK);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaLaunchHostFunc(stream, wait_at_gate, &held));
    enqueue(&self, stream);
    enqueue_all_kinds(llrs, in, out, stream);
    assert_true(harness_is_under_compute_sanitizer() || !atomic_load(&held.timed_out));
    softqam_demodulator_destroy(self.cuda);
    self.cuda = NULL;
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    check(&self, "on a held stream, the demodulator destroyed", self.out);
    device_free(in);
    device_free(out);
}

enum { N_CHAIN = 20000, N_ROUNDS = 40, CHAIN_NBYTES = N_CHAIN * 2 * sizeof(float) };

/* QPSK has as many LLRs as components, so the output of one call is the input of the next. Every other round takes the
 * kernel of segments. */
static softqam_segment round_of_chain(unsigned k, float *const memory[2], const float *noise)
{
    return (softqam_segment){.n_symbols = N_CHAIN,
                             .modulation = SOFTQAM_MODULATION_QPSK,
                             .descramble = k % 2,
                             .c_init = k % 2 * k,
                             .input_scale = 0.25f,
                             .layers = {{.symbols = memory[k % 2], .noise_var = noise}},
                             .out = memory[(k + 1) % 2]};
}

static void enqueue_chain(const softqam_demodulator *demodulator, float *const memory[2], const float *noise,
                          cudaStream_t stream)
{
    for (unsigned k = 0; k < N_ROUNDS; k++) {
        softqam_segment segment = round_of_chain(k, memory, noise);
        assert_int_equal(softqam_cuda_demodulate_segments(demodulator, &segment, 1, stream), SOFTQAM_OK);
        memset(&segment, 0xff, sizeof segment);
    }
}

/* Makes new symbols, and what the CPU makes of them. */
static void fill_chain(harness_random *random, const softqam_demodulator *cpu, float *const memory[2],
                       float *const expected[2], const float *noise)
{
    harness_fill_mixture(random, N_CHAIN, expected[0]);
    memcpy(memory[0], expected[0], CHAIN_NBYTES);
    memset(memory[1], DEVICE_CANARY, CHAIN_NBYTES);
    for (unsigned k = 0; k < N_ROUNDS; k++) {
        const softqam_segment segment = round_of_chain(k, expected, noise);
        harness_demodulate_segments(cpu, &segment, 1);
    }
}

/* Kernels that follow each other in a stream begin before the one before them has ended, but see what it wrote: called,
 * then captured once and replayed on new symbols, when the demodulator and the segments are gone. */
HARNESS_TEST(test_chain)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_CALL);
    softqam_demodulator *cuda = harness_create(&setup);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    scoped_demodulator *cpu = harness_create(&setup);
    float *memory[2] = {device_alloc(CHAIN_NBYTES), device_alloc(CHAIN_NBYTES)}, *noise = device_alloc(sizeof *noise);
    float *expected[2] = {harness_alloc(CHAIN_NBYTES), harness_alloc(CHAIN_NBYTES)};
    *noise = 0.5f;
    harness_random random = harness_random_named(__func__);
    const cudaStream_t stream = device_open_stream();
    cudaGraphExec_t graph = NULL;
    for (int replay = 0; replay < 4; replay++) {
        fill_chain(&random, cpu, memory, expected, noise);
        if (graph)
            CUDA(cudaGraphLaunch(graph, stream));
        else
            enqueue_chain(cuda, memory, noise, stream);
        CUDA(cudaStreamSynchronize(stream));
        assert_memory_equal(memory[N_ROUNDS % 2], expected[N_ROUNDS % 2], CHAIN_NBYTES);
        if (!graph) {
            size_t n_nodes = 0;
            device_begin_capture(cuda, stream);
            enqueue_chain(cuda, memory, noise, stream);
            graph = device_end_capture(stream, &n_nodes);
            assert_int_equal(n_nodes, N_ROUNDS);
            softqam_demodulator_destroy(cuda);
        }
    }
    CUDA(cudaGraphExecDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    for (size_t k = 0; k < 2; k++) {
        device_free(memory[k]);
        free(expected[k]);
    }
    device_free(noise);
}

/* Makes the host-to-host call, in one piece and in chunks. */
static void check_host_call(const sample *self, const char *what, float *in, uint8_t *out)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.chunk_symbols = self->n / 3;
    scoped_demodulator *chunked = harness_create(&setup);
    const softqam_demodulator *const demodulators[] = {self->cuda, chunked};
    CUDA(cudaDeviceSynchronize());
    memcpy(in, self->symbols, self->n * 2 * sizeof(float));
    for (size_t k = 0; k < HARNESS_COUNT(demodulators); k++) {
        harness_poison(out, self->expected, self->n * HARNESS_SYMBOL_BITS);
        harness_demodulate(demodulators[k], in, NULL, self->n, out);
        check(self, what, out);
    }
}

/* Host memory of CUDA's, and memory that the caller has pinned: input, output or both, whole or in part. */
HARNESS_TEST(test_host_calls)
{
    enum { N = 8192, NBYTES = N * HARNESS_SYMBOL_BITS };
    _Static_assert(HARNESS_SYMBOL_BITS == 2 * sizeof(float), "as many bytes in as out");
    SCOPED(close_sample) sample self = open_sample(N), other = open_sample(N);
    harness_buffer buffers[2]; /* in and out */
    check_host_call(&self, "managed memory", other.symbols, other.out);
    for (size_t k = 0; k < 2; k++) {
        harness_buffer_open(&buffers[k], NBYTES);
        harness_buffer_place_at_start(&buffers[k], NBYTES, 0);
    }
    for (size_t kind = 0; kind < 8; kind++) {
        for (size_t k = 0; k < 2; k++)
            if (kind >> k & 1)
                CUDA(cudaHostRegister(buffers[k].data, NBYTES >> (kind >> 2), cudaHostRegisterDefault));
        check_host_call(&self, "registered memory", (float *)(void *)buffers[0].data, buffers[1].data);
        for (size_t k = 0; k < 2; k++)
            if (kind >> k & 1)
                CUDA(cudaHostUnregister(buffers[k].data));
    }
    for (size_t k = 0; k < 2; k++) {
        harness_buffer_check(&buffers[k]);
        harness_buffer_close(&buffers[k]);
    }
}

/* More bytes than 32 bits count, on the way in and out: a pattern over and over, made by doubling what is there. */
HARNESS_TEST(test_more_than_4_gib)
{
    enum { N = 1 << 20, NBYTES = N * HARNESS_SYMBOL_BITS };
    const size_t n = ((size_t)1 << 29) + 3, all = n * HARNESS_SYMBOL_BITS;
    size_t n_free, n_total;
    CUDA(cudaMemGetInfo(&n_free, &n_total));
    if (n_free < 17 * n || harness_is_under_compute_sanitizer()) {
        print_message("needs 9 GB of free device memory, and no compute-sanitizer\n");
        skip();
    }
    SCOPED(close_sample) sample self = open_sample(N);
    uint8_t *d_symbols, *d_out;
    scoped_memory uint8_t *got = harness_alloc(NBYTES);
    CUDA(cudaMalloc((void **)&d_symbols, all));
    CUDA(cudaMalloc((void **)&d_out, all));
    CUDA(cudaMemcpy(d_symbols, self.symbols, NBYTES, cudaMemcpyDefault));
    for (size_t done = NBYTES; done < all; done *= 2)
        CUDA(cudaMemcpy(d_symbols + done, d_symbols, all - done < done ? all - done : done, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemset(d_out, DEVICE_CANARY, all));
    CUDA(cudaDeviceSynchronize());
    assert_int_equal(softqam_cuda_demodulate(self.cuda, d_symbols, NULL, n, d_out, 0), SOFTQAM_OK);
    for (size_t offset = 0; offset < all; offset += NBYTES) {
        const size_t nbytes = all - offset < NBYTES ? all - offset : NBYTES;
        CUDA(cudaMemcpy(got, d_out + offset, nbytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, self.expected, nbytes);
    }
    CUDA(cudaFree(d_out));
    CUDA(cudaFree(d_symbols));
}
