/* SPDX-License-Identifier: MIT */
/* The device functions of softqam_device.cuh against calls, byte for byte: random codewords of every format and
 * modulation, in kernels of random shape whose threads have one symbol, or two or four of a resource element, in a
 * random order, with descriptions as arguments and in memory. Needs a GPU.
 *
 *     test_device_functions [SEED | mismatch] */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <softqam/softqam_device.cuh>

static void check(bool good, const char *what)
{
    if (good)
        return;
    std::printf("%s failed: %s; %s\n", what, cudaGetErrorString(cudaGetLastError()), softqam_error_message());
    std::exit(1);
}

#define CUDA(call)    check((call) == cudaSuccess, #call)
#define SOFTQAM(call) check((call) == SOFTQAM_OK, #call)

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return static_cast<uint32_t>((random_state >> 33) % n);
}

/* A thread has one symbol, or one with its gain; two as halves, or demapped jointly; one beside a partner of
 * 16QAM; four. */
enum kind { ONE, ONE_WITH_GAIN, TWO_HALVES, PAIR, BESIDE, FOUR, N_KINDS };

static __host__ __device__ constexpr int symbols_of(kind k)
{
    return k == FOUR ? 4 : k == TWO_HALVES || k == PAIR ? 2 : 1;
}

/* A codeword's symbols in device memory. A partner of BESIDE is the symbol after n. */
struct inputs {
    float2 *symbols;
    float *noise;
    float *gains;
    float2 *cross_gains; /* PAIR: by symbol of a pair's first layer; BESIDE: by symbol */
    uint32_t *sequence;
    unsigned char *in_order;        /* receives LLRs in symbol order */
    softqam_statistics *statistics; /* receive counts */
    uint32_t n;
    uint32_t stride; /* threads take groups of symbols in this stride, coprime with their number */
};

template <kind KIND, typename Demapper>
static __device__ void demap_kind(typename Demapper::llrs (&llrs)[symbols_of(KIND)],
                                  const typename Demapper::table &table, const softqam_device_codeword &codeword,
                                  const inputs &from, uint32_t symbol, softqam::statistics &counts)
{
    constexpr int N = symbols_of(KIND);
    const softqam::counted bits = {softqam::memory_sequence<Demapper::BITS * N>(from.sequence, symbol * Demapper::BITS),
                                   symbol, counts};
    if constexpr (KIND == ONE || KIND == FOUR || KIND == TWO_HALVES) {
        std::conditional_t<KIND == TWO_HALVES, __half2, float2> symbols[N];
        float noise[N];
        for (int k = 0; k < N; k++) {
            if constexpr (KIND == TWO_HALVES)
                symbols[k] = __float22half2_rn(from.symbols[symbol + k]);
            else
                symbols[k] = from.symbols[symbol + k];
            noise[k] = from.noise[symbol + k];
        }
        if constexpr (KIND == TWO_HALVES)
            Demapper::demap(llrs, table, codeword, symbols, noise, bits.sequence);
        else
            Demapper::demap(llrs, table, codeword, symbols, noise, bits);
    } else if constexpr (KIND == ONE_WITH_GAIN) {
        const float2 symbols[1] = {from.symbols[symbol]};
        const softqam::noise_and_gain noise[1] = {{from.noise[symbol], from.gains[symbol]}};
        Demapper::demap(llrs, table, codeword, symbols, noise, bits);
    } else {
        const uint32_t other = KIND == PAIR ? symbol + 1 : from.n + symbol;
        const softqam::joint_layer layers[2] = {{from.symbols[symbol], from.noise[symbol], from.gains[symbol]},
                                                {from.symbols[other], from.noise[other], from.gains[other]}};
        if constexpr (KIND == PAIR)
            Demapper::demap_pair(llrs, codeword, layers, from.cross_gains[symbol], bits);
        else
            Demapper::template demap_beside<SOFTQAM_MODULATION_16QAM>(llrs[0], codeword, layers[0], layers[1],
                                                                      from.cross_gains[symbol], bits);
    }
}

