/* SPDX-License-Identifier: MIT */
/**
 * @file softqam.h
 * softqam is the soft demapper of a 5G NR receiver. It turns equalised I/Q symbols into LLRs, with the same bytes on
 * every backend. softqam_cuda.h adds calls on device memory, softqam_device.cuh device functions for your own kernel.
 *
 * A program needs softqam_demodulator_config_init(), softqam_demodulator_create(), softqam_demodulate() and
 * softqam_demodulator_destroy().
 *
 * - `softqam_context` is the processor: the CPU and its threads, or one GPU. One per process, or per GPU, is enough.
 * - `softqam_demodulator` holds formats, scales and sign. It is immutable, cheap to create, and keeps its context
 *   alive.
 * - `softqam_segment` describes consecutive symbols of a codeword: modulation, layers, noise, scrambling.
 * - `softqam_codeword`, a member of the segment, says where each code block's LLRs go (softqam_ldpc.h).
 *
 * The library never prints, exits or aborts. Every failure is a status; softqam_error_message() has the details. Any
 * number of threads may call any function at once, with the same objects too, unless the function says otherwise.
 *
 * - **Constellations** are those of 3GPP TS 38.211 clause 5.1, of unit mean energy. Bits come in 3GPP order, b0 first:
 *   even bits lie on I, odd ones on Q, BPSK's on both.
 * - **Sign.** A positive LLR means bit 0, unless config.sign says otherwise.
 * - **The noise variance N0** is E|n|^2 of the complex noise n of a symbol of unit mean energy (after input_scale),
 *   twice the variance of a component: 10^(-SNR/10) at an Es/N0 of SNR dB. A value that is not positive and finite
 *   marks an erasure, whose LLRs are 0. After an MMSE equaliser of bias b < 1, divide symbols by b, which makes N0
 *   (1 - b) / b, or pass b as a gain (softqam_layer). One mean N0 for many symbols, or a bias left in, costs several dB
 *   in fading.
 * - **Scale.** s8 and s16 LLRs have llr_scale steps per nat. Combined transmissions need the same llr_scale.
 * - **Strides** count elements, never bytes.
 *
 * With n_threads = 1 a CPU call makes no system call, allocates no memory and never blocks. With a GPU, a real-time
 * receiver creates its demodulators, then calls softqam_context_prepare().
 *
 * A child of fork() may use and destroy its parent's objects if no other thread of the parent was creating, preparing,
 * destroying or first using a context then. Its calls run on the calling thread alone. It must not use a context that
 * has used a GPU.
 */
#ifndef SOFTQAM_SOFTQAM_H
#define SOFTQAM_SOFTQAM_H

#include <stddef.h>
#include <stdint.h>

/** Marks the functions that the shared library exports. */
#define SOFTQAM_API __attribute__((visibility("default")))

/** Major version of this header. Until it is raised, programs written for an older version compile, programs linked
 * with an older library run, and the same inputs give the same bytes. softqam_version() has the linked library's
 * version. */
#define SOFTQAM_VERSION_MAJOR 1
/** Raised when something is added. */
#define SOFTQAM_VERSION_MINOR 0
/** Raised otherwise. */
#define SOFTQAM_VERSION_PATCH 0
/** One number to compare: 10000 * major + 100 * minor + patch. */
#define SOFTQAM_VERSION (10000 * SOFTQAM_VERSION_MAJOR + 100 * SOFTQAM_VERSION_MINOR + SOFTQAM_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a call. Every function that returns a status may return SOFTQAM_OK and SOFTQAM_ERROR_INVALID_ARGUMENT;
 * its description adds other statuses, and causes beyond those given here ("also if"). */
typedef enum softqam_status {
    SOFTQAM_OK = 0, /**< done */
    /** A pointer is NULL, an argument or field is out of its range, contradicts another or is not supported by this
     *  version, or a reserved field is not 0. Nothing was done; no buffer was written. */
    SOFTQAM_ERROR_INVALID_ARGUMENT = 1,
    /** The build lacks the backend, or code for the device; or there is no usable device of that number. */
    SOFTQAM_ERROR_BACKEND_UNAVAILABLE = 2,
    /** Host, page-locked or device memory could not be allocated. */
    SOFTQAM_ERROR_OUT_OF_MEMORY = 3,
    /** The operating system refused a thread, or its CPUs or priority. */
    SOFTQAM_ERROR_SYSTEM = 4,
    /** A CUDA call failed; the error message names it and has CUDA's text. */
    SOFTQAM_ERROR_CUDA = 5
} softqam_status;

