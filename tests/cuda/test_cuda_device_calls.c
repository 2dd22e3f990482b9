/* SPDX-License-Identifier: MIT */
/* softqam_cuda_demodulate(): lengths, offsets, formats, streams and misuse, also of segments; 2^32 bytes and more; the
 * bytes are the CPU's. And calls for host memory that is pinned by the caller, or managed. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_fixture.h"

enum { STREAM_CALLS = 1 };

/* A slot with margins on both sides of the output, for calls without segments. */
static void open_slot(device_slot *self, harness_setup setup, size_t max_symbols)
{
    harness_random random = harness_random_stream(STREAM_CALLS);
    const size_t out_nbytes = harness_output_nbytes(setup.demodulator.output_format, max_symbols + DEVICE_MARGIN);
    device_slot_open(self, setup, max_symbols + DEVICE_MARGIN, out_nbytes + 2 * DEVICE_MARGIN, &random);
}

/* A call of n_symbols from `in_offset` symbols into the input to `out_offset` symbols behind the margin: what is
 * expected of it, as device_slot_expect(). */
static softqam_segment expect_call(device_slot *self, size_t n_symbols, size_t in_offset, size_t out_offset)
{
    const size_t first = DEVICE_MARGIN + harness_output_nbytes(self->out, out_offset);
    const float *noise =
        self->out == SOFTQAM_OUTPUT_U8 ? NULL : (const float *)(void *)self->noise.host + (in_offset + n_symbols) % 4;
    const softqam_segment segment =
        harness_segment(self->symbols.host + in_offset * softqam_input_symbol_nbytes(self->in), noise,
                        noise ? self->noise_stride : 0, n_symbols, self->expected.host + first);
    return device_slot_expect(self, &segment, first + harness_output_nbytes(self->out, n_symbols) + DEVICE_MARGIN);
}

static void enqueue_call(const device_slot *self, const softqam_segment *segment, cudaStream_t stream)
{
    const softqam_layer *layer = &segment->layers[0];
    if (softqam_cuda_demodulate(self->cuda, layer->symbols, layer->noise_var, segment->n_symbols, segment->out,
                                stream) != SOFTQAM_OK)
        fail_msg("softqam_cuda_demodulate: %s", softqam_error_message());
}

static void compare_call(device_slot *self, const char *what)
{
    const size_t at = device_slot_compare(self);
    if (at < self->n_expected)
        fail_msg("%s, %s to %s, noise stride %zu: byte %td of %zu is %d, not %d", what, harness_input_names[self->in],
                 harness_output_names[self->out], self->noise_stride, (ptrdiff_t)at - DEVICE_MARGIN, self->n_expected,
                 self->got[at], self->expected.host[at]);
}

/* All of it. */
static void check_call(device_slot *self, const char *what, size_t n_symbols, size_t in_offset, size_t out_offset,
                       cudaStream_t stream)
{
    const softqam_segment segment = expect_call(self, n_symbols, in_offset, out_offset);
    enqueue_call(self, &segment, stream);
    CUDA(cudaStreamSynchronize(stream));
    compare_call(self, what);
}

static harness_setup soft_bits_of(softqam_input_format format)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.demodulator.input_format = format;
    return setup;
}

/* Short calls at any offset, and some that blocks, tiles and devices end in. */
static void check_lengths_and_offsets(harness_setup setup)
{
    enum { MAX_SYMBOLS = (1 << 20) + 77, MAX_LLR_SYMBOLS = 99991 };
    static const size_t lengths[] = {
        255, 256, 257, 511, 512, 513, 997, 65535, 65536, 65537, MAX_LLR_SYMBOLS, 135169, MAX_SYMBOLS - 4, MAX_SYMBOLS};
    const bool are_llrs = setup.demodulator.output_format != SOFTQAM_OUTPUT_U8;
    const size_t most = are_llrs ? MAX_LLR_SYMBOLS : MAX_SYMBOLS;
    SCOPED(device_slot_close) device_slot self;
    open_slot(&self, setup, most);
    const cudaStream_t stream = device_open_stream();
    for (size_t n = 0; n <= 70; n++) {
        for (size_t in_offset = 0; in_offset < 8; in_offset += are_llrs ? 3 : 1) {
            check_call(&self, "a short call", n, in_offset, n % 4, stream);
            check_call(&self, "a short call", n, in_offset, in_offset % 4, stream);
        }
    }
    for (size_t i = 0; i < HARNESS_COUNT(lengths) && lengths[i] <= most; i++) {
        for (size_t offset = 0; offset < 4; offset++) {
            check_call(&self, "a long call", lengths[i], offset, 0, stream);
            check_call(&self, "a long call", lengths[i], 0, offset, stream);
            check_call(&self, "a long call", lengths[i], offset, offset, stream);
        }
    }
    CUDA(cudaStreamDestroy(stream));
}

