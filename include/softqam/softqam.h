/* SPDX-License-Identifier: MIT */
/**
 * @file softqam.h
 * softqam: the soft demapper of a 5G NR receiver. It turns equalised I/Q symbols into LLRs, with the same bytes from
 * every backend. This header includes softqam_ldpc.h; softqam_cuda.h adds the calls for device memory.
 *
 * The shortest program has four calls: softqam_demodulator_config_init() for a structure with the settings (256QAM,
 * cf32 in, s8 LLRs out, one N0 per symbol, on the CPU), softqam_demodulator_create(), softqam_demodulate() as often as
 * you like, and softqam_demodulator_destroy().
 *
 * Two objects and two structures:
 * - `softqam_context` is where the work is done: the CPU and its threads, or one GPU. One per process, or one per GPU,
 *   is enough. It creates threads, streams and memory when a call first needs them, or in softqam_context_prepare().
 * - `softqam_demodulator` holds the formats of input and output, the scales and the sign. It is immutable, takes
 *   microseconds to create, occupies a few KiB, and keeps its context alive. By default demodulators share one context.
 * - `softqam_segment` describes consecutive symbols of one codeword: modulation, layers, noise, scrambling.
 * - `softqam_codeword`, a member of the segment, says where the LLRs go: to the LDPC decoder's buffers, one for each
 *   code block. Without it they go to segment.out.
 *
 * The library never prints, exits or aborts. Every failure is a status; softqam_error_message() has the details. Any
 * number of threads may call any function at once, with the same objects too, unless the function says otherwise.
 *
 * ## Bits, sign, noise variance
 * The constellations are those of 3GPP TS 38.211 clause 5.1, with unit mean symbol energy. Bits come in 3GPP order, b0
 * first. Even bits lie on I, odd bits on Q; BPSK's bit lies on both.
 *
 * **A positive LLR means bit 0**, unless config.sign says otherwise. MATLAB's 5G Toolbox, OCUDU (formerly srsRAN
 * Project), OAI, cuPHY and AFF3CT have this sign; Sionna, GNU Radio, CommPy and srsRAN 4G have the opposite one.
 *
 * **The noise variance N0 is that of the complex noise**, E|n|^2, if symbols have unit mean energy (after
 * input_scale): 10^(-SNR/10) at an Es/N0 of SNR dB, twice the variance of one component. A noise value that is not
 * positive and finite marks an erasure, whose LLRs are 0. After an MMSE equaliser, divide each symbol by its bias b <
 * 1, which makes its N0 (1 - b) / b, or pass b as its gain (softqam_layer). A bias that is neither divided out nor
 * passed costs up to several dB in fading, and so does one mean N0 for many symbols.
 *
 * **Max-log** is not approximated further. For 64QAM to 1024QAM it costs 0.13 to 0.49 dB against log-MAP at rate 1/2,
 * 0.02 to 0.13 dB at rate 2/3; if all LLRs are multiplied by the best factor, 0.05 to 0.18 dB and 0.01 to 0.03 dB (by
 * mutual information: reference/quality.py).
 *
 * **Scale.** s8 and s16 LLRs have config.llr_scale steps per nat; a floating-point decoder must divide them by it.
 * OCUDU takes s8 at scale 6 with limit 120, OAI s16 at 6 with 2047, cuPHY f16. Transmissions can be combined only if
 * all have the same llr_scale.
 *
 * ## In a receiver
 * - A real-time thread uses a context with `n_threads = 1`: a CPU call then makes no system call, allocates no memory
 *   and never blocks. With a GPU, create the demodulators, then call softqam_context_prepare() before the first slot.
 * - Strides count elements, never bytes: symbols (components, if I and Q are separate arrays), noise values, LLRs.
 * - A symbol of exactly zero is demodulated like any other; in OCUDU it is an erasure.
 * - UCI on PUSCH: pass consecutive UL-SCH symbols as a segment, with `scrambling_offset`. The placeholder bits x and y
 *   of 38.211 clause 6.3.1.1 are not scrambled. They are left to the caller: softqam_gold_sequence() says for
 *   which of them `descramble` changed the LLR's sign.
 *
 * ## Fork
 * A child of fork() may use and destroy its parent's objects if no other thread of the parent was creating, preparing,
 * destroying or first using a context at that moment. The child's calls run on the calling thread alone. It must not
 * use a context that has used a GPU: CUDA does not work in such a child.
 */
#ifndef SOFTQAM_SOFTQAM_H
#define SOFTQAM_SOFTQAM_H

#include <stddef.h>
#include <stdint.h>

/** Marks what the shared library exports. */
#define SOFTQAM_API __attribute__((visibility("default")))

/** Major version of this header, raised when programs linked with an older library (0.4 or later) no longer run.
 * softqam_version() returns the linked library's version. */