template <typename Demapper, kind KIND>
static __global__ void demap(const __grid_constant__ softqam_device_codeword given,
                             const softqam_device_codeword *in_memory, const inputs from)
{
    constexpr int N = symbols_of(KIND);
    __shared__ typename Demapper::table table;
    __shared__ softqam_device_codeword copy;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, n_threads = blockDim.x * blockDim.y;
    const uint64_t group = static_cast<uint64_t>(blockIdx.x) * n_threads + thread;
    const uint32_t symbol = static_cast<uint32_t>(group * from.stride % (from.n / N)) * N;
    Demapper::load_table(table, thread, n_threads);
    if (in_memory)
        softqam::copy_codeword(copy, *in_memory, thread, n_threads);
    __syncthreads();
    if (group >= from.n / N)
        return;
    const softqam_device_codeword &codeword = in_memory ? copy : given;
    typename Demapper::llrs llrs[N];
    softqam::statistics counts;
    demap_kind<KIND, Demapper>(llrs, table, codeword, from, symbol, counts);
    counts.flush(from.statistics);
    for (int k = 0; k < N; k++)
        Demapper::store_symbol(from.in_order + size_t{symbol + k} * Demapper::BITS * Demapper::VALUE_NBYTES, llrs[k]);
    if (symbol % 2 == 0) {
        Demapper::store(codeword, symbol, llrs);
        return;
    }
    typename Demapper::template target<N> target;
    target.open(codeword, symbol);
    target.prefetch(codeword);
    target.load(codeword);
    target.store(codeword, llrs);
}

/* A warp has the zeros and fillers of `each` symbols. From there on the sequence is the one in memory, and symbols have
 * places one after the other. */
template <typename Demapper>
static __global__ void fill(const __grid_constant__ softqam_device_codeword codeword, const inputs of, uint32_t each,
                            unsigned *n_wrong)
{
    const uint32_t symbol = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * each;
    Demapper::fill(codeword, symbol, symbol + each);
    const uint32_t own = symbol + threadIdx.x % 32, bits = softqam::warp_sequence<Demapper::BITS>(codeword, symbol);
    if (own >= of.n)
        return;
    const uint32_t expected = softqam::memory_sequence<Demapper::BITS>(of.sequence, own * Demapper::BITS);
    const softqam::place at = softqam::place_of(codeword, own), next = softqam::place_of(codeword, own + 1);
    const bool is_last = at.symbol + 1 == at.n_symbols;
    if (((bits ^ expected) & ((1u << Demapper::BITS) - 1)) != 0 || next.symbol != (is_last ? 0 : at.symbol + 1) ||
        (next.code_block == at.code_block) == is_last)
        atomicAdd(n_wrong, 1);
}