/** The processor that computes. */
typedef enum softqam_backend {
    SOFTQAM_BACKEND_CPU = 0, /**< the CPU; never touches a GPU or its driver */
    SOFTQAM_BACKEND_CUDA = 1 /**< one GPU */
} softqam_backend;

/** Modulations of 3GPP TS 38.211 clause 5.1. */
typedef enum softqam_modulation {
    /** In softqam_demodulator_config: 256QAM. In softqam_segment: the demodulator's. */
    SOFTQAM_MODULATION_DEFAULT = 0,
    /** Clause 5.1.2, 1 bit per symbol: bit 0 is (1 + j) / sqrt(2), bit 1 its negative, on the diagonal. */
    SOFTQAM_MODULATION_BPSK = 1,
    /** Clause 5.1.1, 1 bit per symbol: BPSK rotated by +90 degrees (counter-clockwise) at odd positions. The first
     *  symbol has position 0 in softqam_demodulate(), first_symbol + scrambling_offset in a segment. */
    SOFTQAM_MODULATION_PI2_BPSK = 2,
    SOFTQAM_MODULATION_QPSK = 3,   /**< clause 5.1.3, 2 bits per symbol */
    SOFTQAM_MODULATION_16QAM = 4,  /**< clause 5.1.4, 4 bits per symbol */
    SOFTQAM_MODULATION_64QAM = 5,  /**< clause 5.1.5, 6 bits per symbol */
    SOFTQAM_MODULATION_256QAM = 6, /**< clause 5.1.6, 8 bits per symbol */
    SOFTQAM_MODULATION_1024QAM = 7 /**< clause 5.1.7, 10 bits per symbol */
} softqam_modulation;

/** A symbol in memory: I then Q, in the machine's byte order. A component is I or Q times input_scale, rounded once. */
typedef enum softqam_input_format {
    SOFTQAM_INPUT_CF32 = 0, /**< two IEEE-754 binary32, 8 bytes */
    SOFTQAM_INPUT_CS16 = 1, /**< two signed 16-bit integers, 4 bytes */
    SOFTQAM_INPUT_CS8 = 2,  /**< two signed 8-bit integers, 2 bytes */
    SOFTQAM_INPUT_CF16 = 3  /**< two IEEE-754 binary16, 4 bytes; widened exactly */
} softqam_input_format;

/** The output: one value for each bit of a symbol. */
typedef enum softqam_output_format {
    /** int8: the max-log LLR in nats times llr_scale, rounded once to nearest even, within +-llr_limit. */
    SOFTQAM_OUTPUT_S8 = 0,
    /** int16, for decoders and soft buffers of 16 bits: as s8, with larger limits. */
    SOFTQAM_OUTPUT_S16 = 1,
    /** IEEE-754 binary16: the max-log LLR in nats, rounded to nearest even. */
    SOFTQAM_OUTPUT_F16 = 2,
    /** IEEE-754 binary32: the max-log LLR in nats. */
    SOFTQAM_OUTPUT_F32 = 3,
    /** Soft bits of 256QAM, a byte each, as liquid-dsp 1.5 computes them, but in 3GPP bit order; in two of the 256
     *  decision regions, where liquid-dsp overlooks a neighbour, one byte of eight differs. 255: certainly bit 0; 0:
     *  certainly bit 1 (with SOFTQAM_SIGN_POSITIVE_IS_0); 127: undecided. u8 takes no noise variance, which costs 1 dB
     *  at rate 2/3: feed decoders LLRs. */
    SOFTQAM_OUTPUT_U8 = 4
} softqam_output_format;

/** The bit that a positive LLR, or a byte above 127, means. */
typedef enum softqam_sign {
    SOFTQAM_SIGN_POSITIVE_IS_0 = 0, /**< MATLAB's 5G Toolbox, OCUDU (formerly srsRAN Project), OAI, cuPHY, AFF3CT */
    SOFTQAM_SIGN_POSITIVE_IS_1 = 1  /**< Sionna, GNU Radio, CommPy, srsRAN 4G */
} softqam_sign;

/** Noise values of softqam_demodulate() and softqam_cuda_demodulate(); segments have a stride. */
typedef enum softqam_noise {
    SOFTQAM_NOISE_PER_SYMBOL = 0, /**< one for each symbol */
    SOFTQAM_NOISE_PER_CALL = 1    /**< one for all symbols of the call */
} softqam_noise;