#define SOFTQAM_VERSION_MAJOR 0
/** Raised when something is added or, before 1.0, when the source interface changes. */
#define SOFTQAM_VERSION_MINOR 4
/** Raised otherwise. */
#define SOFTQAM_VERSION_PATCH 0
/** One number to compare: 10000 * major + 100 * minor + patch. */
#define SOFTQAM_VERSION (10000 * SOFTQAM_VERSION_MAJOR + 100 * SOFTQAM_VERSION_MINOR + SOFTQAM_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/** A call returns one of these. Zero is success; softqam_status_string() has a phrase for each. Each function lists the
 * statuses that it may return; "also if" adds causes to those documented at the status. */
typedef enum softqam_status {
    SOFTQAM_OK = 0, /**< done */
    /** A pointer is NULL that must not be; an argument or field is out of its documented range, contradicts another or
     *  is not supported by this version; or a reserved field is not 0. Nothing was done; no buffer was written. */
    SOFTQAM_ERROR_INVALID_ARGUMENT = 1,
    /** The build lacks the backend or code for the device, or the machine has no usable device of that number. */
    SOFTQAM_ERROR_BACKEND_UNAVAILABLE = 2,
    /** Host, page-locked or device memory could not be allocated. */
    SOFTQAM_ERROR_OUT_OF_MEMORY = 3,
    /** The operating system refused a thread, or its CPUs or priority. */
    SOFTQAM_ERROR_SYSTEM = 4,
    /** A CUDA call failed; softqam_error_message() names it and has CUDA's own text. */
    SOFTQAM_ERROR_CUDA = 5
} softqam_status;

/** The processor that computes. All backends give the same bytes. */
typedef enum softqam_backend {
    SOFTQAM_BACKEND_CPU = 0, /**< the CPU; never touches a GPU or its driver */
    SOFTQAM_BACKEND_CUDA = 1 /**< one GPU; without a usable device the context cannot be created */
} softqam_backend;

