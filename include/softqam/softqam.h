/* SPDX-License-Identifier: MIT */
/**
 * @file softqam.h
 * softqam, the soft demapper of a 5G NR receiver, turns I/Q symbols into LLRs, with the same bytes on every backend.
 *
 * Conventions, unless stated otherwise:
 *
 * - Zero **structures** first, except softqam_context_config: 0 selects each default. Reserved fields must be 0.
 * - **Words.** A symbol belongs to one layer of one resource element. A pair is two layers.
 * - **LLRs** are positive for bit 0, and come b0 first. Constellations are those of 3GPP TS 38.211, clause 5.1, with
 *   unit mean energy.
 * - **N0** is the variance E|n|^2 of a symbol's complex noise, after input_scale: 10^(-SNR/10). If it is not positive
 *   and finite, the symbol is an **erasure**, whose LLRs are 0.
 * - **Strides** count an array's entries, not bytes.
 * - **Memory.** Symbols and values in host memory may have any alignment; noise values and gains are aligned to 4
 *   bytes. Outputs must overlap neither inputs nor each other; gaps left by strides belong to a buffer. A count of 0
 *   does nothing; pointers may then be NULL.
 * - **Failures** are statuses; softqam_error_message() has details. The library never prints, exits or aborts.
 * - **Threads** may call any function at once, with the same objects, even for parts of one codeword (without
 *   repetition). A softqam_.._destroy() must come last.
 * - **Real time**: make a CPU context with n_threads 1. Its demodulators' calls make no system call, allocate nothing,
 *   never block, need no softqam_context_prepare(), and take at most 64 KiB of stack.
 *
 * After fork() the child may use its parent's objects, without their threads, unless a GPU was used or another thread
 * was making, preparing, destroying or first using an object.
 */
#ifndef SOFTQAM_SOFTQAM_H
#define SOFTQAM_SOFTQAM_H

#include <stddef.h>
#include <stdint.h>

/** Marks exported functions. */
#define SOFTQAM_API __attribute__((visibility("default")))

/** Raised when programs or bytes must change. */
#define SOFTQAM_VERSION_MAJOR 1
/** Raised when something is added. */
#define SOFTQAM_VERSION_MINOR 0
/** Raised otherwise. */
#define SOFTQAM_VERSION_PATCH 0
/** This header's version as one number. */
#define SOFTQAM_VERSION (10000 * SOFTQAM_VERSION_MAJOR + 100 * SOFTQAM_VERSION_MINOR + SOFTQAM_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a call. Every call may return SOFTQAM_OK and SOFTQAM_ERROR_INVALID_ARGUMENT and, with a GPU's context,
 * all but SOFTQAM_ERROR_SYSTEM; descriptions add others. Objects stay usable. */
typedef enum softqam_status {
    SOFTQAM_OK = 0, /**< done */
    /** A pointer is NULL or misaligned, buffers overlap, a byte count exceeds PTRDIFF_MAX, or an argument or field is
     *  out of range, unsupported or contradicts another. No buffer was written. */
    SOFTQAM_ERROR_INVALID_ARGUMENT = 1,
    /** The build lacks the backend or the device's code, there is no such usable device, or softqam_cuda.h was called
     *  with a CPU's context. */
    SOFTQAM_ERROR_BACKEND_UNAVAILABLE = 2,
    /** Out of host, pinned or device memory. */
    SOFTQAM_ERROR_OUT_OF_MEMORY = 3,
    /** The system refused a thread, its CPUs or its priority. */
    SOFTQAM_ERROR_SYSTEM = 4,
    /** A CUDA call failed, which the error message names. */
    SOFTQAM_ERROR_CUDA = 5
} softqam_status;

/** The processor that computes. */
typedef enum softqam_backend {
    SOFTQAM_BACKEND_CPU = 0, /**< never touches a GPU or its driver */
    SOFTQAM_BACKEND_CUDA = 1 /**< one GPU */
} softqam_backend;

