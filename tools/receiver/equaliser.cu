/* SPDX-License-Identifier: MIT */
/* An example to copy: an MMSE equaliser's kernel of four layers that ends in softqam's device functions, so that no
 * symbol goes through memory. The program compares its soft buffers with those of an equaliser that writes symbols and
 * of softqam_cuda_demodulate_segments() after it. It prints the times of both, of the equaliser alone and of moving the
 * same bytes: s8 and f16, 64QAM and 256QAM, new data and a retransmission, one user with four layers and two users with
 * two layers each. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <softqam/softqam_device.cuh>

enum {
    LAYERS = 4,
    ELEMENTS = 273 * 12 * 14,
    N_CB = 66 * 384,
    FIRST_FILLER = 20 * 384 - 40,
    N_FILLERS = 40,
    BLOCK_ELEMENTS = 128, /* a thread each */
    BLOCKS = (ELEMENTS + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS,
    SLOTS = 12, /* each has its own memory, so that no slot's inputs are in the L2 cache */
    ROUNDS = 8 * SLOTS
};

#define CHECK(call) check((call) == cudaSuccess, #call)
static void check(bool good, const char *what)
{
    if (good)
        return;
    std::fprintf(stderr, "%s failed: %s; %s\n", what, cudaGetErrorString(cudaGetLastError()), softqam_error_message());
    std::exit(1);
}

/* A slot as the equaliser finds it, two complex numbers at a time. Elements come last, so that a warp's accesses lie
 * side by side. In a receiver the filters are made of channel estimates. */
struct slot {
    float4 filters[LAYERS][LAYERS / 2][ELEMENTS];
    float4 received[LAYERS / 2][ELEMENTS];
    float4 inverse_noise[ELEMENTS]; /* 1 / N0 of each layer after the filter */
};

/* The equalised symbols of a resource element. */
struct equalised {
    float2 symbols[LAYERS];
    float inverse_noise[LAYERS];
};

static __device__ __forceinline__ float2 add_product(float2 sum, float w_i, float w_q, float y_i, float y_q)
{
    return {__fmaf_rn(w_i, y_i, __fmaf_rn(-w_q, y_q, sum.x)), __fmaf_rn(w_i, y_q, __fmaf_rn(w_q, y_i, sum.y))};
}

static __device__ __forceinline__ equalised equalise(const slot &from, unsigned element)
{
    float4 w[LAYERS][LAYERS / 2], y[LAYERS / 2]; /* all loads first */
#pragma unroll
    for (int k = 0; k < LAYERS / 2; k++)
        y[k] = from.received[k][element];
#pragma unroll
    for (int k = 0; k < LAYERS * LAYERS / 2; k++)
        w[k / 2][k % 2] = from.filters[k / 2][k % 2][element];
    const float4 noise = from.inverse_noise[element];
    equalised to = {{}, {noise.x, noise.y, noise.z, noise.w}};
#pragma unroll
    for (int k = 0; k < LAYERS * LAYERS / 2; k++) {
        float2 &sum = to.symbols[k / 2];
        sum = add_product(sum, w[k / 2][k % 2].x, w[k / 2][k % 2].y, y[k % 2].x, y[k % 2].y);
        sum = add_product(sum, w[k / 2][k % 2].z, w[k / 2][k % 2].w, y[k % 2].z, y[k % 2].w);
    }
    return to;
}

/* Programmatic dependent launch: what a kernel does before this overlaps with the kernel before it. */
static __device__ __forceinline__ void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* The way without device functions. */
static __global__ void __launch_bounds__(BLOCK_ELEMENTS, 3)
    equalise_slot(const slot *from, float2 *symbols, float *inverse_noise)
{
    const unsigned element = blockIdx.x * BLOCK_ELEMENTS + threadIdx.x;
    wait_for_previous_kernel();
    if (element >= ELEMENTS)
        return;
    const equalised made = equalise(*from, element);
    float4 *to = reinterpret_cast<float4 *>(symbols + element * LAYERS);
    to[0] = make_float4(made.symbols[0].x, made.symbols[0].y, made.symbols[1].x, made.symbols[1].y);
    to[1] = make_float4(made.symbols[2].x, made.symbols[2].y, made.symbols[3].x, made.symbols[3].y);
    reinterpret_cast<float4 *>(inverse_noise)[element] =
        make_float4(made.inverse_noise[0], made.inverse_noise[1], made.inverse_noise[2], made.inverse_noise[3]);
}

