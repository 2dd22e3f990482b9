/* SPDX-License-Identifier: MIT */
/**
 * @file softqam.h
 * softqam: the soft demapper of a 5G NR receiver. Equalised I/Q symbols in, soft bits or LLRs out, the same bytes from
 * every backend. This one header is the whole API, but for softqam_cuda.h, which passes pointers to device memory.
 *
 * The shortest program:
 *
 *     softqam_config config;
 *     softqam_config_init(&config);                         // 256QAM, cf32 in, u8 soft bits out
 *     config.output_format = SOFTQAM_OUTPUT_S8;             // LLRs for an LDPC decoder instead
 *     softqam_demodulator *demodulator;
 *     softqam_status status = softqam_create(&demodulator, &config);
 *     ...
 *     status = softqam_demodulate(demodulator, symbols, &noise_var, n_symbols, llrs);    // as often as you like
 *     ...
 *     softqam_destroy(demodulator);
 *
 * Three objects:
 *
 * - `softqam_context` says where the work is done: backend, CPU threads, GPUs. One a process is enough. Its threads,
 *   streams and memory are made when first needed, or by softqam_context_prepare().
 * - `softqam_demodulator` says what comes in and goes out: formats, scales, sign, the usual modulation. It costs
 *   microseconds and a few KiB.
 * - `softqam_segment` says which symbols: a run of one codeword's, with its modulation, layers, noise and output. It is
 *   a struct and costs nothing.
 *
 * Demodulators without a context of their own share one that the library makes for them.
 *
 * A child of fork() may use and destroy what its parent made, if no other thread of the parent was making, preparing,
 * destroying or first using anything then. The child has none of a context's threads: its calls run on the calling
 * thread alone. It may not use a context that has used a GPU, for CUDA does not work in such a child.
 *
 * The library never prints, exits or aborts: every failure is a status, and softqam_error_message() has the details.
 *
 * ## Constellations, order, sign, noise variance
 *
 * The constellations are those of 3GPP TS 38.211 clause 5.1, scaled to unit mean symbol energy. Bits come in 3GPP
 * order, b0 first; the even bits ride on I, the odd ones on Q.
 *
 * **A positive LLR, or a byte above the midpoint, means bit 0**, unless config.sign says otherwise. That is the sign of
 * 5G receivers (MATLAB's 5G Toolbox, srsRAN Project, OAI, cuPHY, AFF3CT); Sionna, GNU Radio, CommPy and srsRAN 4G have
 * the opposite one.
 *
 * **The noise variance N0 is that of the complex noise**, E|n|^2 for symbols of unit mean energy (as in MATLAB, srsRAN
 * Project and cuPHY): N0 = 10^(-SNR/10) at an Es/N0 of SNR dB, twice the variance of one component.
 */
#ifndef SOFTQAM_SOFTQAM_H
#define SOFTQAM_SOFTQAM_H

#include <stddef.h>
#include <stdint.h>

/** Marks what the shared library exports. */
#define SOFTQAM_API __attribute__((visibility("default")))

/** @name Version of this header
 * softqam_version() is the linked library's, which may be a later one of the same major version. */
/**@{*/
/** Raised when programs that were linked with an older library, of 0.3 or later, would no longer run. */
#define SOFTQAM_VERSION_MAJOR 0
/** Raised when something is added. */
#define SOFTQAM_VERSION_MINOR 3
/** Raised when neither is the case. */
#define SOFTQAM_VERSION_PATCH 0
/**@}*/