/** Modulations of 3GPP TS 38.211 clause 5.1. */
typedef enum softqam_modulation {
    /** In softqam_demodulator_config: 256QAM. In softqam_segment: the demodulator's. */
    SOFTQAM_MODULATION_DEFAULT = 0,
    /** Clause 5.1.2, 1 bit per symbol: bit 0 is (1 + j) / sqrt(2), bit 1 its negative: on the diagonal, not on the I
       axis. */
    SOFTQAM_MODULATION_BPSK = 1,
    /** Clause 5.1.1, 1 bit per symbol: BPSK rotated by +90 degrees (counter-clockwise) at odd positions. The
     *  first symbol of a segment has position first_symbol + scrambling_offset, that of softqam_demodulate() has 0. */
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

/** Format of the output: one value for each bit of a symbol. */
typedef enum softqam_output_format {
    /** LLRs as int8: the max-log LLR in nats times llr_scale, rounded once to nearest even, within +-llr_limit. */
    SOFTQAM_OUTPUT_S8 = 0,
    /** LLRs as int16, for decoders and soft buffers of 16 bits: as s8, with larger limits. */
    SOFTQAM_OUTPUT_S16 = 1,
    /** LLRs as IEEE-754 binary16: the max-log LLR in nats, rounded to nearest even. */
    SOFTQAM_OUTPUT_F16 = 2,
    /** LLRs as IEEE-754 binary32: the max-log LLR in nats. */
    SOFTQAM_OUTPUT_F32 = 3,
    /** Soft bits of 256QAM for liquid-dsp's users, one byte each: liquid-dsp 1.5's in 3GPP bit order, except for one
     *  byte of eight in two of the 256 decision regions, where liquid-dsp overlooks a neighbour. A byte of 255 means
     *  certainly bit 0, a byte of 0 certainly bit 1 (with SOFTQAM_SIGN_POSITIVE_IS_0), 127 undecided. u8 takes no
     *  noise variance, which costs 1.0 dB at rate 2/3 (by mutual information): feed decoders LLRs. */
    SOFTQAM_OUTPUT_U8 = 4
} softqam_output_format;

/** The bit that a positive LLR, or a byte above 127, means. */
typedef enum softqam_sign {
    SOFTQAM_SIGN_POSITIVE_IS_0 = 0, /**< 5G receivers */
    SOFTQAM_SIGN_POSITIVE_IS_1 = 1  /**< Sionna, GNU Radio, CommPy, srsRAN 4G */
} softqam_sign;

/** Says what `noise_var` of softqam_demodulate() and softqam_cuda_demodulate() points at. Segments have a stride
 * instead. */
typedef enum softqam_noise {
    SOFTQAM_NOISE_PER_SYMBOL = 0, /**< one value for each symbol, as an equaliser gives it */
    SOFTQAM_NOISE_PER_CALL = 1    /**< one value for all symbols of the call */
} softqam_noise;

/** Says what a noise value is. */
typedef enum softqam_noise_form {
    /** In softqam_demodulator_config: N0. In softqam_segment: the demodulator's. */
    SOFTQAM_NOISE_FORM_DEFAULT = 0,
    /** The noise variance N0. Without a gain positive finite values are clamped to [2^-100, 2^40]. */
    SOFTQAM_NOISE_FORM_N0 = 1,
    /** 1/N0, which saves a division per symbol. Without a gain it is clamped to [2^-40, 2^100]. */
    SOFTQAM_NOISE_FORM_INVERSE = 2
} softqam_noise_form;

/** A context computes: it is the CPU and its threads, or one GPU. Any number of demodulators and threads share one. */
typedef struct softqam_context softqam_context;

/** Formats, scales and sign, ready to demodulate. Immutable. */
typedef struct softqam_demodulator softqam_demodulator;

/** Settings of a context. Fill it with softqam_context_config_init(), then set fields. Do not just zero it: a zeroed
 * `device` would select GPU 0, not the current one. softqam_context_create() copies everything. */
typedef struct softqam_context_config {
    softqam_backend backend; /**< default SOFTQAM_BACKEND_CPU */
    /** CPU threads that may work on one call or stage pageable memory for CUDA, the calling thread included: at most
     *  1024. 0, the default: one per CPU in `cpus`. 1, for a real-time receiver: the calling thread only. The others
     *  are started when a call first needs them; if that fails, calls run on the calling thread, and
     *  softqam_context_prepare() says why. */
    unsigned n_threads;
    /** CPUs on which the context's threads may run: n_cpus numbers, 0 to 1023. All threads share the set; none is
     *  pinned to one CPU. The calling thread's affinity is not changed. NULL, the default: those that the thread
     *  calling softqam_context_create() may run on. */
    const unsigned *cpus;
    unsigned n_cpus; /**< length of `cpus`, at most 1024; 0 with NULL */
    /** Scheduling of the context's threads. 0, the default: SCHED_OTHER, whatever class the starting thread has. 1 to
     *  99: SCHED_FIFO with that priority, which needs CAP_SYS_NICE or RLIMIT_RTPRIO. */
    int thread_priority;
    /** CUDA: ordinal of the device; several devices need a context each. -1, the default: the device that is current
     *  in softqam_context_create(). */
    int device;
    uint32_t reserved_words[3]; /**< 0 */
    /** CUDA: chunks of a host-memory call in flight, each on its own stream, 1 to 64. 0, the default: 3. */
    unsigned n_streams;
    uint32_t reserved_word; /**< 0 */
    /** CUDA: largest number of symbols in a chunk of a host-memory call, 1 to 2^28. 0, the default: 2^20. After the
     *  first such call the device holds 20 * chunk_symbols bytes per stream (20 MiB by default). If a symbol takes
     *  more than 20 bytes for input, output and noise, a chunk has fewer symbols. Each of up to 32 staging threads
     *  holds at most another 8 MiB on the device and 8 MiB of pinned host memory. */
    size_t chunk_symbols;
    /** CPU: instruction set of the inner loops: "avx512", "avx2", "neon" or "portable", plain C, all with the same
     *  bytes. One that does not run here is refused. NULL, the default, or "": the value of the environment variable
     *  SOFTQAM_CPU_VARIANT if it runs here, else the fastest: see softqam_backend_detail(). */
    const char *cpu_variant;
    uint64_t reserved[8]; /**< 0 */
} softqam_context_config;

/** Fills a context's settings with the defaults; NULL is ignored.
 * @param config  the structure */
SOFTQAM_API void softqam_context_config_init(softqam_context_config *config);

/**
 * Makes a context, without threads or device memory yet; with SOFTQAM_BACKEND_CUDA it checks that the device exists.
 * @param context  receives the object, or NULL on failure; the caller destroys it with softqam_context_destroy()
 * @param config   the settings, read during the call only; NULL: the defaults
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT, SOFTQAM_ERROR_OUT_OF_MEMORY (of the host); with
 *         SOFTQAM_BACKEND_CUDA also SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA
 */
SOFTQAM_API softqam_status softqam_context_create(softqam_context **context, const softqam_context_config *config);

/** They say what softqam_context_prepare() creates; values to be or-ed. */
enum {
    SOFTQAM_PREPARE_THREADS = 1, /**< the CPU threads */
    /** CUDA: loads the kernels of the context's demodulators on its device. Needed before a stream capture. */
    SOFTQAM_PREPARE_KERNELS = 2,
    SOFTQAM_PREPARE_HOST_CALLS = 4, /**< CUDA: streams, device memory and pinned memory of host-memory calls */
    SOFTQAM_PREPARE_ALL = 7         /**< everything that the context's backend can use */
};

/**
 * Creates what calls would otherwise create when they first need it: for real-time threads, and before a CUDA stream is
 * captured. Demodulators that are created later are not prepared.
 *
 * After SOFTQAM_PREPARE_ALL, softqam_demodulate() and softqam_demodulate_segments() allocate nothing and start no
 * thread. Only host-memory calls of CUDA may wait for another call: they take turns on the device's staging memory.
 * With n_threads 1 a CPU call makes no system call either. It takes at most 64 KiB of its thread's stack. The context's
 * threads block all signals.
 *
 * @param context  the context
 * @param what     SOFTQAM_PREPARE_ALL, or some of SOFTQAM_PREPARE_.., or-ed; those of the other backend do nothing
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT, SOFTQAM_ERROR_SYSTEM, SOFTQAM_ERROR_OUT_OF_MEMORY; with
 *         SOFTQAM_BACKEND_CUDA also SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA. What was created before a
 *         failure stays.
 */
SOFTQAM_API softqam_status softqam_context_prepare(softqam_context *context, unsigned what);

/**
 * Gives up the caller's reference. The context is freed once its last demodulator is destroyed too, in either order.
 * Thread safety: no other call with this pointer may be under way or follow; demodulators created on it stay usable.
 * @param context  the context; NULL is ignored
 */
SOFTQAM_API void softqam_context_destroy(softqam_context *context);

/** Settings of a demodulator. Fill it with softqam_demodulator_config_init(), or zero it: 0 selects each default. */
typedef struct softqam_demodulator_config {
    /** The context, which the demodulator keeps alive. NULL, the default: a context with default settings, which all
     *  demodulators without one of their own share. */
    softqam_context *context;
    softqam_modulation modulation;       /**< of softqam_demodulate(), and of segments that name none; default 256QAM */
    softqam_input_format input_format;   /**< default SOFTQAM_INPUT_CF32 */
    softqam_output_format output_format; /**< default SOFTQAM_OUTPUT_S8 */
    softqam_sign sign;             /**< default SOFTQAM_SIGN_POSITIVE_IS_0; u8 has 127 as its midpoint with both */
    softqam_noise noise;           /**< default SOFTQAM_NOISE_PER_SYMBOL; u8 takes no noise variance */
    softqam_noise_form noise_form; /**< default N0 */
    /** Factor that brings symbols to unit mean energy; finite and positive. 0, the default: the format's own,
     *  softqam_input_default_scale(): 1 for cf32 and cf16, 1/8192 for cs16, 1/64 for cs8, so that full
     *  scale is 4 and 2: 1024QAM's outermost component is 1.19, and noise adds to it. */
    float input_scale;
    /** Steps per nat. s8: 2^-10 to 2^20; 0, the default: 6. s16: 2^-10 to 2^14; 0, the default: 64. f16, f32
     *  (which are in nats) and u8: 0 or 1. */
    float llr_scale;
    /** Largest magnitude of an LLR and of sums in soft buffers. s8: 1 to 127 steps; s16: 1 to 32767 steps. f16: 1 to
     *  65504 nats, a number that binary16 holds. 0, the default: the largest value of the range. f32, u8: 0. */
    int llr_limit;
    /** Least N0, for equalisers in single precision, whose N0 comes out as 0 or negative where an element is best. An
     * N0 below it, zero, negative values and -infinity among them, counts as noise_floor; a 1/N0 above 1 / noise_floor,
     *  +infinity among them, as that. NaN, an N0 of +infinity and a 1/N0 that is not positive stay erasures. At most
     *  2^40; below 2^-126 it counts as that. 0, the default: an N0 that is not positive is an erasure. u8: 0. */
    float noise_floor;
    uint64_t reserved[8]; /**< 0 */
} softqam_demodulator_config;

/** Fills a demodulator's settings with the defaults; NULL is ignored.
 * @param config  the structure */
SOFTQAM_API void softqam_demodulator_config_init(softqam_demodulator_config *config);

/**
 * Makes a demodulator: checks the configuration, builds its tables and selects its loops and kernels.
 * @param demodulator  receives the object, or NULL on failure; destroyed with softqam_demodulator_destroy()
 * @param config       formats, scales and sign, read during the call only; NULL: the defaults
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT, SOFTQAM_ERROR_OUT_OF_MEMORY (of the host)
 */
SOFTQAM_API softqam_status softqam_demodulator_create(softqam_demodulator **demodulator,
                                                      const softqam_demodulator_config *config);

/**
 * Demodulates symbols in host memory with the demodulator's modulation; returns when `out` is written.
 *
 * @param demodulator  formats, scales and sign
 * @param symbols      n_symbols symbols in the input format; any alignment
 * @param noise_var    n_symbols noise values, or one, as config.noise says; each is N0 or 1/N0, as config.noise_form
 *                     says; aligned to 4 bytes. Must be NULL for SOFTQAM_OUTPUT_U8
 * @param n_symbols    any number; with 0 nothing is done and the pointers may be NULL
 * @param out          receives softqam_output_nbytes() bytes: each symbol's values, b0 first; any alignment; must not
 *                     overlap the inputs
 *
 * Each symbol is demodulated on its own: the bytes depend neither on its neighbours nor on how calls are split
 * (pi/2-BPSK: provided that each call starts at an even position).
 *
 * **LLRs (s8, s16, f16, f32).** Max-log, with r the symbol and x over the constellation's points:
 * LLR(b) = (min over x with b = 1 of |r - x|^2 - min over x with b = 0 of |r - x|^2) / N0, computed as a piecewise
 * linear function of each component (BPSK: of I + Q; pi/2-BPSK at odd positions: of Q - I). With a gain g, r is z / g
 * and N0 is divided by g^2 (softqam_layer). SOFTQAM_SIGN_POSITIVE_IS_1 negates LLR(b). Let v be the component, after
 * input_scale, that carries the bit. For |v| <= 1e38 and without gains the error in nats, before rounding to the
 * format, is at most 2^-24 (2 + 6 |v|) / N0 + 2^-23 |LLR|; for BPSK and pi/2-BPSK it is at most 6 * 2^-24 |LLR|. Beyond
 * 1e38 an intermediate value may overflow; the LLR is then the format's limit with its sign.
 * - A symbol is an erasure if a component is NaN or infinite (after scaling), or its noise value is zero, negative, NaN
 *   or infinite: its LLRs are 0.
 * - A component below 2^-63 in magnitude, after it is divided by its gain, is treated as a zero of the same sign.
 * - No LLR is NaN or infinite (one that a soft buffer held before stays there: see softqam_codeword). What would
 *   overflow is the format's largest finite value with its sign: 65504 for f16, FLT_MAX for f32, s8's and s16's limit.
 *
 * **Soft bits (u8).** A hard decision, then the squared distances to the neighbouring points that differ in one bit:
 * liquid-dsp's `modemcf_demodulate_soft` for LIQUID_MODEM_QAM256, with the exception described at SOFTQAM_OUTPUT_U8. A
 * symbol with a component that is NaN or infinite (after scaling) is an erasure: its bytes are 127. Other components
 * are clamped to [-3, +3]; +0 and -0 give the same bytes.
 *
 * All arithmetic is binary32, round to nearest even, in one fixed order. The caller's floating-point environment
 * (rounding mode, flushing of subnormals, traps) does not matter and is restored; exception flags may be raised.
 *
 * While another call uses the context's threads, this one runs on the calling thread only. With CUDA, a call whose
 * buffers are all pinned, such as softqam_host_alloc()'s, uses them in place; any other is staged.
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  also if noise_var is misaligned, or given for u8; `out`
 *         overlaps an input; a byte count is over PTRDIFF_MAX; or, if the call runs on a GPU, a buffer is device
 *         memory (managed memory is accepted). Nothing was written;
 *         with SOFTQAM_BACKEND_CUDA only: SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA,
 *         SOFTQAM_ERROR_OUT_OF_MEMORY. The contents of `out` are then undefined, nothing writes there any more, and
 *         the demodulator stays usable.
 */
SOFTQAM_API softqam_status softqam_demodulate(const softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, void *out);

/** Largest number of layers of a codeword: 3GPP TS 38.211 tables 6.3.1.3-1 and 7.3.1.3-1. */
#define SOFTQAM_MAX_LAYERS 4

/** Says where one layer's symbols, noise values and gains lie. Layers need no fixed distance from each other. */
typedef struct softqam_layer {
    /** The first symbol: I and Q side by side. With symbols_q given, the first I. Any alignment. */
    const void *symbols;
    const void *symbols_q; /**< NULL, or the first Q, if I and Q lie in separate arrays */
    /** The first noise value, aligned to 4 bytes. Must be NULL for SOFTQAM_OUTPUT_U8. */
    const float *noise_var;
    /** NULL, or the first gain g of z = g x + n, for symbols that a receiver has not divided by the channel: z is the
     *  symbol after input_scale, N0 the variance of n, not of the noise at the antenna. Matched filter: z = h* y,
     *  g = |h|^2, N0 = |h|^2 times the noise variance of y. Biased MMSE: g = b, N0 = b (1 - b). Aligned to 4 bytes; for
     *  all layers or none; NULL for SOFTQAM_OUTPUT_U8.
     *
     *  Let fl() round to binary32, and s be llr_scale (s8, s16) or 1 (f16, f32), negated for
     *  SOFTQAM_SIGN_POSITIVE_IS_1. A component v becomes fl(v fl(1 / g)), and s / N0 becomes fl(fl(fl(s g) g) /
     *  N0), or times 1/N0 if that is given, as if exponents had no limits: units do not matter, and N0 is not
     *  clamped. A gain that is not positive and finite makes an erasure, and so does g^2 / N0 below about 2^-120. */
    const float *gain;
    uint64_t reserved[2]; /**< 0 */
} softqam_layer;

#include <softqam/softqam_ldpc.h>

/** Counts a segment's symbols and LLRs, and measures their quality. Each number is added to; the caller zeroes them.
 * All are integers, and depend on neither the backend, threads nor cuts. Symbols of discarded code blocks (a NULL
 * block_buffers entry) are not counted.
 *
 * The numbers from n_sampled on are of every eighth group of 64 symbols, those whose position p in the codeword
 * (first_symbol + i, all layers) has (p / 64) mod 8 = 0, without erasures. With r the symbol after input_scale and its
 * gain, the error vector magnitude is sqrt(error_energy / 2^24 / n_sampled), and information / 2^16 / n_sampled / Qm
 * estimates the mutual information per bit: below the code rate decoding is hopeless. */
typedef struct softqam_statistics {
    uint64_t n_symbols; /**< symbols that were demodulated */
    uint64_t n_erased;  /**< symbols that are erasures */
    /** LLRs, before any adding, whose magnitude is llr_limit (s8, s16, f16) or the largest float (f32); of u8 bytes of
     * 0 and 255. */
    uint64_t n_limited;
    uint64_t n_sampled;     /**< symbols of the sample; u8: 0, and so are the numbers below */
    uint64_t error_energy;  /**< sum of 2^24 min(|r - x|^2, 16), x the nearest point; each rounded to nearest even */
    uint64_t symbol_energy; /**< sum of 2^24 min(|r|^2, 16), likewise */
    /** Sum over LLRs of 2^16 (1 - H(1 / (1 + e^|LLR|))), H the binary entropy in bits, at the LLR as written, before
     * any adding, in nats rounded to 1/16 and limited to 255/16; rounded: 2^16 for a certain bit. */
    uint64_t information;
} softqam_statistics;

/** Consecutive symbols of one codeword: all of them, an OFDM symbol's resource elements, or any other part.
 * Zero-initialise it; 0 selects each field's default.
 *
 * The output equals demodulating, descrambling, de-interleaving and rate recovery in turn. SOFTQAM_OUTPUT_U8 takes
 * 256QAM of one layer in symbol order: noise_var, gain, plane_stride, descramble and codeword must be NULL or 0.
 *
 * **Two layers at once.** An LMMSE equaliser loses up to 3 dB where two layers share resource elements. With
 * cross_gain[j] layers e = 2j and f = 2j + 1 are demapped jointly, from y = h_e x_e + h_f x_f + n, whitened so that the
 * noise of each antenna has variance sigma^2. The receiver hands over z_k = h_k^H y as layers[k].symbols (times
 * input_scale), |h_k|^2 as layers[k].gain, c = h_e^H h_f as cross_gain[j], and sigma^2, or its inverse, as
 * layers[k].noise_var. No branch depends on a symbol. With g_k the gains, x_k over the layers' points:
 *
 *     LLR(b of x_e) = (min over x_e with b = 1 and all x_f of C - min over x_e with b = 0 and all x_f of C) / sigma^2
 *     C = g_e |x_e|^2 + g_f |x_f|^2 + 2 Re(x_e* c x_f) - 2 Re(x_e* z_e) - 2 Re(x_f* z_f)
 *
 * - The error in nats, before rounding to the format, is at most 88 * 2^-24 / sigma^2 times (g_e |x_e|^2 + g_f |x_f|^2
 * + 2 |c x_e x_f| + 2 |x_e z_e| + 2 |x_f z_f|), x_e and x_f being the outermost points. z, g, c and sigma^2 times a
 *   power of two give the same LLRs, unless a number or product is subnormal or overflows.
 * - If a z, g, c or noise value of a pair is not finite, or a g or noise value not positive, both layers' symbols are
 *   erasures; so they are if z, g or c reaches 2^112. So is a symbol whose partner's g is below 2^-119.
 * - Both layers have QPSK to 1024QAM. If n_layers is odd, the last layer's partner is layers[n_layers], of which only
 *   symbols and gain are read: a layer of another user, say, which is not demapped.
 * - On a GPU this is for calls on device memory; calls on host memory compute it on the CPU, by the context's threads.
 */
typedef struct softqam_segment {
    /** Symbols of this segment, of all layers together, a multiple of n_layers; with 0 the pointers may be NULL. */
    size_t n_symbols;
    /** Position of the first symbol in its codeword, all layers counted, a multiple of n_layers. */
    uint64_t first_symbol;
    /** Added to first_symbol for the scrambling sequence and for the parity of pi/2-BPSK, in symbols, a multiple of
     *  n_layers. Usually 0. With UCI on PUSCH (3GPP TS 38.212 clause 6.2.7) the sequence also counts the symbols of
     *  UCI that first_symbol does not. With descramble (first_symbol + n_symbols + scrambling_offset) * Qm must fit
     *  in 64 bits. */
    uint64_t scrambling_offset;
    /** Receives the values, b0 of the first symbol first; any alignment. NULL for a segment with a codeword. */
    void *out;
    /** 0: each symbol's values lie side by side in `out`, softqam_output_nbytes() bytes in all. Else bit planes, which
     *  undo the interleaver of 3GPP TS 38.212 clause 5.4.2.2 for a segment without a codeword: bit k of the segment's
     *  symbol i goes to value k * plane_stride + i of `out`. The stride is n_symbols or more: E / Qm if the segment is
     *  part of a code block of E bits. Gaps between planes are not written; no input may lie there. Must be 0 with a
     *  codeword. */
    size_t plane_stride;
    /** Distance from one symbol of a layer to its next, the same for all layers, in symbols; for a layer with symbols_q
     *  in components of each array. N_L for layers interleaved as [resource element][layer]. 0 stands for 1. */
    size_t symbol_stride;
    /** From one noise value of a layer to its next, counted in floats. 0: one value for all symbols of the layer. */
    size_t noise_stride;
    /** Symbol i of the segment is symbol i / n_layers of layer i % n_layers (3GPP TS 38.211 clauses 6.3.1.3 and
     *  7.3.1.3). A segment of one layer has layers[0]. The others are ignored. */
    softqam_layer layers[SOFTQAM_MAX_LAYERS];
    unsigned n_layers;             /**< 1 to SOFTQAM_MAX_LAYERS; 0 stands for 1. pi/2-BPSK has 1. */
    softqam_modulation modulation; /**< SOFTQAM_MODULATION_DEFAULT: the demodulator's */
    softqam_noise_form noise_form; /**< SOFTQAM_NOISE_FORM_DEFAULT: the demodulator's */
    float input_scale;             /**< as in softqam_demodulator_config; 0: the demodulator's */
    float llr_scale;               /**< as in softqam_demodulator_config; 0: the demodulator's */
    /** 1: LLRs are descrambled (3GPP TS 38.211 clauses 6.3.1.1 and 7.3.1.1): LLR k of symbol i changes its sign where
     *  bit (first_symbol + scrambling_offset + i) * Qm + k of the Gold sequence of c_init is 1 (in f16 and f32 +0
     *  becomes -0, and -0 becomes +0). Erasures stay +0. 0: LLRs are not descrambled. */
    unsigned descramble;
    uint32_t c_init; /**< start of 38.211 clause 5.2.1's Gold sequence: 0 to 2^31 - 1; 0 if descramble is 0 */
    /** Modulation of the last layer's partner, if n_layers is odd and that layer has a cross gain; QPSK to 1024QAM.
     *  SOFTQAM_MODULATION_DEFAULT: the segment's. Else it must be SOFTQAM_MODULATION_DEFAULT. */
    softqam_modulation partner_modulation;
    softqam_codeword codeword; /**< where the LLRs go; all 0: to `out` */
    /** cross_gain[j]: NULL, or the first c of layers 2j and 2j + 1 (see above), I then Q, aligned to 4 bytes. */
    const float *cross_gain[SOFTQAM_MAX_LAYERS / 2];
    /** From one cross gain to the next, counted in pairs of floats. 0 stands for 1. 0 without cross gains. */
    size_t cross_stride;
    /** From one gain of a layer to its next, counted in floats. 0: noise_stride. 0 without gains. */
    size_t gain_stride;
    /** NULL, or what this segment's symbols are added to; aligned to 8 bytes. Segments and calls may share it.
     *  Counting takes 1.5 to 4 times as long as demodulating. On a GPU and with cross gains it must be NULL in this
     *  version: calls refuse it, but segments in device memory, where it is ignored. */
    softqam_statistics *statistics;
    uint64_t reserved[3]; /**< 0 */
} softqam_segment;

/**
 * Demodulates many segments in host memory with one call, such as a slot's; returns when all are written. config.noise
 * does not matter here. A slot is one segment per codeword, or one per codeword and OFDM symbol. With CUDA all memory
 * is staged, pinned or not, except for a single segment laid out as softqam_demodulate() has it.
 *
 * @param demodulator  formats, scales and sign
 * @param segments     n_segments segments. No output may overlap an input (gaps left by strides count as part of a
 *                     buffer) or values that another segment writes. Segments of one codeword share its buffers,
 *                     those of one code block its bit planes. Alignment as for softqam_demodulate()
 * @param n_segments   any number; 0 does nothing
 *
 * @return as softqam_demodulate(), and SOFTQAM_ERROR_INVALID_ARGUMENT also if a segment goes beyond its codeword
 *         (first_symbol + n_symbols > n_bits / Qm), or if the segments together have more symbols than a
 *         size_t holds. Overlaps of outputs and inputs are detected within a segment only. If the call runs on a GPU,
 *         device memory that is passed by mistake is found only in the first segment that has symbols. After other
 *         errors the codewords' buffers are undefined as well: a call with combine 1 cannot be repeated.
 */
SOFTQAM_API softqam_status softqam_demodulate_segments(const softqam_demodulator *demodulator,
                                                       const softqam_segment *segments, size_t n_segments);

/**
 * Destroys a demodulator. Memory from softqam_host_alloc() and work in the caller's CUDA streams are not affected.
 * Thread safety: no other call on this demodulator may be under way or follow.
 * @param demodulator  the demodulator; NULL is ignored
 */
SOFTQAM_API void softqam_demodulator_destroy(softqam_demodulator *demodulator);

/** A demodulator's context: that of its configuration, or the default one.
 * @param demodulator  the demodulator
 * @return the context, valid as long as the demodulator; destroyed only by a caller that created it. NULL for NULL. */
SOFTQAM_API softqam_context *softqam_demodulator_context(const softqam_demodulator *demodulator);

/**
 * Allocates host memory that a context reaches fastest, aligned to 4096 bytes: page-locked if the context is a GPU,
 * else pageable.
 * @param context  the context; the memory may outlive it and may be used with any other
 * @param nbytes   size; 0 is taken as 1
 * @param memory   receives the pointer, or NULL on failure; the caller frees it with softqam_host_free()
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT, SOFTQAM_ERROR_OUT_OF_MEMORY; with SOFTQAM_BACKEND_CUDA also
 *         SOFTQAM_ERROR_CUDA
 */
SOFTQAM_API softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory);