/* The codewords of a slot's users. */
template <int USERS> struct users {
    softqam_device_codeword codewords[USERS];
};

/* The kernel from where a thread block has the table and the codewords. Each thread has a resource element, so that a
 * warp's symbols of a codeword follow each other. With new data a block has one more warp, which writes the zeros and
 * fillers. What needs no symbols comes before the wait. */
template <int USERS, typename Demapper>
static __device__ __forceinline__ void equalise_and_demap(const slot &from, const users<USERS> &to,
                                                          const typename Demapper::table &table)
{
    enum { N = LAYERS / USERS }; /* a user's layers */
    const unsigned first = blockIdx.x * BLOCK_ELEMENTS, element = first + threadIdx.x;
    if (threadIdx.x >= BLOCK_ELEMENTS) {
        wait_for_previous_kernel();
        for (const softqam_device_codeword &codeword : to.codewords)
            Demapper::fill(codeword, first * N, (first + BLOCK_ELEMENTS) * N);
        return;
    }
    uint32_t sequences[USERS];
    typename Demapper::template target<N> targets[USERS];
#pragma unroll
    for (int user = 0; user < USERS; user++) {
        sequences[user] = softqam::warp_sequence<Demapper::BITS * N>(to.codewords[user], element / 32 * 32 * N);
        targets[user].open(to.codewords[user], element * N);
        targets[user].prefetch(to.codewords[user]); /* a retransmission */
    }
    wait_for_previous_kernel();
#pragma unroll
    for (int user = 0; user < USERS; user++)
        targets[user].load(to.codewords[user]);
    const equalised made = equalise(from, min(element, ELEMENTS - 1));
#pragma unroll
    for (int user = 0; user < USERS; user++) {
        float2 symbols[N];
        float inverse_noise[N];
        for (int k = 0; k < N; k++) {
            symbols[k] = made.symbols[user * N + k];
            inverse_noise[k] = made.inverse_noise[user * N + k];
        }
        typename Demapper::llrs llrs[N];
        Demapper::demap(llrs, table, to.codewords[user], symbols, inverse_noise, sequences[user]);
        targets[user].store(to.codewords[user], llrs); /* elements after the last one go nowhere */
    }
}

template <int USERS, typename Demapper>
static __global__ void __launch_bounds__(BLOCK_ELEMENTS + 32, 6)
    equalise_to_codewords(const slot *from, const __grid_constant__ users<USERS> to)
{
    __shared__ typename Demapper::table table;
    Demapper::load_table(table, threadIdx.x, blockDim.x);
    __syncthreads();
    equalise_and_demap<USERS, Demapper>(*from, to, table);
}

/* The same for a graph that serves every slot, whose codewords lie in device memory. */
template <int USERS, typename Demapper>
static __global__ void __launch_bounds__(BLOCK_ELEMENTS + 32, 6)
    equalise_to_codewords_in_memory(const slot *from, const users<USERS> *to)
{
    __shared__ typename Demapper::table table;
    __shared__ users<USERS> copies;
    Demapper::load_table(table, threadIdx.x, blockDim.x);
    for (int user = 0; user < USERS; user++)
        softqam::copy_codeword(copies.codewords[user], to->codewords[user], threadIdx.x, blockDim.x);
    __syncthreads();
    equalise_and_demap<USERS, Demapper>(*from, copies, table);
}