/** The meaning of a noise value. */
typedef enum softqam_noise_form {
    /** In softqam_demodulator_config: N0. In softqam_segment: the demodulator's. */
    SOFTQAM_NOISE_FORM_DEFAULT = 0,
    /** The noise variance N0. Without a gain positive finite values are clamped to [2^-100, 2^40]. */
    SOFTQAM_NOISE_FORM_N0 = 1,
    /** 1/N0, which saves a division per symbol. Without a gain it is clamped to [2^-40, 2^100]. */
    SOFTQAM_NOISE_FORM_INVERSE = 2
} softqam_noise_form;

/** The CPU and its threads, or one GPU. Any number of demodulators and threads share a context. */
typedef struct softqam_context softqam_context;

/** Formats, scales and sign, ready to demodulate. */
typedef struct softqam_demodulator softqam_demodulator;

/** Settings of a context. Fill it with softqam_context_config_init(); a zeroed `device` would select GPU 0. */
typedef struct softqam_context_config {
    softqam_backend backend; /**< default SOFTQAM_BACKEND_CPU */
    /** CPU threads that work on a call or stage memory for CUDA, the calling thread included; at most 1024. 0, the
     *  default: one per CPU in `cpus`. 1, for real time: the calling thread only. Others start when a call first needs
     *  them; if that fails, calls run on the calling thread, and softqam_context_prepare() says why. */
    unsigned n_threads;
    /** CPUs on which the context's threads may run: n_cpus numbers, 0 to 1023. All threads share the set. NULL, the
     *  default: those of the thread that calls softqam_context_create(). */
    const unsigned *cpus;
    unsigned n_cpus; /**< length of `cpus`, at most 1024; 0 with NULL */
    /** Scheduling of the context's threads. 0, the default: SCHED_OTHER. 1 to 99: SCHED_FIFO with that priority, which
     *  needs CAP_SYS_NICE or RLIMIT_RTPRIO. */
    int thread_priority;
    /** CUDA: ordinal of the device. -1, the default: the device that is current in softqam_context_create(). */
    int device;
    uint32_t reserved_words[3]; /**< 0 */
    /** CUDA: chunks of a host-memory call in flight, each on its own stream, 1 to 64. 0, the default: 3. */
    unsigned n_streams;
    uint32_t reserved_word; /**< 0 */
    /** CUDA: most symbols of such a chunk, 1 to 2^28. 0, the default: 2^20. Calls on host memory hold
     *  20 * chunk_symbols bytes per stream on the device; if a symbol takes more than 20 bytes, a chunk has fewer. Each
     *  of up to 32 staging threads holds up to 8 MiB more there, and 8 MiB of pinned memory. */
    size_t chunk_symbols;
    /** CPU: the loops, "avx512", "avx2", "neon" or "portable" (plain C); one that does not run here is refused. NULL,
     *  the default, or "": the environment variable SOFTQAM_CPU_VARIANT if it runs here, else the fastest. */
    const char *cpu_variant;
    uint64_t reserved[8]; /**< 0 */
} softqam_context_config;

/** Fills a context's settings with the defaults; NULL is ignored.
 * @param config  the structure */
SOFTQAM_API void softqam_context_config_init(softqam_context_config *config);

/**
 * Makes a context. It gets threads, streams and memory when a call first needs them, or in softqam_context_prepare().
 * @param context  receives the object, or NULL on failure
 * @param config   the settings, which are copied; NULL: the defaults
 * @return also SOFTQAM_ERROR_OUT_OF_MEMORY (of the host); CUDA: SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA
 */
SOFTQAM_API softqam_status softqam_context_create(softqam_context **context, const softqam_context_config *config);

/** The things that softqam_context_prepare() creates; values to be or-ed. */
enum {
    SOFTQAM_PREPARE_THREADS = 1, /**< the CPU threads */
    /** CUDA: the kernels of the context's demodulators. Needed before a stream capture. */
    SOFTQAM_PREPARE_KERNELS = 2,
    SOFTQAM_PREPARE_HOST_CALLS = 4, /**< CUDA: streams, device memory and pinned memory of host-memory calls */
    SOFTQAM_PREPARE_ALL = 7         /**< everything that the context's backend can use */
};

