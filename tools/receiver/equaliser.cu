/* SPDX-License-Identifier: MIT */
/* An example to copy: an MMSE equaliser's kernel of four layers that ends in softqam's device functions, so that no
 * symbol goes through memory. The program checks its soft buffers against those of an equaliser that writes symbols and
 * of softqam_cuda_demodulate_segments() behind it, and prints the time of both ways. 64QAM and 256QAM, new data and a
 * retransmission, one user with four layers and two users with two layers each. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <softqam/softqam_device.cuh>

enum {
    LAYERS = 4,
    ELEMENTS = 273 * 12 * 14,
    N_CB = 66 * 384,
    FIRST_FILLER = 20 * 384 - 240,
    N_FILLERS = 240,
    ROUNDS = 100
};

#define CHECK(call) check((call) == cudaSuccess, #call)
static void check(bool good, const char *what)
{
    if (good)
        return;
    std::fprintf(stderr, "%s failed: %s\n", what, softqam_error_message());
    std::exit(1);
}

/* A resource element as the equaliser has it: its filter of 4 x 4 and the received samples. In a receiver the filter
 * comes from channel estimates. */
struct element {
    float2 filter[LAYERS][LAYERS];
    float2 received[LAYERS];
    float noise[LAYERS]; /* 1 / N0 after the filter */
};

static __device__ float2 equalised(const element &at, int layer)
{
    float2 sum = {0, 0};
    for (int k = 0; k < LAYERS; k++) {
        const float2 w = at.filter[layer][k], y = at.received[k];
        sum.x = __fmaf_rn(w.x, y.x, __fmaf_rn(-w.y, y.y, sum.x));
        sum.y = __fmaf_rn(w.x, y.y, __fmaf_rn(w.y, y.x, sum.y));
    }
    return sum;
}

/* Equalises, for the way without device functions. */
static __global__ void equalise(const element *elements, float2 *symbols, float *noise)
{
    const unsigned e = blockIdx.x * blockDim.x + threadIdx.x;
    for (int layer = 0; e < ELEMENTS && layer < LAYERS; layer++) {
        symbols[e * LAYERS + layer] = equalised(elements[e], layer);
        noise[e * LAYERS + layer] = elements[e].noise[layer];
    }
}

/* A user's layers, from the first one on, to his soft buffers. Each thread has a resource element, so that a warp's
 * symbols of a codeword follow each other. */
template <int N, softqam_modulation MODULATION>
static __device__ void demap_layers(const softqam_device_codeword &codeword,
                                    const typename softqam::demapper<SOFTQAM_OUTPUT_S8, MODULATION>::table &table,
                                    const element &at, int first_layer, unsigned e)
{
    using demapper = softqam::demapper<SOFTQAM_OUTPUT_S8, MODULATION>;
    const unsigned warp_symbol = (e & ~31u) * N, n = ELEMENTS * N;
    const uint32_t bits = softqam::warp_sequence<demapper::BITS * N>(codeword, warp_symbol);
    float2 symbols[N];
    float noise[N];
    for (int k = 0; k < N; k++) {
        symbols[k] = equalised(at, first_layer + k);
        noise[k] = at.noise[first_layer + k];
    }
    typename demapper::llrs llrs[N];
    demapper::template demap<N>(llrs, table, codeword, symbols, noise, bits);
    if (e < ELEMENTS)
        demapper::template store<N>(codeword, e * N, llrs);
    demapper::fill(codeword, warp_symbol, min(warp_symbol + 32 * N, n));
}

template <int USERS, softqam_modulation MODULATION>
static __global__ void equalise_and_demap(const element *elements,
                                          const __grid_constant__ softqam_device_codeword first_user,
                                          const __grid_constant__ softqam_device_codeword second_user)
{
    using demapper = softqam::demapper<SOFTQAM_OUTPUT_S8, MODULATION>;
    __shared__ typename demapper::table table;
    const unsigned e = blockIdx.x * blockDim.x + threadIdx.x;
    demapper::load_table(table, threadIdx.x, blockDim.x);
    __syncthreads();
    const element &at = elements[min(e, ELEMENTS - 1u)];
    demap_layers<LAYERS / USERS, MODULATION>(first_user, table, at, 0, e);
    if (USERS == 2)
        demap_layers<LAYERS / USERS, MODULATION>(second_user, table, at, LAYERS / USERS, e);
}

/* Returns a segment of a user's codeword of the slot. */
static softqam_segment segment_of(int user, int n_users, softqam_modulation modulation, bool combines, void *buffers)
{
    softqam_segment segment = {};
    const unsigned n_layers = LAYERS / n_users;
    segment.n_symbols = size_t{ELEMENTS} * n_layers;
    segment.n_layers = n_layers;
    segment.modulation = modulation;
    segment.noise_form = SOFTQAM_NOISE_FORM_INVERSE;
    segment.descramble = 1;
    segment.c_init = 12345 + user;
    segment.codeword.n_bits = segment.n_symbols * softqam_bits_per_symbol(modulation);
    segment.codeword.n_code_blocks = static_cast<uint32_t>(segment.codeword.n_bits / 11000);
    segment.codeword.buffers = buffers;
    segment.codeword.block_stride = segment.codeword.n_cb = N_CB;
    segment.codeword.deinterleave = 1;
    segment.codeword.first_filler = FIRST_FILLER;
    segment.codeword.n_fillers = N_FILLERS;
    segment.codeword.filler_value = 127;
    segment.codeword.combine = combines;
    segment.codeword.k0 = combines ? 33 * 384 : 0;
    return segment;
}