/** Modulations. */
typedef enum softqam_modulation {
    /** 256QAM; in softqam_segment the demodulator's. */
    SOFTQAM_MODULATION_DEFAULT = 0,
    /** 1 bit: 0 is (1 + j) / sqrt(2), 1 its negative. */
    SOFTQAM_MODULATION_BPSK = 1,
    /** 1 bit: BPSK, with odd symbols rotated by +90 degrees. The first symbol's number is 0 in softqam_demodulate(),
     *  first_symbol + scrambling_offset in a segment. */
    SOFTQAM_MODULATION_PI2_BPSK = 2,
    SOFTQAM_MODULATION_QPSK = 3,   /**< 2 bits */
    SOFTQAM_MODULATION_16QAM = 4,  /**< 4 bits */
    SOFTQAM_MODULATION_64QAM = 5,  /**< 6 bits */
    SOFTQAM_MODULATION_256QAM = 6, /**< 8 bits */
    SOFTQAM_MODULATION_1024QAM = 7 /**< 10 bits */
} softqam_modulation;

/** A symbol in memory: I then Q, in the machine's byte order. */
typedef enum softqam_input_format {
    SOFTQAM_INPUT_CF32 = 0, /**< two binary32 (IEEE-754) */
    SOFTQAM_INPUT_CS16 = 1, /**< two int16 */
    SOFTQAM_INPUT_CS8 = 2,  /**< two int8 */
    SOFTQAM_INPUT_CF16 = 3  /**< two binary16 */
} softqam_input_format;

/** The output: one value for each bit of a symbol. */
typedef enum softqam_output_format {
    /** int8: the LLR in nats times llr_scale, rounded once to nearest even, within +-llr_limit. */
    SOFTQAM_OUTPUT_S8 = 0,
    SOFTQAM_OUTPUT_S16 = 1, /**< int16: likewise */
    SOFTQAM_OUTPUT_F16 = 2, /**< binary16: the LLR in nats, likewise rounded and limited */
    SOFTQAM_OUTPUT_F32 = 3, /**< binary32: the LLR in nats */
    /** Soft bits of 256QAM, a byte each, as liquid-dsp 1.5 computes them, without its defects. 255: certainly bit 0; 0:
     * certainly bit 1; 127: undecided, or a component is not finite. Components are clamped to [-3, +3]. */
    SOFTQAM_OUTPUT_U8 = 4
} softqam_output_format;

/** The bit that a positive LLR, or a byte above 127, means. */
typedef enum softqam_sign {
    SOFTQAM_SIGN_POSITIVE_IS_0 = 0, /**< as in OCUDU, OAI and cuPHY */
    SOFTQAM_SIGN_POSITIVE_IS_1 = 1  /**< as in Sionna */
} softqam_sign;

/** The number of a call's noise values; segments have noise_stride instead. */
typedef enum softqam_noise {
    SOFTQAM_NOISE_PER_SYMBOL = 0, /**< one for each symbol */
    SOFTQAM_NOISE_PER_CALL = 1    /**< one for all symbols */
} softqam_noise;

/** The meaning of a noise value. */
typedef enum softqam_noise_form {
    SOFTQAM_NOISE_FORM_DEFAULT = 0, /**< N0; in softqam_segment the demodulator's */
    SOFTQAM_NOISE_FORM_N0 = 1,      /**< N0; without gains positive finite values are clamped to [2^-100, 2^40] */
    SOFTQAM_NOISE_FORM_INVERSE = 2  /**< 1/N0, likewise clamped to [2^-40, 2^100] */
} softqam_noise_form;

/** The CPU with its threads, or one GPU; one of each is enough. */
typedef struct softqam_context softqam_context;

/** Formats, scales and sign. It is immutable and cheap to make. */
typedef struct softqam_demodulator softqam_demodulator;

/** Settings of a context. Fill it with softqam_context_config_init(): `device` 0 is a GPU. */
typedef struct softqam_context_config {
    softqam_backend backend; /**< CPU or GPU */
    /** CPU threads of a call, or of its staging for CUDA, including the calling one; at most 1024. 0: one per CPU in
     *  `cpus`. If threads cannot be started, calls do without, and softqam_context_prepare() says why. */
    unsigned n_threads;
    /** CPUs that the context's threads share: n_cpus numbers, 0 to 1023. NULL: those of the thread that calls
     *  softqam_context_create(). */
    const unsigned *cpus;
    unsigned n_cpus; /**< length of `cpus`, at most 1024; 0 with NULL */
    /** 0: SCHED_OTHER. 1 to 99: SCHED_FIFO with that priority, which needs CAP_SYS_NICE or RLIMIT_RTPRIO. */
    int thread_priority;
    /** CUDA: ordinal of the device. -1: the current one in softqam_context_create(). */
    int device;
    uint32_t reserved_words[3]; /**< 0 */
    /** CUDA: chunks of a host-memory call in flight, each on its own stream, 1 to 64. 0: 3. */
    unsigned n_streams;
    uint32_t reserved_word; /**< 0 */
    /** CUDA: most symbols of such a chunk, 1 to 2^28. 0: 2^20. */
    size_t chunk_symbols;
    /** CPU: "avx512", "avx2", "neon" or "portable" loops; an invalid argument if they do not run here. NULL or "": the
     *  environment variable SOFTQAM_CPU_VARIANT if it runs here, else the fastest. */
    const char *cpu_variant;
    uint64_t reserved[8]; /**< 0 */
} softqam_context_config;