/* Moves the bytes of the kernels above: reads a slot and writes n_out vectors, which it reads before if it adds. */
static __global__ void __launch_bounds__(BLOCK_ELEMENTS, 3)
    move(const slot *from, uint4 *out, unsigned n_out, bool adds)
{
    enum { MOST = 11 }; /* vectors that a thread reads, and writes at a time */
    static_assert(sizeof(slot) == MOST * ELEMENTS * sizeof(uint4), "all are read");
    const unsigned thread = blockIdx.x * BLOCK_ELEMENTS + threadIdx.x, n_threads = BLOCKS * BLOCK_ELEMENTS;
    wait_for_previous_kernel();
    uint4 sum = {}, vectors[MOST];
#pragma unroll
    for (int k = 0; k < MOST; k++)
        vectors[k] = reinterpret_cast<const uint4 *>(from)[k * ELEMENTS + min(thread, ELEMENTS - 1)];
#pragma unroll
    for (int k = 0; k < MOST; k++)
        sum = make_uint4(sum.x ^ vectors[k].x, sum.y ^ vectors[k].y, sum.z ^ vectors[k].z, sum.w ^ vectors[k].w);
    for (unsigned first = thread; first < n_out; first += MOST * n_threads) {
#pragma unroll
        for (unsigned k = 0; k < MOST; k++)
            vectors[k] = adds && first + k * n_threads < n_out ? out[first + k * n_threads] : uint4{};
#pragma unroll
        for (unsigned k = 0; k < MOST; k++)
            if (first + k * n_threads < n_out)
                out[first + k * n_threads] =
                    make_uint4(sum.x ^ vectors[k].x, sum.y ^ vectors[k].y, sum.z ^ vectors[k].z, sum.w ^ vectors[k].w);
    }
}