HARNESS_TEST(test_soft_bits)
{
    for (int in = 0; in < HARNESS_N_INPUT_FORMATS; in++)
        check_lengths_and_offsets(soft_bits_of((softqam_input_format)in));
}

HARNESS_TEST(test_llrs)
{
    for (size_t k = 0; k < 2 * HARNESS_N_LLR_FORMATS * HARNESS_N_INPUT_FORMATS; k++) {
        harness_setup setup =
            harness_format_setup(harness_llr_formats[k / 2 % HARNESS_N_LLR_FORMATS], (softqam_noise)(k % 2));
        setup.demodulator.input_format = (softqam_input_format)(k / 2 / HARNESS_N_LLR_FORMATS);
        check_lengths_and_offsets(setup);
    }
}

HARNESS_TEST(test_default_streams)
{
    SCOPED(device_slot_close) device_slot self;
    open_slot(&self, harness_soft_bits_setup(), 10007);
    check_call(&self, "default stream", 10007, 0, 0, 0);
    check_call(&self, "legacy default stream", 10007, 1, 1, cudaStreamLegacy);
    check_call(&self, "default stream of the thread", 10007, 0, 1, cudaStreamPerThread);
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

/* On a stream that the gate holds up: the call returns and has waited for nothing, and its work is done when the
 * demodulator is gone. Destroying it may wait for the device, and so for the gate, which then opens by itself. */
HARNESS_TEST(test_held_stream)
{
    enum { N = 100003 };
    gate held = {0};
    const cudaStream_t stream = device_open_stream();
    SCOPED(device_slot_close) device_slot self;
    open_slot(&self, harness_soft_bits_setup(), N);
    const softqam_segment segment = expect_call(&self, N, 0, 0);
    CUDA(cudaLaunchHostFunc(stream, wait_at_gate, &held));
    enqueue_call(&self, &segment, stream);
    assert_true(harness_is_under_compute_sanitizer() || !atomic_load(&held.timed_out));
    softqam_demodulator_destroy(self.cuda);
    self.cuda = NULL;
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    compare_call(&self, "behind a held stream, the demodulator destroyed");
}

static void check_misuse(softqam_input_format format)
{
    enum { N = 1000 };
    SCOPED(device_slot_close) device_slot self;
    open_slot(&self, soft_bits_of(format), N);
    const softqam_segment good = expect_call(&self, N, 0, 0);
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(format);
    uint8_t *d_in = self.symbols.device, *d_out = good.out;
    const struct {
        const char *what;
        const void *d_symbols;
        const float *d_noise_var;
        size_t n_symbols;
        void *d_out;
    } rows[] = {
        {"no input", NULL, NULL, N, d_out},
        {"no output", d_in, NULL, N, NULL},
        {"a noise variance", d_in, (const float *)(void *)d_in, N, d_out},
        {"misaligned by one byte", d_in + 1, NULL, N, d_out},
        {"misaligned by a half", d_in + symbol_nbytes / 2, NULL, N, d_out},
        {"misaligned by all but one byte", d_in + symbol_nbytes - 1, NULL, N, d_out},
        {"in place", d_out, NULL, N, d_out},
        {"input begins in the output", d_out + (N - 1) * HARNESS_SYMBOL_BITS, NULL, N, d_out},
        {"input ends in the output", d_out + HARNESS_SYMBOL_BITS - N * symbol_nbytes, NULL, N, d_out},
        {"SIZE_MAX symbols", d_in, NULL, SIZE_MAX, d_out},
        {"bytes that wrap to 0", d_in, NULL, SIZE_MAX / 8 + 1, d_out},
        {"more bytes than PTRDIFF_MAX", d_in, NULL, PTRDIFF_MAX / 8 + 1, d_out},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        softqam_status status = softqam_cuda_demodulate(self.cuda, rows[k].d_symbols, rows[k].d_noise_var,
                                                        rows[k].n_symbols, rows[k].d_out, 0);
        if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
            fail_msg("%s: %s", rows[k].what, softqam_status_string(status));
        assert_true(strlen(softqam_error_message()) > 0);
    }
    /* Nothing was launched, and nothing is broken. */
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(self.got, self.expected.device, self.n_expected, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < self.n_expected; i++)
        assert_int_equal(self.got[i], DEVICE_CANARY);
    check_call(&self, "after misuse", N, 0, 0, 0);
    assert_int_equal(softqam_cuda_demodulate(self.cpu, d_in, NULL, N, d_out, 0), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_true(strlen(softqam_error_message()) > 0);
    assert_int_equal(softqam_cuda_demodulate(NULL, d_in, NULL, N, d_out, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
}

HARNESS_TEST(test_misuse)
{
    check_misuse(SOFTQAM_INPUT_CF32);
    check_misuse(SOFTQAM_INPUT_CS16);
    check_misuse(SOFTQAM_INPUT_CS8);
}

/* Beside what test_misuse has, which is checked by the same functions. */
HARNESS_TEST(test_misuse_of_segments)
{
    enum { N = 100 };
    SCOPED(device_slot_close) device_slot self;
    open_slot(&self, harness_format_setup(SOFTQAM_OUTPUT_S16, SOFTQAM_NOISE_PER_SYMBOL), 2 * N);
    const softqam_segment good = expect_call(&self, N, 0, 0);
    softqam_segment noise = good, misaligned = good, overlapping = good, buffers = good;
    noise.layers[0].noise_var = (const float *)(const void *)((const uint8_t *)good.layers[0].noise_var + 2);
    misaligned.layers[0].symbols_q = (const uint8_t *)good.layers[0].symbols + 8 * N + 2;
    overlapping.out = self.symbols.device;
    buffers.out = NULL;
    buffers.codeword =
        (softqam_codeword){.n_bits = harness_output_nbytes(SOFTQAM_OUTPUT_S16, N) / 2, .n_code_blocks = 1};
    buffers.codeword.buffers = (uint8_t *)good.out + 1;
    const softqam_segment *const wrong[] = {&noise, &misaligned, &overlapping, &buffers};
    for (size_t k = 0; k < HARNESS_COUNT(wrong); k++) {
        const softqam_segment segments[2] = {{0}, *wrong[k]};
        assert_int_equal(softqam_cuda_demodulate_segments(self.cuda, segments, 2, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_true(strlen(softqam_error_message()) > 0);
    }
    assert_int_equal(softqam_cuda_demodulate_segments(NULL, &good, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_segments(self.cpu, &good, 1, 0), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_int_equal(softqam_cuda_demodulate_segments(self.cuda, NULL, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_segments(self.cuda, NULL, 0, 0), SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_segments(self.cuda, &good, 1, 0), SOFTQAM_OK);
    CUDA(cudaDeviceSynchronize());
    compare_call(&self, "after misuse");
}

/* Calls for host memory, of N_HOST symbols, of which the CPU's soft bits are expected. */
enum { N_HOST = 8192, NBYTES = N_HOST * HARNESS_SYMBOL_BITS };
_Static_assert(HARNESS_SYMBOL_BITS == 2 * sizeof(float), "as many bytes in as out");

static void open_soft_bits(device_slot *self)
{
    open_slot(self, harness_soft_bits_setup(), N_HOST);
    harness_demodulate(self->cpu, self->symbols.host, N_HOST, self->expected.host);
}

/* The host-to-host call on memory that the caller has pinned or had from CUDA, whole or in part: in one piece, and in
 * chunks. */
static void check_host_call(const device_slot *self, const char *what, uint8_t *in, uint8_t *out)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.chunk_symbols = N_HOST / 3;
    scoped_demodulator *ring = harness_create(&setup);
    const softqam_demodulator *const demodulators[] = {self->cuda, ring};
    memcpy(in, self->symbols.host, NBYTES);
    for (size_t k = 0; k < HARNESS_COUNT(demodulators); k++) {
        harness_poison(out, self->expected.host, NBYTES);
        harness_demodulate(demodulators[k], in, N_HOST, out);
        assert_true(
            harness_soft_bits_equal(what, (const float *)(void *)self->symbols.host, self->expected.host, out, N_HOST));
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
    assert_int_equal(softqam_cuda_demodulate(self.cuda, d_symbols, NULL, n, d_out, 0), SOFTQAM_OK);
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
