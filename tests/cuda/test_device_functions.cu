/* SPDX-License-Identifier: MIT */
/* The device functions of softqam_device.cuh against calls, byte for byte: random codewords of every format and
 * modulation, in kernels of random shape whose threads have one symbol, or two or four of a resource element, in a
 * random order. Needs a GPU. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <softqam/softqam_device.cuh>

static void check(bool good, const char *what)
{
    if (good)
        return;
    std::printf("%s failed: %s\n", what, softqam_error_message());
    std::exit(1);
}

#define CUDA(call) check((call) == cudaSuccess, #call)

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return static_cast<uint32_t>((state >> 33) % n);
}

struct symbols_of_codeword {
    const float2 *symbols;
    const float *noise;
    const uint32_t *sequence;
    uint32_t n;
    uint32_t stride; /* of the order in which threads take groups of symbols; coprime with their number */
};

/* A thread has a group of N symbols. */
template <softqam_output_format FORMAT, softqam_modulation MODULATION, int N>
static __global__ void demap(const __grid_constant__ softqam_device_codeword codeword, const symbols_of_codeword of)
{
    using demapper = softqam::demapper<FORMAT, MODULATION>;
    __shared__ typename demapper::table table;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, n_threads = blockDim.x * blockDim.y;
    const uint64_t group = static_cast<uint64_t>(blockIdx.x) * n_threads + thread;
    const uint32_t symbol = static_cast<uint32_t>(group * of.stride % (of.n / N)) * N;
    demapper::load_table(table, thread, n_threads);
    __syncthreads();
    if (group >= of.n / N)
        return;
    float2 symbols[N];
    float noise[N];
    for (int n = 0; n < N; n++) {
        symbols[n] = of.symbols[symbol + n];
        noise[n] = of.noise[symbol + n];
    }
    typename demapper::llrs llrs[N];
    demapper::template demap<N>(llrs, table, codeword, symbols, noise,
                                softqam::memory_sequence<demapper::BITS * N>(of.sequence, symbol * demapper::BITS));
    demapper::template prefetch<N>(codeword, symbol);
    demapper::template store<N>(codeword, symbol, llrs);
}

/* A warp has the zeros and fillers of `each` symbols; and the sequence from there on is the one in memory. */
template <softqam_output_format FORMAT, softqam_modulation MODULATION>
static __global__ void fill(const __grid_constant__ softqam_device_codeword codeword, const symbols_of_codeword of,
                            uint32_t each, unsigned *n_wrong)
{
    using demapper = softqam::demapper<FORMAT, MODULATION>;
    const uint32_t symbol = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * each;
    demapper::fill(codeword, symbol, symbol + each);
    const uint32_t own = symbol + threadIdx.x % 32, bits = softqam::warp_sequence<demapper::BITS>(codeword, symbol);
    const uint32_t expected = softqam::memory_sequence<demapper::BITS>(of.sequence, own * demapper::BITS);
    if (own < of.n && ((bits ^ expected) & ((1u << demapper::BITS) - 1)) != 0)
        atomicAdd(n_wrong, 1);
}

/* Managed memory. */
template <typename Item> static Item *allocate(size_t n)
{
    void *memory;
    CUDA(cudaMallocManaged(&memory, n * sizeof(Item)));
    return static_cast<Item *>(memory);
}