/** Fills in the defaults.
 * @param config  the structure */
SOFTQAM_API void softqam_context_config_init(softqam_context_config *config);

/**
 * Makes a context.
 * @param context  receives the object, or NULL on failure
 * @param config   settings, which are copied; NULL: the defaults
 * @return also SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_OUT_OF_MEMORY
 */
SOFTQAM_API softqam_status softqam_context_create(softqam_context **context, const softqam_context_config *config);

/** For softqam_context_prepare(), or-ed. */
enum {
    SOFTQAM_PREPARE_THREADS = 1,    /**< the CPU threads */
    SOFTQAM_PREPARE_KERNELS = 2,    /**< CUDA: the demodulators' kernels */
    SOFTQAM_PREPARE_HOST_CALLS = 4, /**< CUDA: streams and memory of host-memory calls */
    SOFTQAM_PREPARE_ALL = 7         /**< all of these */
};

/**
 * Creates what demodulators' first calls would create. After SOFTQAM_PREPARE_ALL host-memory calls allocate nothing
 * and start no thread, but may wait for a GPU's staging memory. The context's threads block all signals.
 * @param context  the context
 * @param what     SOFTQAM_PREPARE_.. values; those of the other backend do nothing
 * @return also SOFTQAM_ERROR_SYSTEM, SOFTQAM_ERROR_OUT_OF_MEMORY
 */
SOFTQAM_API softqam_status softqam_context_prepare(softqam_context *context, unsigned what);

/**
 * Destroys a context, which lives on until its last demodulator is destroyed.
 * @param context  the context, or NULL
 */
SOFTQAM_API void softqam_context_destroy(softqam_context *context);

/** Settings of a demodulator. */
typedef struct softqam_demodulator_config {
    /** NULL: a shared one with default settings. */
    softqam_context *context;
    softqam_modulation modulation;       /**< 0: 256QAM */
    softqam_input_format input_format;   /**< 0: SOFTQAM_INPUT_CF32 */
    softqam_output_format output_format; /**< 0: SOFTQAM_OUTPUT_S8 */
    softqam_sign sign;                   /**< 0: SOFTQAM_SIGN_POSITIVE_IS_0 */
    softqam_noise noise;                 /**< 0: SOFTQAM_NOISE_PER_SYMBOL */
    softqam_noise_form noise_form;       /**< 0: SOFTQAM_NOISE_FORM_N0 */
    /** Positive finite factor that brings symbols to unit mean energy. 0: 1 for cf32 and cf16, 1/8192 for cs16, 1/64
     *  for cs8. */
    float input_scale;
    /** Steps per nat; transmissions that are combined need the same. s8: 2^-10 to 2^20; 0: 6. s16: 2^-10 to 2^14; 0:
     *  64. Other formats: 0 or 1. */
    float llr_scale;
    /** Largest magnitude of an LLR and of sums in soft buffers. s8: 1 to 127 steps; s16: 1 to 32767. f16: 1 to 65504
     *  nats, a binary16 number. 0: the largest. f32, u8: 0. */
    int llr_limit;
    /** Least N0, for equalisers that write 0 for the best symbols: a smaller N0, even -infinity, counts as
     *  noise_floor; a 1/N0 above 1 / noise_floor, even +infinity, as that. NaN, an N0 of +infinity and a 1/N0 that is
     *  not positive stay erasures. It applies before gains. At most 2^40; below 2^-126 it counts as that. 0: none.
     *  u8: 0. */
    float noise_floor;
    uint64_t reserved[8]; /**< 0 */
} softqam_demodulator_config;

/** Fills in the defaults.
 * @param config  the structure */
SOFTQAM_API void softqam_demodulator_config_init(softqam_demodulator_config *config);