/* Device memory that goes with the object. */
template <typename Item> struct device_array {
    Item *at;
    size_t n;

    explicit device_array(size_t count) : n(count) { CUDA(cudaMalloc(&at, n * sizeof(Item))); }
    explicit device_array(const std::vector<Item> &from) : device_array(from.size())
    {
        CUDA(cudaMemcpy(at, from.data(), n * sizeof(Item), cudaMemcpyHostToDevice));
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() { cudaFree(at); }

    std::vector<Item> copied() const
    {
        std::vector<Item> to(n);
        CUDA(cudaMemcpy(to.data(), at, n * sizeof(Item), cudaMemcpyDeviceToHost));
        return to;
    }
};

/* A number that is a half, seldom an unusual one. */
static float random_component()
{
    static const float unusual[] = {NAN, INFINITY, -INFINITY, 60000, 0.0f, -0.0f, 0x1p-24f};
    return random_below(100) == 0 ? unusual[random_below(7)] : (static_cast<float>(random_below(2049)) - 1024) / 512;
}

/* A noise value or a gain; subnormal only if the layers are demapped alone, since flags may have subnormals flushed. */
static float random_positive(bool is_joint)
{
    static const float unusual[] = {NAN, INFINITY, -1, 0, 1e-12f, 1e12f, 1e-45f};
    return random_below(50) == 0 ? unusual[random_below(is_joint ? 6 : 7)]
                                 : 0.001f * static_cast<float>(1 + random_below(3000));
}

/* Chooses the code blocks and soft buffers of a codeword of n_elements; returns the values that a
 * buffer occupies. */
static uint32_t choose_buffers(softqam_codeword *codeword, uint32_t n_elements, uint32_t element_bits)
{
    const uint32_t even = random_below(2) ? 4 : 1; /* aligned to four values, or not */
    codeword->n_bits = uint64_t{n_elements} * element_bits;
    codeword->n_code_blocks = 1 + random_below(5);
    codeword->deinterleave = 1;
    uint32_t longest = (n_elements / codeword->n_code_blocks + 1) * element_bits;
    if (random_below(3) == 0) {
        codeword->n_cbg = 1 + random_below(codeword->n_code_blocks);
        codeword->cbgti = 1 + random_below((1u << codeword->n_cbg) - 1);
        longest = n_elements * element_bits;
    }
    codeword->n_fillers = random_below(20) * even;
    codeword->n_cb = (longest + codeword->n_fillers + random_below(500)) / 4 * 4 + 4 + (even == 1);
    if (codeword->n_fillers > 0)
        codeword->first_filler = random_below((codeword->n_cb - codeword->n_fillers) / even) * even;
    codeword->k0 = random_below(codeword->n_cb / even) * even;
    codeword->filler_value = 11;
    codeword->n_fill = random_below(2) ? random_below(codeword->n_cb / even + 20) * even : 0;
    const uint32_t n_values = codeword->n_fill > codeword->n_cb ? codeword->n_fill : codeword->n_cb;
    codeword->block_stride = random_below(4) ? n_values + random_below(3) * even : 0; /* 0: without gaps */
    return codeword->block_stride ? static_cast<uint32_t>(codeword->block_stride) : n_values;
}

template <typename Demapper> struct trial {
    enum { BITS = Demapper::BITS, VALUE = Demapper::VALUE_NBYTES };

    const softqam_demodulator *demodulator;
    softqam_segment segment = {};
    inputs of = {};
    unsigned n_wrong = 0;

    /* Runs the kernels of softqam_device.cuh. */
    template <kind KIND> void run(const softqam_device_codeword &codeword)
    {
        const device_array<softqam_device_codeword> in_memory(std::vector<softqam_device_codeword>{codeword});
        const device_array<unsigned> wrong(std::vector<unsigned>{0});
        const uint32_t n_groups = of.n / symbols_of(KIND), each = 32 + random_below(300);
        const dim3 threads(1 + random_below(100), 1 + random_below(5));
        of.stride = 10007; /* a prime that is larger than the number of groups */
        demap<Demapper, KIND><<<n_groups / (threads.x * threads.y) + 1, threads>>>(
            codeword, random_below(2) ? in_memory.at : nullptr, of);
        fill<Demapper><<<of.n / each / 3 + 1, 96>>>(codeword, of, each, wrong.at);
        CUDA(cudaDeviceSynchronize());
        n_wrong += wrong.copied()[0];
    }

    void run(kind which, const softqam_device_codeword &codeword)
    {
        if constexpr (BITS <= 8 && VALUE <= 2)
            if (which == FOUR)
                return run<FOUR>(codeword);
        if constexpr (BITS > 1)
            if (which == PAIR || which == BESIDE)
                return which == PAIR ? run<PAIR>(codeword) : run<BESIDE>(codeword);
        if (which == TWO_HALVES)
            return run<TWO_HALVES>(codeword);
        return which == ONE_WITH_GAIN ? run<ONE_WITH_GAIN>(codeword) : run<ONE>(codeword);
    }

    /* Describes where the segment's symbols lie. */
    void set_layers(kind which, uint32_t n_layers)
    {
        segment.n_symbols = of.n;
        segment.n_layers = n_layers;
        segment.symbol_stride = segment.noise_stride = n_layers;
        segment.partner_modulation = which == BESIDE ? SOFTQAM_MODULATION_16QAM : SOFTQAM_MODULATION_DEFAULT;
        if (which == PAIR || which == BESIDE)
            segment.cross_stride = n_layers;
        for (uint32_t k = 0; k < n_layers + (which == BESIDE); k++) {
            const size_t first = k < n_layers ? k : of.n;
            segment.layers[k].symbols = of.symbols + first;
            segment.layers[k].noise_var = of.noise + first;
            segment.layers[k].gain =
                which == ONE_WITH_GAIN || which == PAIR || which == BESIDE ? of.gains + first : nullptr;
            if ((which == PAIR || which == BESIDE) && k % 2 == 0)
                segment.cross_gain[k / 2] = &of.cross_gains[first].x;
        }
    }

    /* Returns the LLRs in symbol order, by a call. */
    std::vector<unsigned char> in_order() const
    {
        const device_array<unsigned char> to(size_t{of.n} * BITS * VALUE);
        softqam_segment ordered = segment;
        ordered.codeword = {};
        ordered.out = to.at;
        SOFTQAM(softqam_cuda_demodulate_segments(demodulator, &ordered, 1, nullptr));
        return to.copied();
    }

    /* Runs one way into soft buffers; `offsets`, in bytes, are empty if block_stride says where code blocks begin. */
    void run(kind which, bool by_functions, unsigned char *buffers, std::vector<uint64_t> offsets)
    {
        for (uint64_t &offset : offsets)
            offset = offset % 2 ? 0 : offset / 2 + reinterpret_cast<uint64_t>(buffers); /* odd: discarded */
        const device_array<uint64_t> addresses(offsets);
        segment.codeword.buffers = offsets.empty() ? buffers : nullptr;
        segment.codeword.block_buffers = offsets.empty() ? nullptr : reinterpret_cast<void *const *>(addresses.at);
        softqam_device_codeword codeword;
        segment.statistics = nullptr;
        SOFTQAM(softqam_device_codeword_init(&codeword, demodulator, &segment));
        segment.statistics = which == TWO_HALVES ? nullptr : of.statistics + 1; /* these kernels count nothing */
        if (by_functions)
            run(which, codeword);
        else
            SOFTQAM(softqam_cuda_demodulate_segments(demodulator, &segment, 1, nullptr));
        segment.statistics = nullptr;
        CUDA(cudaDeviceSynchronize());
    }

    /* Compares new data and a retransmission. */
    void compare(kind which)
    {
        softqam_codeword &codeword = segment.codeword;
        const uint32_t n_values = choose_buffers(&codeword, of.n / segment.n_layers, segment.n_layers * BITS);
        std::vector<uint64_t> offsets(random_below(4) == 0 ? codeword.n_code_blocks : 0);
        for (size_t k = 0; k < offsets.size(); k++)
            offsets[k] = 2 * k * n_values * VALUE + (random_below(4) == 0);
        if (!offsets.empty())
            codeword.block_stride = 0;
        const std::vector<unsigned char> before(size_t{n_values} * codeword.n_code_blocks * VALUE, 3);
        const device_array<unsigned char> by_call(before), by_functions(before),
            made_in_order(size_t{of.n} * BITS * VALUE);
        const device_array<softqam_statistics> statistics(std::vector<softqam_statistics>(2));
        of.in_order = made_in_order.at;
        of.statistics = statistics.at;
        for (codeword.combine = 0; codeword.combine < 2; codeword.combine++) {
            run(which, false, by_call.at, offsets);
            run(which, true, by_functions.at, offsets);
            check(by_call.copied() == by_functions.copied(), "comparing soft buffers");
            check(in_order() == made_in_order.copied(), "comparing LLRs in symbol order");
            check(n_wrong == 0, "comparing the sequence and places");
            const std::vector<softqam_statistics> counted = statistics.copied();
            check(std::memcmp(&counted[0], &counted[1], sizeof counted[0]) == 0, "comparing statistics");
            check(which == TWO_HALVES || !offsets.empty() || counted[0].n_symbols > 0, "counting");
            codeword.k0 = random_below(codeword.n_cb / 4) * 4;
            codeword.n_fill = 0;
        }
    }

    void go(kind which)
    {
        if (BITS == 1 && (which == PAIR || which == BESIDE))
            return;
        const uint32_t n_layers = which == FOUR     ? 4
                                  : which == BESIDE ? 1
                                                    : symbols_of(which) * (1 + random_below(4 / symbols_of(which)));
        const uint32_t n = (100 + random_below(900)) * n_layers;
        std::vector<float2> symbols(2 * n), cross(n);
        std::vector<float> noise(2 * n), gains(2 * n);
        std::vector<uint32_t> sequence(n * BITS / 32 + 40);
        for (uint32_t k = 0; k < 2 * n; k++) {
            symbols[k] = {random_component(), random_component()};
            noise[k] = random_positive(which == PAIR || which == BESIDE);
            gains[k] = random_positive(which == PAIR || which == BESIDE);
            cross[k / 2] = {random_component(), random_component()};
        }
        segment.modulation = BITS == 1 ? SOFTQAM_MODULATION_BPSK
                                       : static_cast<softqam_modulation>(SOFTQAM_MODULATION_QPSK + BITS / 2 - 1);
        segment.descramble = random_below(4) != 0;
        if (segment.descramble) {
            segment.c_init = random_below(1u << 31);
            segment.scrambling_offset = random_below(2) * 17 * n_layers;
            SOFTQAM(softqam_gold_sequence(segment.c_init, segment.scrambling_offset * BITS, (n * BITS + 31) / 32 * 32,
                                          sequence.data()));
        }
        const device_array<float2> d_symbols(symbols), d_cross(cross);
        const device_array<float> d_noise(noise), d_gains(gains);
        const device_array<uint32_t> d_sequence(sequence);
        of = {d_symbols.at, d_noise.at, d_gains.at, d_cross.at, d_sequence.at, nullptr, nullptr, n, 1};
        set_layers(which, n_layers);
        compare(which);
    }
};

template <softqam_output_format FORMAT, softqam_modulation MODULATION> static void check_some(softqam_context *context)
{
    enum { TRIALS = 4 };
    for (int k = 0; k < TRIALS * N_KINDS; k++) {
        softqam_demodulator_config config = {};
        config.context = context;
        config.output_format = FORMAT;
        config.sign = random_below(2) ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
        config.noise_form = random_below(2) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
        config.noise_floor = random_below(2) ? 0.01f : 0.0f;
        config.llr_limit = FORMAT != SOFTQAM_OUTPUT_F32 && random_below(2) ? 20 : 0;
        softqam_demodulator *demodulator;
        SOFTQAM(softqam_demodulator_create(&demodulator, &config));
        trial<softqam::demapper<FORMAT, MODULATION>> one{demodulator};
        one.go(static_cast<kind>(k % N_KINDS));
        softqam_demodulator_destroy(demodulator);
    }
}

template <softqam_output_format FORMAT> static void check_format(softqam_context *context)
{
    check_some<FORMAT, SOFTQAM_MODULATION_BPSK>(context);
    check_some<FORMAT, SOFTQAM_MODULATION_QPSK>(context);
    check_some<FORMAT, SOFTQAM_MODULATION_16QAM>(context);
    check_some<FORMAT, SOFTQAM_MODULATION_64QAM>(context);
    check_some<FORMAT, SOFTQAM_MODULATION_256QAM>(context);
    check_some<FORMAT, SOFTQAM_MODULATION_1024QAM>(context);
}

/* A kernel with another format than its description's must not write what nobody expects. */
static void check_mismatch(softqam_context *context)
{
    using demapper = softqam::demapper<SOFTQAM_OUTPUT_F16, SOFTQAM_MODULATION_QPSK>;
    softqam_demodulator_config config = {};
    softqam_demodulator *demodulator;
    softqam_device_codeword codeword;
    softqam_segment segment = {};
    config.context = context;
    config.output_format = SOFTQAM_OUTPUT_S16;
    segment.modulation = SOFTQAM_MODULATION_QPSK;
    choose_buffers(&segment.codeword, 100, 2);
    const device_array<unsigned char> buffers(size_t{1} << 20);
    segment.codeword.buffers = buffers.at;
    SOFTQAM(softqam_demodulator_create(&demodulator, &config));
    SOFTQAM(softqam_device_codeword_init(&codeword, demodulator, &segment));
    fill<demapper><<<1, 32>>>(codeword, {}, 100, nullptr);
    check(cudaDeviceSynchronize() == cudaErrorLaunchFailure, "refusing another format");
    std::_Exit(0); /* the device's context is of no more use */
}

int main(int argc, char **argv)
{
    softqam_context *context;
    softqam_context_config config;
    const bool is_mismatch = argc > 1 && std::strcmp(argv[1], "mismatch") == 0;
    random_state = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
    std::printf("seed %llu\n", static_cast<unsigned long long>(random_state));
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    SOFTQAM(softqam_context_create(&context, &config));
    if (is_mismatch)
        check_mismatch(context);
    check_format<SOFTQAM_OUTPUT_S8>(context);
    check_format<SOFTQAM_OUTPUT_S16>(context);
    check_format<SOFTQAM_OUTPUT_F16>(context);
    check_format<SOFTQAM_OUTPUT_F32>(context);
    softqam_context_destroy(context);
    return 0;
}