/**
 * Creates what calls would otherwise create when they first need it, for the demodulators that exist.
 *
 * After SOFTQAM_PREPARE_ALL, calls on host memory allocate nothing and start no thread. They wait for others only on a
 * GPU, where they take turns on staging memory. A CPU call takes at most 64 KiB of its thread's stack. The context's
 * threads block all signals.
 *
 * @param context  the context
 * @param what     SOFTQAM_PREPARE_ALL, or some of SOFTQAM_PREPARE_.., or-ed; those of the other backend do nothing
 * @return also SOFTQAM_ERROR_SYSTEM, SOFTQAM_ERROR_OUT_OF_MEMORY; CUDA: SOFTQAM_ERROR_BACKEND_UNAVAILABLE,
 *         SOFTQAM_ERROR_CUDA. Whatever was created before a failure stays.
 */
SOFTQAM_API softqam_status softqam_context_prepare(softqam_context *context, unsigned what);

/**
 * Gives up the caller's reference; the context is freed once its last demodulator is destroyed too. Thread safety: no
 * other call with this pointer may be under way or follow; demodulators created on it stay usable.
 * @param context  the context, or NULL
 */
SOFTQAM_API void softqam_context_destroy(softqam_context *context);

/** Settings of a demodulator. Fill it with softqam_demodulator_config_init(), or zero it: 0 selects each default. */
typedef struct softqam_demodulator_config {
    /** NULL, the default: a context with default settings, which all demodulators without their own share. */
    softqam_context *context;
    softqam_modulation modulation;       /**< of softqam_demodulate(), and of segments that name none; default 256QAM */
    softqam_input_format input_format;   /**< default SOFTQAM_INPUT_CF32 */
    softqam_output_format output_format; /**< default SOFTQAM_OUTPUT_S8 */
    softqam_sign sign;                   /**< default SOFTQAM_SIGN_POSITIVE_IS_0 */
    softqam_noise noise;                 /**< default SOFTQAM_NOISE_PER_SYMBOL */
    softqam_noise_form noise_form;       /**< default N0 */
    /** Factor that brings symbols to unit mean energy; finite and positive. 0, the default: 1 for cf32 and cf16, 1/8192
     *  for cs16, 1/64 for cs8, which leave room for 1024QAM's outermost component of 1.19 and noise. */
    float input_scale;
    /** Steps per nat. s8: 2^-10 to 2^20; 0, the default: 6. s16: 2^-10 to 2^14; 0, the default: 64. f16, f32 (which are
     *  in nats) and u8: 0 or 1. */
    float llr_scale;
    /** Largest magnitude of an LLR and of sums in soft buffers. s8: 1 to 127 steps; s16: 1 to 32767 steps. f16: 1 to
     *  65504 nats, a number that binary16 holds. 0, the default: the largest value of the range. f32, u8: 0. */
    int llr_limit;
    /** Least noise value, for equalisers in single precision, which write an N0 of 0 or less for the best elements. It
     *  is compared with the noise value as passed, before gains: beside gains and cross gains it is in the units of N0
     *  or sigma^2, and scaling those changes LLRs. An N0 below it, -infinity included, counts as noise_floor; a 1/N0
     *  above 1 / noise_floor, +infinity included, as that. NaN, an N0 of +infinity and a 1/N0 that is not positive stay
     *  erasures. At most 2^40; below 2^-126 it counts as that. 0, the default: none. u8: 0. */
    float noise_floor;
    uint64_t reserved[8]; /**< 0 */
} softqam_demodulator_config;

/** Fills a demodulator's settings with the defaults; NULL is ignored.
 * @param config  the structure */
SOFTQAM_API void softqam_demodulator_config_init(softqam_demodulator_config *config);

/**
 * Makes a demodulator: checks the configuration, builds tables, selects loops and kernels.
 * @param demodulator  receives the object, or NULL on failure
 * @param config       the settings, which are copied; NULL: the defaults
 * @return also SOFTQAM_ERROR_OUT_OF_MEMORY (of the host)
 */
SOFTQAM_API softqam_status softqam_demodulator_create(softqam_demodulator **demodulator,
                                                      const softqam_demodulator_config *config);