/* Launches a kernel that may overlap with the one before. */
template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), unsigned threads, cudaStream_t stream, const Arguments &...arguments)
{
    cudaLaunchAttribute overlaps = {};
    overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlaps.val.programmaticStreamSerializationAllowed = 1;
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &overlaps;
    config.numAttrs = attributes.ptxVersion >= 90 ? 1 : 0; /* older code has no wait */
    CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

enum way { EQUALISER_ALONE, THEN_CALL, DEVICE_FUNCTIONS, CODEWORDS_IN_MEMORY, MOVING_BYTES, N_WAYS };

/* The memory of all slots. */
struct receiver {
    softqam_context *context;
    cudaStream_t stream;
    slot *slots;
    float2 *symbols;
    float *inverse_noise;
    unsigned char *buffers; /* buffers of all slots, one user's after the other's */
    users<2> *in_memory;    /* by slot */

    void open()
    {
        softqam_context_config config;
        softqam_context_config_init(&config);
        config.backend = SOFTQAM_BACKEND_CUDA;
        check(softqam_context_create(&context, &config) == SOFTQAM_OK, "softqam_context_create");
        std::vector<float> host(sizeof(slot) / sizeof(float));
        for (float &value : host)
            value = static_cast<float>(std::rand() / (RAND_MAX + 1.0) - 0.5);
        for (size_t k = offsetof(slot, inverse_noise) / sizeof(float); k < host.size(); k++)
            host[k] = 100.5f + 200 * host[k];
        CHECK(cudaStreamCreate(&stream));
        CHECK(cudaMalloc(&slots, SLOTS * sizeof(slot)));
        CHECK(cudaMalloc(&symbols, ELEMENTS * LAYERS * sizeof(float2)));
        CHECK(cudaMalloc(&inverse_noise, ELEMENTS * LAYERS * sizeof(float)));
        CHECK(cudaMalloc(&in_memory, SLOTS * sizeof *in_memory));
        CHECK(cudaMalloc(&buffers, SLOTS * size_t{ELEMENTS} * LAYERS * 8 / 9800 * N_CB * 2));
        for (int k = 0; k < SLOTS; k++)
            CHECK(cudaMemcpy(slots + k, host.data(), sizeof(slot), cudaMemcpyHostToDevice));
    }
};

/* A receiver of USERS users. */
template <int USERS, softqam_output_format FORMAT, softqam_modulation MODULATION> struct comparison {
    using demapper = softqam::demapper<FORMAT, MODULATION>;
    enum { N = LAYERS / USERS, N_CODE_BLOCKS = ELEMENTS * N * demapper::BITS / 9800 };
    static constexpr size_t USER_NBYTES = size_t{N_CODE_BLOCKS} * N_CB * demapper::VALUE_NBYTES;

    const receiver &self;
    softqam_demodulator *demodulator;
    bool combines;

    /* Describes a user's codeword of a slot. */
    softqam_segment segment_of(int user, int slot_number) const
    {
        softqam_segment segment = {};
        segment.n_symbols = size_t{ELEMENTS} * N;
        segment.n_layers = N;
        segment.symbol_stride = segment.noise_stride = LAYERS;
        for (int k = 0; k < N; k++) {
            segment.layers[k].symbols = self.symbols + user * N + k;
            segment.layers[k].noise_var = self.inverse_noise + user * N + k;
        }
        segment.modulation = MODULATION;
        segment.noise_form = SOFTQAM_NOISE_FORM_INVERSE;
        segment.descramble = 1;
        segment.c_init = 12345 + user;
        segment.codeword.n_bits = segment.n_symbols * demapper::BITS;
        segment.codeword.n_code_blocks = N_CODE_BLOCKS;
        segment.codeword.buffers = self.buffers + (slot_number * USERS + user) * USER_NBYTES;
        segment.codeword.block_stride = segment.codeword.n_cb = N_CB;
        segment.codeword.deinterleave = 1;
        segment.codeword.first_filler = FIRST_FILLER;
        segment.codeword.n_fillers = N_FILLERS;
        segment.codeword.filler_value = 120;
        segment.codeword.combine = combines;
        segment.codeword.k0 = combines ? 33 * 384 : 0;
        return segment;
    }

    users<USERS> codewords_of(int slot_number) const
    {
        users<USERS> made;
        for (int user = 0; user < USERS; user++) {
            const softqam_segment segment = segment_of(user, slot_number);
            check(softqam_device_codeword_init(&made.codewords[user], demodulator, &segment) == SOFTQAM_OK,
                  "softqam_device_codeword_init");
        }
        return made;
    }

    void call(int slot_number) const
    {
        softqam_segment segments[USERS];
        for (int user = 0; user < USERS; user++)
            segments[user] = segment_of(user, slot_number);
        check(softqam_cuda_demodulate_segments(demodulator, segments, USERS, self.stream) == SOFTQAM_OK,
              "softqam_cuda_demodulate_segments");
    }

    void enqueue(way which, int slot_number) const
    {
        const slot *from = self.slots + slot_number;
        const auto *in_memory = reinterpret_cast<users<USERS> *>(self.in_memory + slot_number);
        auto *to = reinterpret_cast<uint4 *>(self.buffers + slot_number * USERS * USER_NBYTES);
        const unsigned threads = BLOCK_ELEMENTS + (combines ? 0 : 32);
        const size_t n_moved =
            combines ? size_t{ELEMENTS} * LAYERS * demapper::BITS * demapper::VALUE_NBYTES : USERS * USER_NBYTES;
        if (which == DEVICE_FUNCTIONS)
            launch(equalise_to_codewords<USERS, demapper>, threads, self.stream, from, codewords_of(slot_number));
        else if (which == CODEWORDS_IN_MEMORY)
            launch(equalise_to_codewords_in_memory<USERS, demapper>, threads, self.stream, from, in_memory);
        else if (which == MOVING_BYTES)
            launch(move, BLOCK_ELEMENTS, self.stream, from, to, n_moved / sizeof(uint4), combines);
        else
            launch(equalise_slot, BLOCK_ELEMENTS, self.stream, from, self.symbols, self.inverse_noise);
        if (which == THEN_CALL)
            call(slot_number);
    }

    /* Returns microseconds a slot, in a graph of many slots. */
    float time(way which) const
    {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        cudaEvent_t begin, end;
        float least = 1e9f;
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        CHECK(cudaStreamBeginCapture(self.stream, cudaStreamCaptureModeThreadLocal));
        for (int k = 0; k < ROUNDS; k++)
            enqueue(which, k % SLOTS);
        CHECK(cudaStreamEndCapture(self.stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        for (int k = 0; k < 6; k++) {
            float milliseconds = 0;
            CHECK(cudaEventRecord(begin, self.stream));
            CHECK(cudaGraphLaunch(executable, self.stream));
            CHECK(cudaEventRecord(end, self.stream));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            least = k > 0 && milliseconds < least ? milliseconds : least;
        }
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
        CHECK(cudaGraphExecDestroy(executable));
        CHECK(cudaGraphDestroy(graph));
        return least * (1000.0f / int{ROUNDS});
    }

    /* Compares the bytes of a slot, and fills in the codewords in memory. */
    void compare() const
    {
        std::vector<unsigned char> expected(USERS * USER_NBYTES), made(expected.size());
        for (int k = 0; k < SLOTS; k++) {
            const users<USERS> codewords = codewords_of(k);
            CHECK(cudaMemcpy(self.in_memory + k, &codewords, sizeof codewords, cudaMemcpyHostToDevice));
        }
        for (const way which : {THEN_CALL, DEVICE_FUNCTIONS, CODEWORDS_IN_MEMORY}) {
            CHECK(cudaMemset(self.buffers, 1, made.size()));
            enqueue(which, 0);
            CHECK(cudaStreamSynchronize(self.stream));
            CHECK(cudaMemcpy(made.data(), self.buffers, made.size(), cudaMemcpyDeviceToHost));
            if (which == THEN_CALL)
                expected = made;
            check(made == expected, "comparing soft buffers");
        }
    }

    void run(const char *name)
    {
        softqam_demodulator_config config = {};
        config.context = self.context;
        config.output_format = FORMAT;
        check(softqam_demodulator_create(&demodulator, &config) == SOFTQAM_OK, "softqam_demodulator_create");
        check(softqam_context_prepare(self.context, SOFTQAM_PREPARE_KERNELS) == SOFTQAM_OK, "softqam_context_prepare");
        for (const bool adds : {false, true}) {
            combines = adds;
            compare();
            std::printf("%-32s %-14s", name, combines ? "retransmission" : "new data");
            for (int which = 0; which < N_WAYS; which++)
                std::printf(" %17.2f", static_cast<double>(time(static_cast<way>(which))));
            std::printf("\n");
        }
        softqam_demodulator_destroy(demodulator);
    }
};

int main()
{
    receiver self = {};
    self.open();
    std::printf("%-32s %-14s %17s %17s %17s %17s %17s\n", "us a slot", "", "equaliser alone", "then the call",
                "device functions", "codewords in mem.", "moving the bytes");
    comparison<1, SOFTQAM_OUTPUT_S8, SOFTQAM_MODULATION_64QAM>{self, nullptr, false}.run("64QAM, 4 layers, s8");
    comparison<1, SOFTQAM_OUTPUT_S8, SOFTQAM_MODULATION_256QAM>{self, nullptr, false}.run("256QAM, 4 layers, s8");
    comparison<2, SOFTQAM_OUTPUT_S8, SOFTQAM_MODULATION_256QAM>{self, nullptr, false}.run(
        "256QAM, 2 users of 2 layers, s8");
    comparison<1, SOFTQAM_OUTPUT_F16, SOFTQAM_MODULATION_64QAM>{self, nullptr, false}.run("64QAM, 4 layers, f16");
    comparison<1, SOFTQAM_OUTPUT_F16, SOFTQAM_MODULATION_256QAM>{self, nullptr, false}.run("256QAM, 4 layers, f16");
    comparison<2, SOFTQAM_OUTPUT_F16, SOFTQAM_MODULATION_256QAM>{self, nullptr, false}.run(
        "256QAM, 2 users of 2 layers, f16");
    return 0;
}