#ifdef __cplusplus
extern "C" {
#endif

/** What a call returns. Zero is success; softqam_status_string() has a phrase for each. */
typedef enum softqam_status {
    SOFTQAM_OK = 0, /**< done */
    /** An argument or a field is out of its documented range, or not supported by this version. Nothing was done. */
    SOFTQAM_ERROR_INVALID_ARGUMENT = 1,
    /** The backend asked for is not in this build, or this machine has no usable device for it. */
    SOFTQAM_ERROR_BACKEND_UNAVAILABLE = 2,
    /** Host or device memory could not be had. */
    SOFTQAM_ERROR_OUT_OF_MEMORY = 3,
    /** The operating system refused a thread or another resource. */
    SOFTQAM_ERROR_SYSTEM = 4,
    /** A CUDA call failed; softqam_error_message() names it and has CUDA's own text. */
    SOFTQAM_ERROR_CUDA = 5
} softqam_status;

/** Where the work is done. The bytes are the same. */
typedef enum softqam_backend {
    /** The CPU, and a CUDA device for host-memory calls that are faster there. Looks for a device when a call of at
     *  least SOFTQAM_AUTO_MIN_SYMBOLS symbols first comes, or in softqam_context_prepare(). Never fails for lack of a
     *  GPU; if CUDA fails later, the CPU finishes the call and takes all calls after it. */
    SOFTQAM_BACKEND_AUTO = 0,
    SOFTQAM_BACKEND_CPU = 1, /**< the CPU; never touches a GPU or its driver */
    SOFTQAM_BACKEND_CUDA = 2 /**< CUDA, or failure */
} softqam_backend;

/** SOFTQAM_BACKEND_AUTO does smaller calls on the CPU without asking whether there is a GPU. */
#define SOFTQAM_AUTO_MIN_SYMBOLS 65536

/** Modulations of 3GPP TS 38.211 clause 5.1. Soft bits, SOFTQAM_OUTPUT_U8, are those of 256QAM alone. */
typedef enum softqam_modulation {
    /** In softqam_config: 256QAM. In softqam_segment: the demodulator's. */
    SOFTQAM_MODULATION_DEFAULT = 0,
    SOFTQAM_MODULATION_BPSK = 1, /**< clause 5.1.2, 1 bit a symbol */
    /** pi/2-BPSK, clause 5.1.1, 1 bit a symbol: that of BPSK, turned by a quarter at the odd symbols of the codeword,
     *  counted from its first symbol (softqam_segment.first_symbol; softqam_demodulate() begins at the first). */
    SOFTQAM_MODULATION_PI2_BPSK = 2,
    SOFTQAM_MODULATION_QPSK = 3,   /**< clause 5.1.3, 2 bits a symbol */
    SOFTQAM_MODULATION_16QAM = 4,  /**< clause 5.1.4, 4 bits a symbol */
    SOFTQAM_MODULATION_64QAM = 5,  /**< clause 5.1.5, 6 bits a symbol */
    SOFTQAM_MODULATION_256QAM = 6, /**< clause 5.1.6, 8 bits a symbol */
    SOFTQAM_MODULATION_1024QAM = 7 /**< clause 5.1.7, 10 bits a symbol */
} softqam_modulation;

/** How a symbol lies in memory: I then Q, in the byte order of the machine. A component's value is sample *
 * input_scale, rounded once to binary32. */
typedef enum softqam_input_format {
    SOFTQAM_INPUT_CF32 = 0, /**< two IEEE-754 binary32, 8 bytes */
    SOFTQAM_INPUT_CS16 = 1, /**< two signed 16-bit integers, 4 bytes */
    SOFTQAM_INPUT_CS8 = 2,  /**< two signed 8-bit integers, 2 bytes */
    SOFTQAM_INPUT_CF16 = 3  /**< two IEEE-754 binary16, 4 bytes; widened exactly */
} softqam_input_format;

/** What comes out for each bit. */
typedef enum softqam_output_format {
    /** Soft bits of 256QAM, one byte each: liquid-dsp 1.5's, byte for byte. 255 is a certain 0, 0 is a certain 1, 127
     * says nothing. The scale is fixed; no noise variance enters. For liquid-dsp's users: decoders want LLRs. */
    SOFTQAM_OUTPUT_U8 = 0,
    /** LLRs as int8: the exact max-log LLR in nats times llr_scale, rounded once to nearest even, limited to
     *  +-llr_limit. -128 never appears. */
    SOFTQAM_OUTPUT_S8 = 1,
    /** LLRs as IEEE-754 binary16: the exact max-log LLR in nats, rounded to nearest even. */
    SOFTQAM_OUTPUT_F16 = 2,
    /** LLRs as IEEE-754 binary32: the exact max-log LLR in nats. */
    SOFTQAM_OUTPUT_F32 = 3
} softqam_output_format;

/** The bit that a positive LLR, or a byte above the midpoint, means. */
typedef enum softqam_sign {
    SOFTQAM_SIGN_POSITIVE_IS_0 = 0, /**< 5G receivers */
    SOFTQAM_SIGN_POSITIVE_IS_1 = 1  /**< Sionna, GNU Radio, CommPy, srsRAN 4G */
} softqam_sign;

/** What `noise_var` of softqam_demodulate() and softqam_cuda_demodulate() points at. Segments have a stride instead. */
typedef enum softqam_noise {
    SOFTQAM_NOISE_PER_CALL = 0,  /**< one value for all symbols of the call */
    SOFTQAM_NOISE_PER_SYMBOL = 1 /**< one value a symbol, as it is after equalisation */
} softqam_noise;

/** What a noise value is. */
typedef enum softqam_noise_form {
    /** In softqam_config: N0. In softqam_segment: the demodulator's. */
    SOFTQAM_NOISE_FORM_DEFAULT = 0,
    /** The noise variance N0. Positive finite values outside [2^-100, 2^40] count as the nearer end. */
    SOFTQAM_NOISE_FORM_N0 = 1,
    /** Its inverse, 1/N0, which saves a division a symbol. Positive finite values outside [2^-40, 2^100] count as the
     *  nearer end. */
    SOFTQAM_NOISE_FORM_INVERSE = 2
} softqam_noise_form;

/** A value of softqam_context_config.n_devices. */
#define SOFTQAM_ALL_DEVICES (~0u)

/** Where the work is done: any number of demodulators and threads share one. */
typedef struct softqam_context softqam_context;

/** Formats, scales and sign, ready to demodulate. */
typedef struct softqam_demodulator softqam_demodulator;

/** Settings of a context. Always start from softqam_context_config_init(), so that fields which a later version adds
 * have their defaults. All is copied by softqam_context_create(). */
typedef struct softqam_context_config {
    /** Size of the structure that the caller was compiled with; softqam_context_config_init() sets it. */
    size_t struct_nbytes;
    softqam_backend backend; /**< default SOFTQAM_BACKEND_AUTO */
    /** CPU threads that may work on one call, the calling one included: at most 1024. 0, the default, stands for one
     * per CPU in `cpus`. The threads beside the caller's are started when a call first needs them. With 1 there are
     * none, and any number of the caller's threads demodulate at once. CUDA stages pageable memory with them. */
    unsigned n_threads;
    /** CPUs that the context's threads run on: n_cpus numbers, 0 to 1023. NULL, the default: those that the thread
     * calling softqam_context_create() may run on then. */
    const unsigned *cpus;
    unsigned n_cpus; /**< the length of `cpus`, at most 1024; 0 with NULL */
    /** Scheduling of the context's threads: 0, the default, is the usual class (SCHED_OTHER), whatever class the thread
     *  has that starts them; 1 to 99 is SCHED_FIFO with that priority, for which the process needs the right. */
    int thread_priority;
    /** CUDA: ordinal of the device, or -1, the default, for the device current in the thread that first needs one. */
    int device;
    /** CUDA, several devices: NULL, or the ordinals of n_devices different devices among which host-to-host calls are
     *  divided; `device` is -1 then. Default NULL. */
    const int *devices;
    /** CUDA: the length of `devices`, 1 to 64; or SOFTQAM_ALL_DEVICES, `devices` being NULL, for all devices of this
     *  machine; or 0, the default, for the one device that `device` names. */
    unsigned n_devices;
    /** CUDA: chunks in flight at once on a device in a host-to-host call, each on its own stream, 1 to 64. 0, the
     * default: 3. */
    unsigned n_streams;
    /** CUDA: most symbols in a chunk of a host-to-host call, 1 to 2^28. 0, the default: 1 Mi. Once a host-to-host call
     *  has been made, each device holds 20 * chunk_symbols bytes for each stream; where a symbol takes more than 20
     *  bytes in, out and for its noise, a chunk has fewer symbols. For pageable memory each of up to 32 threads has 8
     *  MiB more, on the device and as pinned host memory. */
    size_t chunk_symbols;
    /** CPU: the instruction set of the inner loops, "avx512", "avx2" or "neon", or "generic", plain C for vectors, or
     * "portable", plain C for one symbol at a time; one that this build does not have or this processor does not run is
     * SOFTQAM_ERROR_INVALID_ARGUMENT. The bytes are the same. NULL, the default, or "": what the environment variable
     * SOFTQAM_CPU_VARIANT names or, where it is unset or names none that runs here, the fastest;
     * softqam_backend_detail() says when the variable was ignored. */
    const char *cpu_variant;
} softqam_context_config;

/**
 * Fills a context's settings with the defaults. Call softqam_context_config_init() instead, which passes the size.
 *
 * @param config         the structure to fill; NULL is ignored
 * @param struct_nbytes  sizeof(softqam_context_config) where the caller was compiled
 *
 * Thread safety: any thread.
 */
SOFTQAM_API void softqam_context_config_init_nbytes(softqam_context_config *config, size_t struct_nbytes);

/**
 * Fills a context's settings with the defaults.
 *
 * @param config  the structure to fill; NULL is ignored
 *
 * Thread safety: any thread.
 */
static inline void softqam_context_config_init(softqam_context_config *config)
{
    softqam_context_config_init_nbytes(config, sizeof(softqam_context_config));
}

/**
 * Makes a context. Starts no thread, allocates no device memory and measures nothing; with SOFTQAM_BACKEND_CUDA it
 * looks whether the devices exist.
 *
 * @param context  receives the object, or NULL on failure; the caller ends it with softqam_context_destroy()
 * @param config   the settings, only read during the call; NULL stands for the defaults
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  context is NULL, a field is out of its range or contradicts another, the
 *         structure was not filled by softqam_context_config_init() or sets a field that this version does not know;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  SOFTQAM_BACKEND_CUDA without CUDA in the build, without a usable device,
 *         or without one of those named;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY  not enough host memory;
 *         SOFTQAM_ERROR_CUDA  SOFTQAM_BACKEND_CUDA: another CUDA call failed.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_status softqam_context_create(softqam_context **context, const softqam_context_config *config);

/** What softqam_context_prepare() is to make; to be or-ed. */
enum {
    SOFTQAM_PREPARE_THREADS = 1, /**< the CPU threads */
    /** CUDA: the kernels of the context's demodulators, on its devices. Before a stream capture. */
    SOFTQAM_PREPARE_KERNELS = 2,
    SOFTQAM_PREPARE_HOST_CALLS = 4, /**< CUDA: streams, device memory and pinned memory of host-to-host calls */
    /** SOFTQAM_BACKEND_AUTO: looks for a GPU and measures, for the formats of the context's demodulators, from how many
     *  symbols on it is faster; with a GPU this takes some tens of milliseconds a
     *  pair of formats. */
    SOFTQAM_PREPARE_AUTO = 8,
    SOFTQAM_PREPARE_ALL = 15 /**< all that the context's backend can use */
};

/**
 * Makes now what would otherwise be made when it is first needed: for real-time threads, and before a CUDA stream is
 * captured. Call it when all demodulators have been created: only those that the context has at that moment are
 * prepared.
 *
 * After it, softqam_demodulate() and softqam_demodulate_segments() allocate nothing, start no thread, measure nothing,
 * and never wait for another call, with one exception: host-memory calls of SOFTQAM_BACKEND_CUDA take turns on the
 * devices' staging memory. On one CPU thread they make no system call either. A call that a CPU does takes
 * no more than 64 KiB of its thread's stack.
 *
 * @param context  the context
 * @param what     SOFTQAM_PREPARE_ALL, or SOFTQAM_PREPARE_.. or-ed; what the backend does not have is skipped
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  context is NULL, or `what` has an unknown bit;
 *         SOFTQAM_ERROR_SYSTEM  a thread could not be started, or not with its CPUs or its priority;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY  not enough host memory, or, SOFTQAM_BACKEND_CUDA, device or page-locked memory;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA  SOFTQAM_BACKEND_CUDA: this build has no code for a
 *         device; another CUDA call failed. With SOFTQAM_BACKEND_AUTO a GPU that fails is given up, which is no error.
 *         What was made before a failure stays.
 *
 * Thread safety: any thread, any number at once. Threads that are started block all signals.
 */
SOFTQAM_API softqam_status softqam_context_prepare(softqam_context *context, unsigned what);

/**
 * Ends the caller's hold on a context. What it has is freed when the last of its demodulators is destroyed too, so the
 * order does not matter.
 *
 * @param context  the context; NULL is ignored
 *
 * Thread safety: any thread; the caller must not use the context any more.
 */
SOFTQAM_API void softqam_context_destroy(softqam_context *context);

/** Settings of a demodulator. Always start from softqam_config_init(), so that fields which a later version adds have
 * their defaults. */
typedef struct softqam_config {
    /** Size of the structure that the caller was compiled with; softqam_config_init() sets it. */
    size_t struct_nbytes;
    /** Where the work is done; the demodulator holds on to it. NULL, the default: a context with default settings which
     *  all demodulators without one of their own share, and which is freed with the last of them. */
    softqam_context *context;
    softqam_modulation modulation;       /**< of softqam_demodulate(), and of segments that name none; default 256QAM */
    softqam_input_format input_format;   /**< default SOFTQAM_INPUT_CF32 */
    softqam_output_format output_format; /**< default SOFTQAM_OUTPUT_U8 */
    softqam_sign sign;   /**< default SOFTQAM_SIGN_POSITIVE_IS_0; u8 soft bits too: 127 says nothing in both */
    softqam_noise noise; /**< default SOFTQAM_NOISE_PER_CALL; u8 soft bits take no noise variance */
    softqam_noise_form noise_form; /**< default N0 */
    /** Factor that brings a sample to unit mean symbol energy; finite and positive. 0, the default, stands for the
     * format's own, softqam_input_default_scale(): 1 for cf32 and cf16, 1/32768 for cs16, 1/128 for cs8. */
    float input_scale;
    /** s8: steps per nat, 2^-10 to 2^20. 0, the default, stands for 6. The other formats are in nats: 0 or 1. */
    float llr_scale;
    /** s8: largest magnitude, 1 to 127. 0, the default, stands for 127. 0 for the other formats. */
    int llr_limit;
} softqam_config;

/**
 * Fills a configuration with the defaults. Call softqam_config_init() instead, which passes the size.
 *
 * @param config         the structure to fill; NULL is ignored
 * @param struct_nbytes  sizeof(softqam_config) where the caller was compiled
 *
 * Thread safety: any thread.
 */
SOFTQAM_API void softqam_config_init_nbytes(softqam_config *config, size_t struct_nbytes);

/**
 * Fills a configuration with the defaults.
 *
 * @param config  the structure to fill; NULL is ignored
 *
 * Thread safety: any thread.
 */
static inline void softqam_config_init(softqam_config *config)
{
    softqam_config_init_nbytes(config, sizeof(softqam_config));
}

/**
 * Makes a demodulator: checks the configuration, builds its tables, picks its loops and kernels. Quick, and holds
 * nothing but a few KiB.
 *
 * @param demodulator  receives the object, or NULL on failure; the caller ends it with softqam_destroy()
 * @param config       formats, scales and sign, only read during the call; NULL stands for the defaults
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  demodulator is NULL, a field is out of its range, contradicts another or is
 *         not supported by this version, the structure was not filled by softqam_config_init() or sets a field that
 *         this version does not know;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY  not enough host memory.
 *
 * Thread safety: any thread, any number at once.
 */
SOFTQAM_API softqam_status softqam_create(softqam_demodulator **demodulator, const softqam_config *config);

/**
 * Demodulates symbols in host memory with the demodulator's modulation; returns when `out` is written.
 *
 * @param demodulator  formats, scales and sign
 * @param symbols      n_symbols symbols in the input format; any alignment
 * @param noise_var    the noise: one value, or n_symbols values, as config.noise says, each N0 or 1/N0, as
 *                     config.noise_form says; aligned to 4 bytes. For SOFTQAM_OUTPUT_U8 NULL and nothing else
 * @param n_symbols    any number; 0 does nothing, and then the pointers may be NULL
 * @param out          receives softqam_output_nbytes() bytes: each symbol's values, b0 first; any alignment; must not
 *                     overlap the inputs
 *
 * Each symbol is demodulated alone, so the bytes depend neither on its neighbours nor on how calls are split.
 *
 * **Soft bits, SOFTQAM_OUTPUT_U8.** Hard decision, then the squared distances to the neighbouring points that differ in
 * one bit: liquid-dsp's `modemcf_demodulate_soft` for LIQUID_MODEM_QAM256.
 * - A symbol with a component that is NaN or infinite (after scaling) gives eight times 127: an erasure.
 * - Other components are clamped to [-3, +3]; +0 and -0 give the same bytes.
 * - Four of the eight bytes, two an axis, are always saturated: with this fixed scale only the two bits whose decision
 *   boundaries are next to the sample can be anything but certain.
 *
 * **LLRs, SOFTQAM_OUTPUT_S8, _F16, _F32.** Exact max-log, with r the symbol and x over the constellation's points:
 * LLR(b) = (min over x with b = 1 of |r - x|^2 - min over x with b = 0 of |r - x|^2) / N0, as a piecewise linear
 * function of each component; of BPSK and pi/2-BPSK, of the sum of both. In nats, before it is rounded to the format,
 * it is within 2^-24 (2 + 6 |v|) / N0 + 2^-23 |LLR| of that, v being the bit's component; BPSK's within 6 * 2^-24
 * |LLR|.
 * - A symbol with a component that is NaN or infinite (after scaling), or with a noise value that is zero, negative,
 *   NaN or infinite, gives zeros: an erasure.
 * - A component smaller than 2^-63 in magnitude counts as zero of its sign.
 * - No NaN or infinity ever comes out: what would overflow is the format's largest finite value with its sign, 65504
 *   for f16, FLT_MAX for f32, the limit for s8.
 *
 * All arithmetic is binary32, round to nearest even, in one fixed order. The caller's floating-point environment
 * (rounding mode, flushing of subnormals, exceptions that trap) has no part in it and is left as it was, but for
 * exception flags that may be raised.
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  a pointer is NULL that must not be; noise_var is misaligned, or given where
 *         none is taken; `out` overlaps an input; a byte count is over PTRDIFF_MAX; or, where CUDA was asked, a buffer
 *         is device memory (of several segments, the first one's). Nothing was written;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  SOFTQAM_BACKEND_CUDA: this build has no code for a device of the context;
 *         SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY  SOFTQAM_BACKEND_CUDA: a CUDA call failed, for lack of memory
 *         or for another reason. The contents of `out` are undefined, nothing writes there any more, and the
 *         demodulator may be used again or destroyed.
 *
 * Thread safety: any thread, any number at once, on one demodulator too. While another call has the context's threads,
 * a call is done by its own thread alone.
 * With CUDA, memory from softqam_host_alloc() (or pinned by the caller) is used in place; other memory is staged.
 */
SOFTQAM_API softqam_status softqam_demodulate(softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, void *out);

/** Most layers of a codeword: 3GPP TS 38.211 tables 6.3.1.3-1 and 7.3.1.3-1. */
#define SOFTQAM_MAX_LAYERS 4

/** Where one layer's symbols and noise lie. Layers may lie anyhow to each other. */
typedef struct softqam_layer {
    /** The first symbol: I and Q side by side. With symbols_q given, the first I alone. Any alignment. */
    const void *symbols;
    /** NULL, or the first Q where I and Q lie in separate planes. */
    const void *symbols_q;
    /** The first noise value, aligned to 4 bytes; NULL for SOFTQAM_OUTPUT_U8. */
    const float *noise_var;
} softqam_layer;

/** A run of symbols of one codeword, such as the codeword itself, a code block, or an OFDM symbol's share: what one
 * softqam_demodulate_segments() takes many of. Zero all fields that are not named: 0 is each one's usual value.
 *
 * Layers, descrambling and bit planes, in any combination, are where the LLRs go and with which sign: a segment gives
 * the bytes of demodulating its symbols, then negating, then permuting. Soft bits, SOFTQAM_OUTPUT_U8, are liquid-dsp's
 * and have none of them. */
typedef struct softqam_segment {
    /** Symbols in this segment, those of all layers together, a multiple of n_layers; 0 is allowed, and then the
     *  pointers may be NULL. */
    size_t n_symbols;
    /** Position of the segment's first symbol in its codeword, all layers together, a multiple of n_layers. Decides
     *  where the scrambling sequence begins and which symbols of pi/2-BPSK are odd. */
    uint64_t first_symbol;
    /** Receives the values, b0 of the first symbol first; any alignment. */
    void *out;
    /** 0: each symbol's values lie side by side, softqam_output_nbytes() bytes in all. Else bit planes (the interleaver
     *  of 3GPP TS 38.212 clause 5.4.2.2 undone): bit k of symbol i goes to value k * plane_stride + i of `out`; at
     *  least n_symbols. Of a code block of E bits, E / Qm de-interleaves it. What lies between the planes is not
     *  written, but no input may lie there. BPSK and pi/2-BPSK have one plane, which is symbol order. */
    size_t plane_stride;
    /** From one symbol of a layer to its next, counted in symbols (in components where I and Q lie apart): the number
     *  of layers or antennas where those are interleaved. 0 stands for 1. */
    size_t symbol_stride;
    /** From one noise value of a layer to its next, counted in floats. 0: one value for all symbols of the layer. */
    size_t noise_stride;
    /** Symbol i of the segment is symbol i / n_layers of layer i % n_layers (3GPP TS 38.211 clauses 6.3.1.3 and
     *  7.3.1.3). Of one layer: layers[0]. Those from n_layers on are not looked at. */
    softqam_layer layers[SOFTQAM_MAX_LAYERS];
    /** 1 to SOFTQAM_MAX_LAYERS; 0 stands for 1. pi/2-BPSK has 1. */
    unsigned n_layers;
    softqam_modulation modulation; /**< SOFTQAM_MODULATION_DEFAULT: the demodulator's */
    softqam_noise_form noise_form; /**< SOFTQAM_NOISE_FORM_DEFAULT: the demodulator's */
    float input_scale;             /**< as softqam_config's, such as a block exponent; 0: the demodulator's */
    float llr_scale;               /**< s8: as softqam_config's; 0: the demodulator's */
    /** 1: the LLRs of the bits where the Gold sequence of c_init is 1 change sign (3GPP TS 38.211 clauses 6.3.1.1 and
     *  7.3.1.1): LLR k of symbol i is the codeword's number (first_symbol + i) * Qm + k. Erasures stay +0; an LLR that
     *  is exactly 0 becomes -0 in f16 and f32. 0: not. */
    unsigned descramble;
    uint32_t c_init;   /**< of the scrambling sequence, 0 to 2^31 - 1; 0 without descramble */
    uint32_t reserved; /**< 0 */
} softqam_segment;

/**
 * Demodulates many segments. Call softqam_demodulate_segments() instead, which passes the size.
 *
 * @param demodulator     formats, scales and sign
 * @param segments        n_segments segments, segment_nbytes bytes apart
 * @param n_segments      any number; 0 does nothing
 * @param segment_nbytes  sizeof(softqam_segment) where the caller was compiled; fields that this version does not know
 *                        must be 0
 *
 * @return as softqam_demodulate_segments(), and SOFTQAM_ERROR_INVALID_ARGUMENT too for a size that no version has.
 *
 * Thread safety: as softqam_demodulate().
 */
SOFTQAM_API softqam_status softqam_demodulate_segments_nbytes(softqam_demodulator *demodulator,
                                                              const softqam_segment *segments, size_t n_segments,
                                                              size_t segment_nbytes);

/**
 * Demodulates many segments in host memory with one call, such as a slot's; returns when all are written. The bytes are
 * those of softqam_demodulate() for each segment's symbols and noise; config.noise does not matter here.
 *
 * @param demodulator  formats, scales and sign
 * @param segments     n_segments segments, each with its own symbols, noise and output; no output may overlap
 *                     another one or an input; the gaps that strides leave count as part of both. Alignment
 *                     as for softqam_demodulate()
 * @param n_segments   any number; 0 does nothing
 *
 * @return as softqam_demodulate(), and SOFTQAM_ERROR_INVALID_ARGUMENT too where `segments` is NULL and n_segments is
 *         not 0, where a field is out of its range or not supported: n_layers is over SOFTQAM_MAX_LAYERS;
 *         first_symbol or n_symbols is no multiple of n_layers; plane_stride is less than n_symbols and not 0; c_init
 *         is over 2^31 - 1, or not 0 without `descramble`; with `descramble` the segment reaches bit 2^64 - 1 of the
 *         codeword; layers, planes or descrambling are asked for with soft bits, or several layers with pi/2-BPSK; and
 *         where the segments together have more symbols than a size_t holds. Overlaps within a segment are found, of
 *         `out` with each layer's inputs; overlaps between segments are the caller's to avoid.
 *
 * Thread safety: as softqam_demodulate().
 */
static inline softqam_status softqam_demodulate_segments(softqam_demodulator *demodulator,
                                                         const softqam_segment *segments, size_t n_segments)
{
    return softqam_demodulate_segments_nbytes(demodulator, segments, n_segments, sizeof(softqam_segment));
}

/** How a codeword is made of code blocks, and where their LLRs go: what softqam_codeword_segments() cuts by. Zero all
 * fields that are not named. */
typedef struct softqam_codeword {
    /** G: the bits of the codeword, a multiple of its layers times Qm. */
    size_t n_bits;
    /** C: the code blocks of the transport block, those not transmitted among them; 1 to 65535. */
    size_t n_code_blocks;
    /** NULL: all code blocks are transmitted. Else n_code_blocks bytes: 0 for a code block that is not, as CBGTI says
     *  (3GPP TS 38.214 clauses 5.1.7.2 and 6.1.5.2), anything else for one that is. */
    const uint8_t *transmitted;
    /** From the first value of a code block's output to that of the next one's, counted in values, those not
     *  transmitted counted too: the distance of soft buffers, at least as long as the longest code block. 0: those
     *  transmitted lie one behind the other, in the order and with the values of the codeword. */
    size_t block_stride;
    /** 1: each code block's values come out as bit planes, plane_stride = E_r / Qm, which undoes the interleaver of
     *  3GPP TS 38.212 clause 5.4.2.2. 0: in symbol order. */
    unsigned planes;
    uint32_t reserved; /**< 0 */
} softqam_codeword;

/**
 * Cuts a codeword, or a range of it, into the segments of its code blocks. Call softqam_codeword_segments() instead,
 * which passes the sizes.
 *
 * @param demodulator      formats, and the modulation that the range does not name
 * @param codeword         how the codeword is made of code blocks
 * @param codeword_nbytes  sizeof(softqam_codeword) where the caller was compiled; fields that this version does not
 *                         know must be 0
 * @param range            the symbols to be cut
 * @param segments         receives the segments, segment_nbytes bytes apart, or NULL
 * @param segment_nbytes   sizeof(softqam_segment) where the caller was compiled; the same holds
 * @param n_segments       room in `segments`, and the number of segments
 *
 * @return as softqam_codeword_segments(), and SOFTQAM_ERROR_INVALID_ARGUMENT too for sizes that no version has.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_status softqam_codeword_segments_nbytes(const softqam_demodulator *demodulator,
                                                            const softqam_codeword *codeword, size_t codeword_nbytes,
                                                            const softqam_segment *range, softqam_segment *segments,
                                                            size_t segment_nbytes, size_t *n_segments);

/**
 * Cuts a codeword, or a range of it such as an OFDM symbol's resource elements, into segments at the boundaries of its
 * code blocks, ready for softqam_demodulate_segments() or softqam_cuda_demodulate_segments(). The LLRs of each code
 * block come together at its own place in the output, whichever ranges they come from.
 *
 * Code block r has E_r bits (3GPP TS 38.212 clause 5.4.2.1), with N_L layers, C' code blocks transmitted, and j = 0, 1,
 * .. counting these:
 *
 *     E_r = 0                                    where code block r is not transmitted, else
 *     E_r = N_L Qm floor(G / (N_L Qm C'))        where j <= C' - (G / (N_L Qm)) mod C' - 1
 *     E_r = N_L Qm ceil(G / (N_L Qm C'))         where j is larger
 *
 *     softqam_codeword codeword = {.n_bits = G, .n_code_blocks = C, .block_stride = soft_buffer_values, .planes = 1};
 *     softqam_segment range = {.modulation = SOFTQAM_MODULATION_64QAM, .n_layers = 2, .noise_stride = 1,
 *                              .descramble = 1, .c_init = c_init, .out = soft_buffers};
 *     for (each OFDM symbol, of n_elements resource elements) {
 *         softqam_segment segments[MAX_CODE_BLOCKS];
 *         size_t n_segments = MAX_CODE_BLOCKS;
 *         range.n_symbols = 2 * n_elements;
 *         range.layers[0] = ..., range.layers[1] = ...;             // of this OFDM symbol
 *         softqam_codeword_segments(demodulator, &codeword, &range, segments, &n_segments);
 *         softqam_demodulate_segments(demodulator, segments, n_segments);
 *         range.first_symbol += range.n_symbols;
 *     }
 *
 * @param demodulator  formats, and the modulation where range->modulation is SOFTQAM_MODULATION_DEFAULT
 * @param codeword     how the codeword is made of code blocks, and where their values go
 * @param range        the symbols to be cut, as a segment: first_symbol and n_symbols say which of the codeword's G /
 *                     Qm they are (0 and G / Qm: all of it), `layers` where they lie, n_layers is N_L; its other fields
 *                     are those of every segment. But `out` is where the whole codeword's output begins, whichever
 *                     range it is, and plane_stride is 0. Pointers may be to host or to device memory and are not
 *                     followed
 * @param segments     receives the segments, in the order of the codeword: one for each code block that the range has
 *                     symbols of, with first_symbol, n_symbols, layers, out and plane_stride of its own. NULL: they are
 *                     only counted
 * @param n_segments   holds the room in `segments`, which does not matter where that is NULL; receives the number of
 *                     segments, at most n_code_blocks, also where there is not enough room
 *
 * A segment whose n_symbols * Qm is less than E_r is a piece of its code block: the next range has the next one.
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  a pointer is NULL that must not be; a field is out of its range or
 *         contradicts another: G is not a multiple of N_L Qm, or not 0 without a code block transmitted, the range is
 *         not all within the codeword, block_stride is less than the longest E_r, what softqam_demodulate_segments()
 *         refuses without looking at overlaps; or there are more segments than room: then *n_segments says how many.
 *         `segments` is left as it was.
 *
 * Thread safety: any thread.
 */
static inline softqam_status softqam_codeword_segments(const softqam_demodulator *demodulator,
                                                       const softqam_codeword *codeword, const softqam_segment *range,
                                                       softqam_segment *segments, size_t *n_segments)
{
    return softqam_codeword_segments_nbytes(demodulator, codeword, sizeof(softqam_codeword), range, segments,
                                            sizeof(softqam_segment), n_segments);
}

/**
 * Ends a demodulator. Its context lives on if anybody else holds it. Memory from softqam_host_alloc() and work under
 * way in the caller's own CUDA streams are left alone.
 *
 * @param demodulator  the demodulator; NULL is ignored
 *
 * Thread safety: any thread, but no other call on this demodulator may be under way or follow.
 */
SOFTQAM_API void softqam_destroy(softqam_demodulator *demodulator);

/**
 * A demodulator's context: the one of its configuration, or the one that the library made.
 *
 * @param demodulator  the demodulator
 *
 * @return the context, valid as long as the demodulator; not to be destroyed unless the caller made it. NULL for NULL.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_context *softqam_demodulator_context(const softqam_demodulator *demodulator);

/**
 * Allocates host memory that a context reaches fastest: page-locked where it uses a GPU, else plain. With
 * SOFTQAM_BACKEND_AUTO this looks for a GPU; plain also where CUDA fails. Aligned to 4096 bytes, contents undefined.
 *
 * @param context  the context; the memory may outlive it and may be used with any other
 * @param nbytes   size; 0 is taken as 1
 * @param memory   receives the pointer, or NULL on failure; the caller owns it and ends it with softqam_host_free()
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  context or memory is NULL;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY  there is no such memory left;
 *         SOFTQAM_ERROR_CUDA  SOFTQAM_BACKEND_CUDA: another CUDA call failed.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory);

/**
 * Frees memory from softqam_host_alloc(), and only that.
 *
 * @param memory  the memory; NULL is ignored
 *
 * Thread safety: any thread.
 */
SOFTQAM_API void softqam_host_free(void *memory);

/**
 * The scrambling sequence of 3GPP TS 38.211 clause 5.2.1: c(n) of a c_init, from any n on.
 *
 * For PDSCH c_init is RNTI 2^15 + q 2^14 + n_ID (clause 7.3.1.1), for PUSCH RNTI 2^15 + n_ID (6.3.1.1). Segments that
 * are descrambled need no sequence from their caller; this is for what they do not do, such as UCI placeholders.
 *
 * @param c_init     0 to 2^31 - 1; 0 is a valid one
 * @param first_bit  n of the first bit; any place costs the same
 * @param n_bits     any number; 0 does nothing, and then `bits` may be NULL
 * @param bits       receives (n_bits + 7) / 8 bytes: c(first_bit + k) is bit k % 8, counted from the lowest, of byte
 *                   k / 8; the bits behind the last one are 0. Any alignment
 *
 * @return SOFTQAM_OK; SOFTQAM_ERROR_INVALID_ARGUMENT  c_init is larger than 2^31 - 1, or `bits` is NULL.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits);

/**
 * How many bits a symbol has, Qm of 3GPP TS 38.214.
 *
 * @param modulation  a modulation
 *
 * @return 1, 2, 4, 6, 8 or 10; 8 for SOFTQAM_MODULATION_DEFAULT; 0 for a value that is none.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API unsigned softqam_bits_per_symbol(softqam_modulation modulation);

/**
 * How long a symbol is.
 *
 * @param format  an input format
 *
 * @return bytes: 8 for cf32, 4 for cs16 and cf16, 2 for cs8; 0 for a value that is none of the formats.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API size_t softqam_input_symbol_nbytes(softqam_input_format format);

/**
 * How long the values of symbols are.
 *
 * @param format      an output format
 * @param modulation  a modulation
 * @param n_symbols   number of symbols
 *
 * @return bytes: n_symbols * softqam_bits_per_symbol() times 1 for u8 and s8, 2 for f16, 4 for f32; 0 for a value that
 *         is none of the formats or modulations, and where a size_t does not hold the product.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API size_t softqam_output_nbytes(softqam_output_format format, softqam_modulation modulation, size_t n_symbols);

/**
 * The factor that config.input_scale 0 stands for.
 *
 * @param format  an input format
 *
 * @return 1 for cf32 and cf16, 1/32768 for cs16, 1/128 for cs8; 0 for a value that is none of the formats.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API float softqam_input_default_scale(softqam_input_format format);

/**
 * What does the work of large host-memory calls.
 *
 * @param demodulator  the demodulator
 *
 * @return "cpu" or "cuda"; "auto" while SOFTQAM_BACKEND_AUTO has not looked for a GPU yet; "none" for NULL. Lives as
 *         long as the library.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API const char *softqam_backend_name(const softqam_demodulator *demodulator);

/**
 * What runs, for people to read.
 *
 * @param demodulator  the demodulator
 *
 * @return one line, such as "avx512, 2 threads" or "NVIDIA H200, 3 streams of 1048576 symbols"; where
 *         SOFTQAM_BACKEND_AUTO has given CUDA up, with CUDA's error; "" for NULL. Lives as long as the demodulator.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API const char *softqam_backend_detail(const softqam_demodulator *demodulator);

/**
 * A phrase for a status.
 *
 * @param status  what a call returned, or any other number
 *
 * @return such as "invalid argument"; "unknown status" for a number that is none. Lives as long as the library.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API const char *softqam_status_string(softqam_status status);

/**
 * What went wrong in the last call of this thread that did not return SOFTQAM_OK.
 *
 * @return one line without a line end, "" if none has failed. Numbers in it are written as the caller's locale has
 *         them. Belongs to the thread and is overwritten by its next failure.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API const char *softqam_error_message(void);

/**
 * The version of the linked library.
 *
 * @return "major.minor.patch". Lives as long as the library.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API const char *softqam_version(void);

#ifdef __cplusplus
}
#endif

#endif