/**
 * Demodulates symbols in host memory with the demodulator's modulation, and returns once `out` is written.
 *
 * Each symbol is demodulated on its own: the bytes depend neither on its neighbours nor on how calls are split
 * (pi/2-BPSK: if each call starts at an even position). All arithmetic is binary32, rounded to nearest even, in a fixed
 * order. The caller's floating-point environment (rounding mode, flushing of subnormals, traps) does not matter and is
 * restored; exception flags may be raised.
 *
 * **LLRs (s8, s16, f16, f32)** are max-log. With r the symbol and x over the constellation's points
 *
 *     LLR(b) = (min over x with b = 1 of |r - x|^2 - min over x with b = 0 of |r - x|^2) / N0
 *
 * is computed as a piecewise linear function of each component (BPSK: of I + Q; pi/2-BPSK at odd positions: of Q - I).
 * SOFTQAM_SIGN_POSITIVE_IS_1 negates it. With v the component that carries the bit, |v| <= 1e38 and no gains, the error
 * in nats, before rounding to the format, is at most 2^-24 (2 + 6 |v|) / N0 + 2^-23 |LLR|; for BPSK and pi/2-BPSK
 * 6 * 2^-24 |LLR|.
 * - A symbol is an erasure, whose LLRs are 0, if a component is NaN or infinite (after scaling), or its noise value is
 *   not positive and finite.
 * - A component below 2^-63 in magnitude, after division by its gain, counts as a zero of the same sign.
 * - No LLR is NaN or infinite. Where it or, beyond |v| = 1e38, an intermediate value overflows, the LLR is llr_limit,
 *   or FLT_MAX for f32, with its sign.
 *
 * **Soft bits (u8)** are those of liquid-dsp's `modemcf_demodulate_soft`, except as SOFTQAM_OUTPUT_U8 says. Components
 * are clamped to [-3, +3]; one that is NaN or infinite (after scaling) makes the symbol's bytes 127. +0 and -0 give the
 * same bytes.
 *
 * While another call uses the context's threads, this one runs on the calling thread only. On a GPU, pinned buffers,
 * such as softqam_host_alloc()'s, are used in place if all are; else the call is staged.
 *
 * @param demodulator  formats, scales and sign
 * @param symbols      n_symbols symbols in the input format; any alignment
 * @param noise_var    n_symbols noise values, or one, as config.noise says; each N0 or 1/N0, as config.noise_form says;
 *                     aligned to 4 bytes. NULL for u8
 * @param n_symbols    any number; with 0 nothing is done and the pointers may be NULL
 * @param out          receives softqam_output_nbytes() bytes: each symbol's values, b0 first; any alignment; must not
 *                     overlap the inputs
 * @return SOFTQAM_ERROR_INVALID_ARGUMENT also if noise_var is misaligned, `out` overlaps an input, a byte count is over
 *         PTRDIFF_MAX, or a call on a GPU is given device memory that is not managed. CUDA:
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY; `out` is then undefined,
 *         and the demodulator stays usable
 */
SOFTQAM_API softqam_status softqam_demodulate(const softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, void *out);

/** Largest number of layers of a codeword: 3GPP TS 38.211 tables 6.3.1.3-1 and 7.3.1.3-1. */
#define SOFTQAM_MAX_LAYERS 4

/** The places of one layer's symbols, noise values and gains. Layers need no fixed distance from each other. */
typedef struct softqam_layer {
    const void *symbols;    /**< the segment's first symbol of the layer; with symbols_q the first I; any alignment */
    const void *symbols_q;  /**< NULL, or the first Q, if I and Q lie in separate arrays */
    const float *noise_var; /**< the first noise value, aligned to 4 bytes; NULL for u8 */
    /** NULL, or the first gain g of symbols z = g x + n that are not divided by the channel; z is the symbol after
     *  input_scale, N0 the variance of n. Matched filter: z = h* y, g = |h|^2, N0 = |h|^2 times the noise variance of
     *  y. Biased MMSE: g = b, N0 = b (1 - b). Aligned to 4 bytes; for all layers or none; NULL for u8.
     *
     *  LLRs are those of z / g with N0 / g^2, computed as if exponents had no limits: units do not matter (except to
     *  noise_floor), and N0 is not clamped. A gain that is not positive and finite, or a g^2 / N0 below about 2^-120,
     *  makes an erasure. */
    const float *gain;
    uint64_t reserved[2]; /**< 0 */
} softqam_layer;

#include <softqam/softqam_ldpc.h>

/** Counts of a segment's symbols and LLRs. Calls add to each number, exactly even from several threads at once; the
 * caller zeroes them. They do not depend on backend, threads or cuts, and omit discarded code blocks (a NULL
 * block_buffers entry).
 *
 * The numbers from n_sampled on, which may be 0, are of symbols without erasures whose position p in the codeword has
 * (p / 64) mod 8 = 0. With r the symbol after input_scale and its gain, the error vector magnitude is
 * sqrt(error_energy / 2^24 / n_sampled); information / 2^16 / n_sampled / Qm estimates the mutual information per bit;
 * if it is below the code rate, decoding is hopeless. Segments with a cross gain add no energies: let them share no
 * structure with others if you want the error vector magnitude. */