/* Both ways' memory, and how they are launched. */
struct receiver {
    softqam_demodulator *demodulator;
    cudaStream_t stream;
    element *elements;
    float2 *symbols;
    float *noise;
    unsigned char *buffers[2][2]; /* of the call, of device functions; by user */
    size_t nbytes;                /* of a user's buffers */

    void open();
    template <int USERS, softqam_modulation MODULATION> void enqueue(bool by_device_functions, bool combines);
    template <int USERS, softqam_modulation MODULATION> float time(bool by_device_functions, bool combines);
    template <int USERS, softqam_modulation MODULATION> void compare(const char *name);
};

void receiver::open()
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    softqam_demodulator_config settings = {};
    check(softqam_context_create(&settings.context, &config) == SOFTQAM_OK, "softqam_context_create");
    check(softqam_demodulator_create(&demodulator, &settings) == SOFTQAM_OK, "softqam_demodulator_create");
    check(softqam_context_prepare(settings.context, SOFTQAM_PREPARE_KERNELS) == SOFTQAM_OK, "softqam_context_prepare");
    nbytes = size_t{ELEMENTS} * LAYERS * 8 / 11000 * N_CB;
    std::vector<element> host(ELEMENTS);
    for (element &at : host) {
        float *values = &at.filter[0][0].x;
        for (size_t k = 0; k < sizeof at / sizeof(float); k++)
            values[k] = static_cast<float>(std::rand() / (RAND_MAX + 1.0) - 0.5);
        for (float &noise : at.noise)
            noise = static_cast<float>(1 + 200.0 * std::rand() / RAND_MAX);
    }
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&elements, host.size() * sizeof(element)));
    CHECK(cudaMalloc(&symbols, ELEMENTS * LAYERS * sizeof(float2)));
    CHECK(cudaMalloc(&noise, ELEMENTS * LAYERS * sizeof(float)));
    CHECK(cudaMemcpy(elements, host.data(), host.size() * sizeof(element), cudaMemcpyHostToDevice));
    for (auto &of_way : buffers)
        for (unsigned char *&of_user : of_way) {
            CHECK(cudaMalloc(&of_user, nbytes));
            CHECK(cudaMemset(of_user, 1, nbytes));
        }
}

template <int USERS, softqam_modulation MODULATION> void receiver::enqueue(bool by_device_functions, bool combines)
{
    const unsigned threads = 128, blocks = (ELEMENTS + threads - 1) / threads;
    softqam_segment segments[USERS];
    for (int user = 0; user < USERS; user++)
        segments[user] = segment_of(user, USERS, MODULATION, combines, buffers[by_device_functions][user]);
    if (by_device_functions) {
        softqam_device_codeword codewords[2] = {};
        for (int user = 0; user < USERS; user++)
            check(softqam_device_codeword_init(&codewords[user], demodulator, &segments[user]) == SOFTQAM_OK,
                  "softqam_device_codeword_init");
        equalise_and_demap<USERS, MODULATION><<<blocks, threads, 0, stream>>>(elements, codewords[0], codewords[1]);
        return;
    }
    equalise<<<blocks, threads, 0, stream>>>(elements, symbols, noise);
    for (int user = 0; user < USERS; user++) {
        segments[user].symbol_stride = segments[user].noise_stride = LAYERS;
        for (int k = 0; k < LAYERS / USERS; k++) {
            segments[user].layers[k].symbols = symbols + user * LAYERS / USERS + k;
            segments[user].layers[k].noise_var = noise + user * LAYERS / USERS + k;
        }
    }
    check(softqam_cuda_demodulate_segments(demodulator, segments, USERS, stream) == SOFTQAM_OK,
          "softqam_cuda_demodulate_segments");
}

/* Returns microseconds a slot, in a graph. */
template <int USERS, softqam_modulation MODULATION> float receiver::time(bool by_device_functions, bool combines)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t begin, end;
    float milliseconds = 0;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < ROUNDS; k++)
        enqueue<USERS, MODULATION>(by_device_functions, combines);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 3; k++) {
        CHECK(cudaEventRecord(begin, stream));
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return 1000 * milliseconds / ROUNDS;
}

template <int USERS, softqam_modulation MODULATION> void receiver::compare(const char *name)
{
    for (int combines = 0; combines < 2; combines++) {
        std::vector<unsigned char> of_way[2];
        for (int user = 0; user < USERS; user++)
            for (int way = 0; way < 2; way++) {
                if (user == 0)
                    enqueue<USERS, MODULATION>(way, combines);
                of_way[way].resize(nbytes);
                CHECK(cudaStreamSynchronize(stream));
                CHECK(cudaMemcpy(of_way[way].data(), buffers[way][user], nbytes, cudaMemcpyDeviceToHost));
                check(way == 0 || of_way[0] == of_way[1], "comparing soft buffers");
            }
        std::printf("%s, %s: equaliser, then the call %.2f us, device functions %.2f us\n", name,
                    combines ? "retransmission" : "new data",
                    static_cast<double>(time<USERS, MODULATION>(false, combines)),
                    static_cast<double>(time<USERS, MODULATION>(true, combines)));
        for (auto &buffers_of_way : buffers) /* the measured calls added */
            for (unsigned char *of_user : buffers_of_way)
                CHECK(cudaMemset(of_user, 1, nbytes));
    }
}

int main()
{
    receiver self = {};
    self.open();
    self.compare<1, SOFTQAM_MODULATION_64QAM>("64QAM, 4 layers");
    self.compare<1, SOFTQAM_MODULATION_256QAM>("256QAM, 4 layers");
    self.compare<2, SOFTQAM_MODULATION_64QAM>("64QAM, two users of 2 layers");
    self.compare<2, SOFTQAM_MODULATION_256QAM>("256QAM, two users of 2 layers");
    return 0;
}