/**
 * Makes a demodulator.
 * @param demodulator  receives the object, or NULL on failure
 * @param config       settings, which are copied; NULL: the defaults
 * @return also SOFTQAM_ERROR_OUT_OF_MEMORY
 */
SOFTQAM_API softqam_status softqam_demodulator_create(softqam_demodulator **demodulator,
                                                      const softqam_demodulator_config *config);

/**
 * Demodulates symbols in host memory with the demodulator's modulation, and returns once `out` is written.
 *
 * LLRs are exact max-log: with r the symbol after input_scale and x over the constellation's points
 *
 *     LLR(b) = (min over x with b = 1 of |r - x|^2 - min over x with b = 0 of |r - x|^2) / N0
 *
 * The error in nats, before rounding to the format, is at most 2^-24 (2 + 6 |v|) / N0 + 2^-23 |LLR|, with v the
 * component of b, |v| below 6e37; for BPSK 5 * 2^-24 |LLR|; with gains twice that, and for BPSK 6 * 2^-24 (|I| + |Q|) /
 * N0 more, with I and Q those of r. A component of r below 2^-63 in magnitude counts as zero; one that is not finite
 * makes an erasure. No LLR is NaN or infinite: an overflow gives llr_limit, or FLT_MAX for f32.
 *
 * The bytes do not depend on how calls are split (pi/2-BPSK: after an even symbol count), nor on the caller's
 * floating-point environment, which is restored but for exception flags.
 *
 * While another call uses the context's threads, this one runs on the calling thread only. A GPU uses buffers in place
 * if all are pinned, and else stages them.
 *
 * @param demodulator  the demodulator
 * @param symbols      n_symbols symbols in the input format
 * @param noise_var    as config.noise says; NULL for u8
 * @param n_symbols    any number
 * @param out          receives softqam_output_nbytes() bytes: each symbol's values
 * @return with a GPU's context also SOFTQAM_ERROR_INVALID_ARGUMENT for unmanaged device memory; after other failures
 *         `out` is undefined
 */
SOFTQAM_API softqam_status softqam_demodulate(const softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, void *out);

/** Largest number of layers of a codeword. */
#define SOFTQAM_MAX_LAYERS 4

/** The places of one layer's symbols, noise values and gains. */
typedef struct softqam_layer {
    const void *symbols;    /**< the segment's first symbol of the layer; with symbols_q the first I */
    const void *symbols_q;  /**< NULL, or the first Q of separate arrays */
    const float *noise_var; /**< the first noise value; NULL for u8 */
    /** NULL, or the first gain g of symbols z = g x + n that are not divided by the channel, with N0 the variance of n
     *  after input_scale. Matched filter: z = h* y, g = |h|^2, N0 = |h|^2 times that of y. Biased MMSE: g = b, N0 = b
     *  (1 - b). For all layers or none.
     *
     *  LLRs are those of z / g with N0 / g^2, in any units. A gain that is not positive and finite, or an llr_scale *
     *  g^2 / N0 below 2^-120, makes an erasure; above FLT_MAX that counts as FLT_MAX. */
    const float *gain;
    uint64_t reserved[2]; /**< 0 */
} softqam_layer;

#include <softqam/softqam_ldpc.h>

/** Counts for EVM and mutual information. Zero them: calls add, even several at once. Discarded code blocks do not
 * count.
 *
 * The numbers from n_sampled on are of a subset: the first 64 of every 512 symbols of the codeword, without erasures.
 * Segments with a cross gain add no energies: if others share the structure, EVM is wrong. Below, r is a symbol after
 * input_scale and gain. */
typedef struct softqam_statistics {
    uint64_t n_symbols; /**< symbols demodulated */
    uint64_t n_erased;  /**< erasures among them */
    /** LLRs of this transmission whose magnitude is llr_limit or, for f32, FLT_MAX; u8: bytes of 0 and 255. */
    uint64_t n_limited;
    uint64_t n_sampled; /**< symbols of the subset, perhaps 0. u8: 0 from here on */
    /** Sum of 2^24 min(|r - x|^2, 16) in binary32, x the nearest point; each rounded to nearest even. EVM^2 is
     *  error_energy / (2^24 n_sampled). */
    uint64_t error_energy;
    uint64_t symbol_energy; /**< sum of 2^24 min(|r|^2, 16), likewise; the mean is 1 + N0 */
    /** Sum over LLRs of 2^16 (1 - H(1 / (1 + e^|LLR|))), rounded, H the binary entropy in bits; |LLR| is that of
     *  the value written or added, in nats, rounded to 1/16 and limited to 255/16. A bit's mutual information is about
     *  information / (2^16 Qm n_sampled) * (n_symbols - n_erased) / n_symbols. */
    uint64_t information;
} softqam_statistics;