template <softqam_output_format FORMAT, softqam_modulation MODULATION> struct trial {
    using demapper = softqam::demapper<FORMAT, MODULATION>;
    enum { BITS = demapper::BITS, VALUE = demapper::VALUE_NBYTES };

    softqam_segment segment;
    symbols_of_codeword of;
    size_t nbytes;
    unsigned char *buffers[2];

    void open()
    {
        const uint32_t n_layers = 1 + random_below(4), n_elements = 100 + random_below(900);
        float2 *symbols = allocate<float2>(n_elements * n_layers);
        float *noise = allocate<float>(n_elements * n_layers);
        segment = {};
        of = {symbols, noise, allocate<uint32_t>(n_elements * n_layers * BITS / 32 + 40), n_elements * n_layers, 1};
        for (uint32_t n = 0; n < of.n; n++) {
            symbols[n] = {(random_below(2001) - 1000.0f) / 800, (random_below(2001) - 1000.0f) / 800};
            noise[n] = random_below(50) == 0 ? 0.0f : 0.001f * (1 + random_below(500));
        }
        segment.n_symbols = of.n;
        segment.n_layers = n_layers;
        segment.symbol_stride = segment.noise_stride = n_layers;
        for (uint32_t k = 0; k < n_layers; k++) {
            segment.layers[k].symbols = symbols + k;
            segment.layers[k].noise_var = noise + k;
        }
        segment.modulation = MODULATION;
        segment.descramble = 1;
        segment.c_init = random_below(1u << 31);
        check(softqam_gold_sequence(segment.c_init, 0, (of.n * BITS + 31) / 32 * 32,
                                    const_cast<uint32_t *>(of.sequence)) == SOFTQAM_OK,
              "softqam_gold_sequence");
        softqam_codeword &codeword = segment.codeword;
        codeword.n_bits = static_cast<uint64_t>(of.n) * BITS;
        codeword.n_code_blocks = 1 + random_below(5);
        codeword.deinterleave = 1;
        const uint32_t even = random_below(2) ? 4 : 1; /* aligned to four values, or not */
        const uint32_t longest = (n_elements / codeword.n_code_blocks + 1) * n_layers * BITS;
        codeword.n_fillers = random_below(20) * even;
        codeword.n_cb = (longest + codeword.n_fillers + random_below(500)) / 4 * 4 + 4 * even;
        if (codeword.n_fillers > 0)
            codeword.first_filler = random_below((codeword.n_cb - codeword.n_fillers) / even) * even;
        codeword.filler_value = 11;
        codeword.k0 = random_below(codeword.n_cb / 4) * even;
        codeword.block_stride = codeword.n_cb + random_below(3) * even;
        nbytes = codeword.block_stride * codeword.n_code_blocks * VALUE;
        for (unsigned char *&of_way : buffers) {
            of_way = allocate<unsigned char>(nbytes);
            for (size_t k = 0; k < nbytes; k++)
                of_way[k] = static_cast<unsigned char>(k % 7);
        }
    }

    template <int N> void run(const softqam_device_codeword &codeword, unsigned *n_wrong)
    {
        const uint32_t n_groups = of.n / N, each = 32 + random_below(300);
        of.stride = 10007; /* a prime that is larger than the number of groups */
        const dim3 threads(1 + random_below(100), 1 + random_below(5));
        demap<FORMAT, MODULATION, N><<<n_groups / (threads.x * threads.y) + 1, threads>>>(codeword, of);
        fill<FORMAT, MODULATION><<<of.n / each / 3 + 1, 96>>>(codeword, of, each, n_wrong);
    }

    void compare(const softqam_demodulator *demodulator, unsigned *n_wrong)
    {
        for (int round = 0; round < 2; round++) {
            softqam_device_codeword codeword;
            segment.codeword.combine = round;
            segment.codeword.buffers = buffers[1];
            check(softqam_device_codeword_init(&codeword, demodulator, &segment) == SOFTQAM_OK, "description");
            segment.codeword.buffers = buffers[0];
            check(softqam_cuda_demodulate_segments(demodulator, &segment, 1, 0) == SOFTQAM_OK, "call");
            if constexpr (BITS <= 8 && VALUE <= 2)
                if (segment.n_layers == 4)
                    run<4>(codeword, n_wrong);
            if (segment.n_layers == 2)
                run<2>(codeword, n_wrong);
            if (segment.n_layers % 2 != 0 || (segment.n_layers == 4 && !(BITS <= 8 && VALUE <= 2)))
                run<1>(codeword, n_wrong);
            CUDA(cudaDeviceSynchronize());
            check(memcmp(buffers[0], buffers[1], nbytes) == 0 && *n_wrong == 0, "comparing bytes");
        }
        CUDA(cudaFree(const_cast<float2 *>(of.symbols)));
        CUDA(cudaFree(const_cast<float *>(of.noise)));
        CUDA(cudaFree(const_cast<uint32_t *>(of.sequence)));
        for (unsigned char *of_way : buffers)
            CUDA(cudaFree(of_way));
    }
};

template <softqam_output_format FORMAT, softqam_modulation MODULATION>
static void check_some(const softqam_demodulator *demodulator, unsigned *n_wrong)
{
    enum { TRIALS = 20 };
    for (int k = 0; k < TRIALS; k++) {
        trial<FORMAT, MODULATION> one;
        one.open();
        one.compare(demodulator, n_wrong);
    }
}

template <softqam_output_format FORMAT> static void check_format(softqam_context *context, unsigned *n_wrong)
{
    softqam_demodulator *demodulator;
    softqam_demodulator_config config = {};
    config.context = context;
    config.output_format = FORMAT;
    check(softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK, "softqam_demodulator_create");
    check_some<FORMAT, SOFTQAM_MODULATION_BPSK>(demodulator, n_wrong);
    check_some<FORMAT, SOFTQAM_MODULATION_QPSK>(demodulator, n_wrong);
    check_some<FORMAT, SOFTQAM_MODULATION_16QAM>(demodulator, n_wrong);
    check_some<FORMAT, SOFTQAM_MODULATION_64QAM>(demodulator, n_wrong);
    check_some<FORMAT, SOFTQAM_MODULATION_256QAM>(demodulator, n_wrong);
    check_some<FORMAT, SOFTQAM_MODULATION_1024QAM>(demodulator, n_wrong);
    softqam_demodulator_destroy(demodulator);
}

int main()
{
    softqam_context *context;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    check(softqam_context_create(&context, &config) == SOFTQAM_OK, "softqam_context_create");
    unsigned *n_wrong = allocate<unsigned>(1);
    *n_wrong = 0;
    check_format<SOFTQAM_OUTPUT_S8>(context, n_wrong);
    check_format<SOFTQAM_OUTPUT_S16>(context, n_wrong);
    check_format<SOFTQAM_OUTPUT_F16>(context, n_wrong);
    check_format<SOFTQAM_OUTPUT_F32>(context, n_wrong);
    softqam_context_destroy(context);
    std::printf("good\n");
    return 0;
}