typedef struct softqam_statistics {
    uint64_t n_symbols; /**< symbols that were demodulated */
    uint64_t n_erased;  /**< symbols that are erasures */
    /** LLRs, before any adding, whose magnitude is llr_limit or, for f32, FLT_MAX; u8: bytes of 0 and 255. */
    uint64_t n_limited;
    uint64_t n_sampled;     /**< symbols of the sample; with u8 this and the numbers below are 0 */
    uint64_t error_energy;  /**< sum of 2^24 min(|r - x|^2, 16), x the nearest point; each rounded to nearest even */
    uint64_t symbol_energy; /**< sum of 2^24 min(|r|^2, 16), likewise */
    /** Sum over LLRs, as written but before any adding, of 2^16 (1 - H(1 / (1 + e^|LLR|))), rounded, H the binary
     *  entropy in bits; |LLR| is in nats, rounded to 1/16 and limited to 255/16. */
    uint64_t information;
} softqam_statistics;

/** Consecutive symbols of one codeword: all of them, an OFDM symbol's, or any other part. Zero-initialise it; 0 selects
 * each field's default.
 *
 * The output equals demodulating, descrambling, de-interleaving and rate recovery in turn. u8 takes 256QAM of one layer
 * in symbol order: noise_var, gain, plane_stride, descramble and codeword must be NULL or 0.
 *
 * **Two layers at once.** With cross_gain[j] the layers e = 2j and f = 2j + 1 are demapped jointly, from y = h_e
 * x_e + h_f x_f + n, whitened so that the noise of each antenna has variance sigma^2. The receiver hands over
 * z_k = h_k^H y as layers[k].symbols (times input_scale), g_k = |h_k|^2 as layers[k].gain, c = h_e^H h_f as
 * cross_gain[j], and sigma^2 or its inverse as layers[k].noise_var. With x_k over the layers' points
 *
 *     LLR(b of x_e) = (min over x_e with b = 1 and all x_f of C - min over x_e with b = 0 and all x_f of C) / sigma^2
 *     C = g_e |x_e|^2 + g_f |x_f|^2 + 2 Re(x_e* c x_f) - 2 Re(x_e* z_e) - 2 Re(x_f* z_f)
 *
 * - The error in nats, before rounding to the format, is at most 88 * 2^-24 / sigma^2 times (g_e |x_e|^2 + g_f
 *   |x_f|^2 + 2 |c x_e x_f| + 2 |x_e z_e| + 2 |x_f z_f|) of the outermost points. Multiplying z, g, c and sigma^2 by a
 *   power of two changes no LLR, unless a number or product is subnormal or overflows, or noise_floor is set. No branch
 *   depends on a symbol.
 * - If a z, g, c or noise value of a pair is not finite, a g or noise value is not positive, or z, g or c reaches
 *   2^112, both symbols are erasures. So is a symbol whose partner's g is below 2^-119.
 * - Both layers have QPSK to 1024QAM. If n_layers is odd and the last layer has a cross gain, its partner is
 *   layers[n_layers], such as another user's: its symbols and gain are read, its noise_var may be NULL, and it is not
 *   demapped.
 * - A layer without a cross gain (a NULL entry) is demapped alone, with the N0 of softqam_layer, not sigma^2.
 * - A call on host memory with a GPU's context computes this on the CPU, by the context's threads. */