/** Consecutive symbols of a codeword: all or a part, such as an OFDM symbol's. u8 takes one layer of 256QAM in symbol
 * order, without gain, descramble and codeword.
 *
 * **Two layers jointly.** With cross_gain[j] the layers e = 2j and f = 2j + 1, of QPSK to 1024QAM, are demapped
 * jointly: with |y - h_e x_e - h_f x_f|^2 over the points of both, in place of |r - x|^2. Symbols are then
 * matched-filter outputs z_k = h_k^H y of whitened antennas after input_scale, gains g_k = |h_k|^2, cross gains c =
 * h_e^H h_f, and noise values the variance sigma^2 of an antenna's noise. A layer's LLRs are divided by its own noise
 * value; give both layers the same. A layer without a cross gain is demapped alone, with the N0 of softqam_layer. If
 * n_layers is odd and the last layer has a cross gain, its partner is layers[n_layers], such as another user's, of
 * which only symbols and gain are read. Both symbols are erasures if z, g, c or a noise value that is read is not
 * finite, or g or such a noise value is not positive.
 *
 * An LLR's error in nats, before rounding to the format, is at most 88 * 2^-24 / sigma^2 times the sum of g_e |x_e|^2,
 * g_f |x_f|^2, 2 |c x_e x_f|, 2 |x_e z_e| and 2 |x_f z_f|, with x the outermost points. */
typedef struct softqam_segment {
    size_t n_symbols; /**< symbols of all layers together, a multiple of n_layers */
    /** The first symbol's position in its codeword, counted likewise, a multiple of n_layers. */
    uint64_t first_symbol;
    /** Symbols of UCI before this segment (38.212, 6.2.7), a multiple of n_layers. */
    uint64_t scrambling_offset;
    void *out; /**< receives the values; NULL with a codeword */
    /** 0: each symbol's values lie side by side in `out`. Else bit k of symbol i goes to value k * plane_stride + i,
     *  which undoes the interleaver of 38.212, 5.4.2.2. At least n_symbols: E / Qm for part of a code block of E bits.
     *  0 with a codeword. */
    size_t plane_stride;
    /** From one symbol of a layer to its next (with symbols_q: in components); n_layers if layers are interleaved. 0
     *  stands for 1. */
    size_t symbol_stride;
    /** From one noise value of a layer to its next. 0: one value for all its symbols. */
    size_t noise_stride;
    /** Symbol i is symbol i / n_layers of layer i % n_layers. Other layers are ignored, except a partner. */
    softqam_layer layers[SOFTQAM_MAX_LAYERS];
    unsigned n_layers;             /**< 1 to SOFTQAM_MAX_LAYERS; pi/2-BPSK: 1. 0 stands for 1. */
    softqam_modulation modulation; /**< 0: the demodulator's */
    softqam_noise_form noise_form; /**< 0: the demodulator's */
    float input_scale;             /**< 0: the demodulator's */
    float llr_scale;               /**< 0: the demodulator's */
    /** 1: LLRs are descrambled (38.211, 7.3.1.1, 6.3.1.1): LLR k of symbol i, even a zero, changes its sign if bit
     *  (first_symbol + scrambling_offset + i) * Qm + k, which must fit in 64 bits, of c_init's sequence is 1. Erasures
     *  stay +0. */
    unsigned descramble;
    uint32_t c_init; /**< as in softqam_gold_sequence(); 0 if descramble is 0 */
    /** Modulation of the partner layers[n_layers]. 0: the segment's; without a partner 0. */
    softqam_modulation partner_modulation;
    softqam_codeword codeword; /**< where the LLRs go; all 0: to `out` */
    /** NULL, or the first cross gain of layers 2j and 2j + 1, I then Q. */
    const float *cross_gain[SOFTQAM_MAX_LAYERS / 2];
    /** From one cross gain to the next, in complex numbers. 0 stands for 1. 0 without cross gains. */
    size_t cross_stride;
    /** From one gain of a layer to its next. **0 stands for noise_stride**. 0 without gains. */
    size_t gain_stride;
    /** NULL, or counts to add to, aligned to 8 bytes, in the call's kind of memory. */
    softqam_statistics *statistics;
    uint64_t reserved[3]; /**< 0 */
} softqam_segment;