/** Frees memory from softqam_host_alloc(), and only that; NULL is ignored.
 * @param memory  the memory */
SOFTQAM_API void softqam_host_free(void *memory);

/**
 * The scrambling sequence of 3GPP TS 38.211 clause 5.2.1: c(n) of a c_init, from any n on.
 *
 * For PDSCH c_init is RNTI 2^15 + q 2^14 + n_ID (clause 7.3.1.1), for PUSCH RNTI 2^15 + n_ID (6.3.1.1;
 * message A: RA-RNTI 2^16 + RAPID 2^10 + n_ID). A segment with `descramble` needs no sequence from its caller; this is
 * for what segments do not do, such as UCI placeholders.
 *
 * @param c_init     0 to 2^31 - 1; 0 is a valid one
 * @param first_bit  n of the first bit; any position costs the same
 * @param n_bits     any number; with 0 nothing is done and `bits` may be NULL
 * @param bits       receives (n_bits + 7) / 8 bytes: c(first_bit + k) is bit k % 8, counted from the lowest, of byte
 *                   k / 8; the bits after the last one are 0. Any alignment
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT
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
 * @return the factor that config.input_scale 0 stands for: 1 for cf32 and cf16, 1/8192 for cs16, 1/64 for cs8; 0 for an
 * unknown value */
SOFTQAM_API float softqam_input_default_scale(softqam_input_format format);

/** @param demodulator  the demodulator
 * @return the backend of its context: "cpu" or "cuda"; "none" for NULL. Lives as long as the library. */
SOFTQAM_API const char *softqam_backend_name(const softqam_demodulator *demodulator);

/** @param demodulator  the demodulator
 * @return one human-readable line, such as "avx512, 2 threads" or "NVIDIA H200, 3 streams of 1048576 symbols"; "" for
 * NULL. Lives as long as the demodulator. */
SOFTQAM_API const char *softqam_backend_detail(const softqam_demodulator *demodulator);

/** @param status  a status
 * @return a phrase for a status, such as "invalid argument"; "unknown status" for an unknown number. Lives as long as
 * the library. */
SOFTQAM_API const char *softqam_status_string(softqam_status status);

/** @return what went wrong in this thread's last call that failed: one line without a line end, with numbers in the
 * caller's locale; "" if none has failed. The thread's next failure overwrites it. */
SOFTQAM_API const char *softqam_error_message(void);

/** @return the version of the linked library, "major.minor.patch". Lives as long as the library. */
SOFTQAM_API const char *softqam_version(void);

#ifdef __cplusplus
}
#endif

#endif