typedef struct softqam_segment {
    /** Symbols of all layers together, a multiple of n_layers; with 0 the pointers may be NULL and nothing is
     *  written. */
    size_t n_symbols;
    /** Position of the first symbol in its codeword, counted in symbols of all layers, a multiple of n_layers. */
    uint64_t first_symbol;
    /** Symbols of UCI before this segment (3GPP TS 38.212 clause 6.2.7), a multiple of n_layers, usually 0: added to
     *  first_symbol for the scrambling sequence and the parity of pi/2-BPSK. With descramble
     *  (first_symbol + n_symbols + scrambling_offset) * Qm must fit in 64 bits. The placeholder bits of UCI are not
     *  scrambled (3GPP TS 38.211 clause 6.3.1.1): the caller corrects their LLRs, by softqam_gold_sequence(). */
    uint64_t scrambling_offset;
    /** Receives the values, b0 of the first symbol first; any alignment. NULL for a segment with a codeword. */
    void *out;
    /** 0: each symbol's values lie side by side in `out`. Else bit planes, which undo the interleaver of 3GPP TS 38.212
     *  clause 5.4.2.2: bit k of symbol i goes to value k * plane_stride + i. At least n_symbols: E / Qm for part of a
     *  code block of E bits. Gaps between planes are not written; no input may lie there. Must be 0 with a codeword. */
    size_t plane_stride;
    /** From one symbol of a layer to its next, in symbols (with symbols_q: in components); n_layers for layers
     *  interleaved as [resource element][layer]. 0 stands for 1. */
    size_t symbol_stride;
    /** From one noise value of a layer to its next, in floats. 0: one value for all symbols of the layer. */
    size_t noise_stride;
    /** Symbol i of the segment is symbol i / n_layers of layer i % n_layers (3GPP TS 38.211 clauses 6.3.1.3, 7.3.1.3).
     *  Layers from n_layers on are ignored, but for a partner. */
    softqam_layer layers[SOFTQAM_MAX_LAYERS];
    unsigned n_layers;             /**< 1 to SOFTQAM_MAX_LAYERS; pi/2-BPSK: 1. 0 stands for 1. */
    softqam_modulation modulation; /**< SOFTQAM_MODULATION_DEFAULT: the demodulator's */
    softqam_noise_form noise_form; /**< SOFTQAM_NOISE_FORM_DEFAULT: the demodulator's */
    float input_scale;             /**< as in softqam_demodulator_config; 0: the demodulator's */
    float llr_scale;               /**< as in softqam_demodulator_config; 0: the demodulator's */
    /** 1: LLRs are descrambled (3GPP TS 38.211 clauses 6.3.1.1, 7.3.1.1): LLR k of symbol i changes its sign if bit
     *  (first_symbol + scrambling_offset + i) * Qm + k of the Gold sequence of c_init is 1 (in f16 and f32 that of a
     *  zero too). Erasures stay +0. 0: they are not. */
    unsigned descramble;
    uint32_t c_init; /**< start of 38.211 clause 5.2.1's Gold sequence: 0 to 2^31 - 1; 0 if descramble is 0 */
    /** Modulation of the last layer's partner, if n_layers is odd and that layer has a cross gain; else 0. 0: the
     *  segment's. */
    softqam_modulation partner_modulation;
    softqam_codeword codeword; /**< where the LLRs go; all 0: to `out` */
    /** cross_gain[j]: NULL, or the first c of layers 2j and 2j + 1, I then Q, aligned to 4 bytes. */
    const float *cross_gain[SOFTQAM_MAX_LAYERS / 2];
    /** From one cross gain to the next, in pairs of floats. 0 stands for 1. 0 without cross gains. */
    size_t cross_stride;
    /** From one gain of a layer to its next, in floats. **0 stands for noise_stride**: with one noise value
     *  (noise_stride 0) and a gain for each symbol set it. 0 without gains. */
    size_t gain_stride;
    /** NULL, or what this segment's symbols are added to: in device memory for calls on device memory; aligned to 8
     *  bytes; must not overlap inputs and outputs. Segments and calls may share it. On a CPU counting adds 30 to 90 %
     *  to the time of a slot. A GPU computes the LLRs once more, in 11 to 16 us a slot, and calls on host memory that
     *  count run on the CPU. */
    softqam_statistics *statistics;
    uint64_t reserved[3]; /**< 0 */
} softqam_segment;

/**
 * Demodulates segments in host memory with one call, such as a slot's: one for each codeword, or for each codeword and
 * OFDM symbol. Returns once all are written. config.noise does not matter. On a GPU all memory is staged, pinned or
 * not, except for a single segment laid out as softqam_demodulate() has it.
 *
 * @param demodulator  formats, scales and sign
 * @param segments     n_segments segments. No output may overlap an input (gaps left by strides count as part of a
 *                     buffer) or values that another segment writes. Segments of one codeword share its buffers, those
 *                     of one code block its bit planes. Alignment as for softqam_demodulate()
 * @param n_segments   any number; 0 does nothing
 * @return as softqam_demodulate(); SOFTQAM_ERROR_INVALID_ARGUMENT also if a segment goes beyond its codeword
 *         (first_symbol + n_symbols > n_bits / Qm), or all segments have more symbols than a size_t holds. Overlaps are
 *         found within a segment only, device memory that is passed by mistake only in the first segment with symbols.
 *         After other errors soft buffers are undefined too: a call with combine 1 cannot be repeated
 */
SOFTQAM_API softqam_status softqam_demodulate_segments(const softqam_demodulator *demodulator,
                                                       const softqam_segment *segments, size_t n_segments);