/**
 * Demodulates segments in host memory, such as a slot's codewords, and returns once all are written. With a GPU's
 * context, CPU threads compute pairs and statistics.
 * @param demodulator  the demodulator
 * @param segments     n_segments segments; those of one codeword share its buffers. Transmissions that share a buffer
 *                     need a call each. A segment of 12 symbols takes a Xeon 0.1 to 0.6 us to soft buffers
 * @param n_segments   any number
 * @return as softqam_demodulate(). Overlaps between segments or between block_buffers are not detected, and device
 *         memory only in the first segment. After other failures soft buffers are undefined
 */
SOFTQAM_API softqam_status softqam_demodulate_segments(const softqam_demodulator *demodulator,
                                                       const softqam_segment *segments, size_t n_segments);

/**
 * Destroys a demodulator.
 * @param demodulator  the demodulator, or NULL
 */
SOFTQAM_API void softqam_demodulator_destroy(softqam_demodulator *demodulator);

/** @param demodulator  the demodulator, or NULL
 * @return its context, which only its creator destroys; NULL for NULL */
SOFTQAM_API softqam_context *softqam_demodulator_context(const softqam_demodulator *demodulator);

/**
 * Allocates host memory, aligned to 4096 bytes, page-locked for a GPU.
 * @param context  the context, which the memory may outlive
 * @param nbytes   size; 0 is taken as 1
 * @param memory   receives the pointer, or NULL on failure
 * @return also SOFTQAM_ERROR_OUT_OF_MEMORY
 */
SOFTQAM_API softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory);

/** Frees memory from softqam_host_alloc().
 * @param memory  the memory, or NULL */
SOFTQAM_API void softqam_host_free(void *memory);

/**
 * Writes the scrambling sequence c(n) of 38.211, 5.2.1. c_init is RNTI 2^15 + q 2^14 + n_ID for PDSCH, RNTI 2^15 + n_ID
 * for PUSCH (7.3.1.1, 6.3.1.1).
 *
 * @param c_init     0 to 2^31 - 1
 * @param first_bit  n of the first bit; the last one's must fit in 64 bits
 * @param n_bits     any number
 * @param bits       receives (n_bits + 7) / 8 bytes: c(first_bit + k) is bit k % 8, counted from the lowest, of byte k
 *                   / 8; the rest is 0
 * @return a status
 */
SOFTQAM_API softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits);

/** @param modulation  a modulation
 * @return Qm, the bits of a symbol; for SOFTQAM_MODULATION_DEFAULT 8, for an unknown value 0 */
SOFTQAM_API unsigned softqam_bits_per_symbol(softqam_modulation modulation);

/** @param format  an input format
 * @return bytes of a symbol; 0 for an unknown value */
SOFTQAM_API size_t softqam_input_symbol_nbytes(softqam_input_format format);

/** @param format  an output format
 * @param modulation  a modulation
 * @param n_symbols  any number
 * @return bytes of these symbols' values; 0 for an unknown value, and if they exceed a size_t */
SOFTQAM_API size_t softqam_output_nbytes(softqam_output_format format, softqam_modulation modulation, size_t n_symbols);

/** @param format  an input format
 * @return the default input_scale; 0 for an unknown value */
SOFTQAM_API float softqam_input_default_scale(softqam_input_format format);

/** @param demodulator  the demodulator, or NULL
 * @return its context's backend: "cpu" or "cuda"; "none" for NULL */
SOFTQAM_API const char *softqam_backend_name(const softqam_demodulator *demodulator);

/** @param demodulator  the demodulator, or NULL
 * @return a line for people, such as "avx512, 2 threads" (as configured), which the demodulator keeps; "" for NULL */
SOFTQAM_API const char *softqam_backend_detail(const softqam_demodulator *demodulator);

/** @param status  a status
 * @return a phrase, such as "invalid argument" */
SOFTQAM_API const char *softqam_status_string(softqam_status status);

/** @return the cause of this thread's last failure: one line without a line end, which the next one overwrites; or
 *         "" */
SOFTQAM_API const char *softqam_error_message(void);

/** @return the linked library's version, "major.minor.patch" */
SOFTQAM_API const char *softqam_version(void);

#ifdef __cplusplus
}
#endif

#endif
