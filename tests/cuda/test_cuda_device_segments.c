/* SPDX-License-Identifier: MIT */
/* Segments in device memory: the tests of llr/test_llr_segments.c once more, as device_ways.c calls the library. Here
 * are kernels that follow each other, graphs whose demodulator is gone, and descriptors that are refused. */
#include <string.h>

#include "device_fixture.h"
#include "llr_fixture.h"

enum { STREAM_CHAIN = 60, N_SYMBOLS = 20000, N_ROUNDS = 40 };
static const size_t chain_nbytes = 2 * N_SYMBOLS * sizeof(float);

/* QPSK has as many LLRs as components, so the output of one call is the input of the next. Every other round by the
 * kernel of segments. */
static softqam_segment round_of_chain(unsigned k, float *const memory[2], const float *noise)
{
    return (softqam_segment){.n_symbols = N_SYMBOLS,
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

/* New symbols, and what the CPU makes of them. */
static void fill_chain(harness_random *random, const softqam_demodulator *cpu, float *const memory[2],
                       float *const expected[2], const float *noise)
{
    harness_fill_mixture(random, N_SYMBOLS, expected[0]);
    memcpy(memory[0], expected[0], chain_nbytes);
    memset(memory[1], DEVICE_CANARY, chain_nbytes);
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
    float *memory[2], *expected[2], *noise = llr_calls.alloc(sizeof *noise);
    for (size_t k = 0; k < 2; k++) {
        memory[k] = llr_calls.alloc(chain_nbytes);
        expected[k] = harness_alloc(chain_nbytes);
    }
    *noise = 0.5f;
    harness_random random = harness_random_stream(STREAM_CHAIN);
    const cudaStream_t stream = device_open_stream();
    cudaGraphExec_t graph = NULL;
    for (int replay = 0; replay < 4; replay++) {
        fill_chain(&random, cpu, memory, expected, noise);
        if (graph)
            CUDA(cudaGraphLaunch(graph, stream));
        else
            enqueue_chain(cuda, memory, noise, stream);
        CUDA(cudaStreamSynchronize(stream));
        assert_memory_equal(memory[N_ROUNDS % 2], expected[N_ROUNDS % 2], chain_nbytes);
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
        llr_calls.release(memory[k]);
        harness_free(&expected[k]);
    }
    llr_calls.release(noise);
}

HARNESS_TEST(test_misuse)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
    scoped_demodulator *cuda = harness_create(&setup);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    scoped_demodulator *cpu = harness_create(&setup);
    uint8_t *memory = llr_calls.alloc(2 * sizeof(softqam_segment));
    const softqam_segment *segments = (const softqam_segment *)(void *)memory;
    const softqam_segment *odd = (const softqam_segment *)(void *)(memory + 4);
    const unsigned *n = (const unsigned *)(void *)(memory + sizeof(softqam_segment));
    const struct {
        softqam_status status;
        const softqam_demodulator *demodulator;
        const softqam_segment *segments;
        const unsigned *n_segments;
        unsigned max_segments;
        size_t max_symbols;
    } rows[] = {
        {SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, NULL, n, 1, 1},
        {SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, segments, NULL, 1, 1},
        {SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, odd, n, 1, 1},
        {SOFTQAM_ERROR_INVALID_ARGUMENT, NULL, segments, n, 1, 1},
        {SOFTQAM_ERROR_BACKEND_UNAVAILABLE, cpu, segments, n, 1, 1},
        {SOFTQAM_OK, cuda, segments, n, 0, 1},
        {SOFTQAM_OK, cuda, segments, n, 1, 0},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        assert_int_equal(softqam_cuda_demodulate_device_segments(rows[k].demodulator, rows[k].segments,
                                                                 rows[k].n_segments, rows[k].max_segments,
                                                                 rows[k].max_symbols, 0),
                         rows[k].status);
        assert_true(rows[k].status == SOFTQAM_OK || strlen(softqam_error_message()) > 0);
    }
    CUDA(cudaDeviceSynchronize());
    llr_calls.release(memory);
}