/**
 * Destroys a demodulator. Memory from softqam_host_alloc() and work in the caller's CUDA streams stay. Thread safety:
 * no other call on this demodulator may be under way or follow.
 * @param demodulator  the demodulator, or NULL
 */
SOFTQAM_API void softqam_demodulator_destroy(softqam_demodulator *demodulator);

/** Returns a demodulator's context: that of its configuration, or the default one.
 * @param demodulator  the demodulator
 * @return the context, valid as long as the demodulator; only its creator destroys it. NULL for NULL. */
SOFTQAM_API softqam_context *softqam_demodulator_context(const softqam_demodulator *demodulator);

/**
 * Allocates host memory, aligned to 4096 bytes: page-locked if the context is a GPU, else pageable.
 * @param context  the context; the memory may outlive it and be used with any other
 * @param nbytes   size; 0 is taken as 1
 * @param memory   receives the pointer, or NULL on failure; freed with softqam_host_free()
 * @return also SOFTQAM_ERROR_OUT_OF_MEMORY; CUDA: SOFTQAM_ERROR_CUDA
 */
SOFTQAM_API softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory);

/** Frees memory from softqam_host_alloc(), and only that; NULL is ignored.
 * @param memory  the memory */
SOFTQAM_API void softqam_host_free(void *memory);

/**
 * Writes the scrambling sequence c(n) of 3GPP TS 38.211 clause 5.2.1, from any n on; segments with `descramble` need
 * none. For PDSCH c_init is RNTI 2^15 + q 2^14 + n_ID (clause 7.3.1.1), for PUSCH RNTI 2^15 + n_ID, for message A
 * RA-RNTI 2^16 + RAPID 2^10 + n_ID (6.3.1.1).
 *
 * @param c_init     0 to 2^31 - 1
 * @param first_bit  n of the first bit; any position costs the same
 * @param n_bits     any number; with 0 nothing is done and `bits` may be NULL
 * @param bits       receives (n_bits + 7) / 8 bytes: c(first_bit + k) is bit k % 8, counted from the lowest, of byte
 *                   k / 8; the bits after the last one are 0. Any alignment
 * @return no other status
 */
SOFTQAM_API softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits);

/** @param modulation  a modulation
 * @return bits of a symbol, Qm of 3GPP TS 38.214: 1, 2, 4, 6, 8 or 10; 8 for SOFTQAM_MODULATION_DEFAULT; 0 for an
 * unknown value */
SOFTQAM_API unsigned softqam_bits_per_symbol(softqam_modulation modulation);

/** @param format  an input format
 * @return bytes of a symbol: 8 for cf32, 4 for cs16 and cf16, 2 for cs8; 0 for an unknown value */
SOFTQAM_API size_t softqam_input_symbol_nbytes(softqam_input_format format);

/** @param format  an output format
 * @param modulation  a modulation
 * @param n_symbols  any number
 * @return bytes of n_symbols symbols' values: n_symbols * softqam_bits_per_symbol() times 1 for s8 and u8, 2 for s16
 * and f16, 4 for f32; 0 for an unknown value, and if the product exceeds a size_t */
SOFTQAM_API size_t softqam_output_nbytes(softqam_output_format format, softqam_modulation modulation, size_t n_symbols);

/** @param format  an input format
 * @return the factor that config.input_scale 0 stands for; 0 for an unknown value */
SOFTQAM_API float softqam_input_default_scale(softqam_input_format format);

/** @param demodulator  the demodulator
 * @return the backend of its context: "cpu" or "cuda"; "none" for NULL. Lives as long as the library. */
SOFTQAM_API const char *softqam_backend_name(const softqam_demodulator *demodulator);

/** @param demodulator  the demodulator
 * @return a line for people, such as "avx512, 2 threads" or "NVIDIA H200, 3 streams of 1048576 symbols"; "" for NULL.
 * Lives as long as the demodulator. */
SOFTQAM_API const char *softqam_backend_detail(const softqam_demodulator *demodulator);

/** @param status  a status
 * @return a phrase for a status, such as "invalid argument"; "unknown status" for an unknown number. Lives as long as
 * the library. */
SOFTQAM_API const char *softqam_status_string(softqam_status status);

/** @return the cause of the last failure in this thread: one line without a line end, with numbers in the caller's
 * locale; "" if there was none. The thread's next failure overwrites it. */
SOFTQAM_API const char *softqam_error_message(void);

/** @return the version of the linked library, "major.minor.patch". Lives as long as the library. */
SOFTQAM_API const char *softqam_version(void);

#ifdef __cplusplus
}
#endif

#endif
