/* SPDX-License-Identifier: MIT */
/**
 * @file softqam.h
 * softqam: complex I/Q symbols of 5G NR 256QAM in, eight soft bits or LLRs a symbol out, the same bytes from every
 * backend.
 *
 * Plan, execute, destroy:
 *
 *     softqam_config config;
 *     softqam_config_init(&config);                         // cf32 in, u8 soft bits out, best backend
 *     config.output_format = SOFTQAM_OUTPUT_S8;             // LLRs for an LDPC decoder instead
 *     softqam_demodulator *demodulator;
 *     softqam_status status = softqam_create(&demodulator, &config);
 *     ...
 *     status = softqam_demodulate(demodulator, symbols, &noise_var, n_symbols, llrs);    // as often as you like
 *     ...
 *     softqam_destroy(demodulator);
 *
 * softqam_create() validates, picks the backend and allocates; softqam_demodulate() allocates nothing. The library
 * never prints, exits or aborts: every failure is a status, and softqam_error_message() has the details.
 *
 * ## Constellation, order, sign, noise variance
 *
 * The constellation is 256QAM of 3GPP TS 38.211 clause 5.1.6, scaled to unit mean symbol energy: the 16 levels of an
 * axis are the odd multiples -15 .. +15 of 1/sqrt(170). Bits come in 3GPP order, b0 first; the even bits b0 b2 b4 b6
 * ride on I, the odd bits b1 b3 b5 b7 on Q.
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
/** Raised when programs that were linked with an older library would no longer run. */
#define SOFTQAM_VERSION_MAJOR 0
/** Raised when something is added. */
#define SOFTQAM_VERSION_MINOR 2
/** Raised when neither is the case. */
#define SOFTQAM_VERSION_PATCH 0
/**@}*/

#ifdef __cplusplus
extern "C" {
#endif

/** What a call returns. Zero is success; softqam_status_string() has a phrase for each. */
typedef enum softqam_status {
    SOFTQAM_OK = 0, /**< done */
    /** An argument or a field of the configuration is out of its documented range. Nothing was done. */
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
    /** CUDA where this machine has a usable device, and for calls large enough to be worth the way there; else the CPU.
     *  Never fails for lack of a GPU; should CUDA fail later, the CPU does the rest of the call and all calls after it.
     */
    SOFTQAM_BACKEND_AUTO = 0,
    SOFTQAM_BACKEND_CPU = 1, /**< the CPU, whatever else there is */
    SOFTQAM_BACKEND_CUDA = 2 /**< CUDA, or failure */
} softqam_backend;

/** The modulation of the symbols. */
typedef enum softqam_constellation {
    /** 256QAM, 3GPP TS 38.211 clause 5.1.6. */
    SOFTQAM_CONSTELLATION_256QAM = 0
} softqam_constellation;

/** How a symbol lies in memory: I then Q, in the byte order of the machine. A component's value is sample *
 * input_scale, rounded once to binary32. */
typedef enum softqam_input_format {
    SOFTQAM_INPUT_CF32 = 0, /**< two IEEE-754 binary32, 8 bytes */
    SOFTQAM_INPUT_CS16 = 1, /**< two signed 16-bit integers, 4 bytes */
    SOFTQAM_INPUT_CS8 = 2,  /**< two signed 8-bit integers, 2 bytes */
    SOFTQAM_INPUT_CF16 = 3  /**< two IEEE-754 binary16, 4 bytes; widened exactly */
} softqam_input_format;

/** What comes out for each bit: 8 values a symbol, b0 first. */
typedef enum softqam_output_format {
    /** Soft bits, one byte each: liquid-dsp 1.5's for this constellation, byte for byte. 255 is a sure 0, 0 is a sure
     * 1, 127 says nothing. The scale is fixed; no noise variance enters. */
    SOFTQAM_OUTPUT_U8 = 0,
    /** LLRs as int8: the exact max-log LLR in nats times config.llr_scale, rounded to nearest even, limited to
     *  +-config.llr_limit. -128 never appears. */
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

/** What `noise_var` of softqam_demodulate() and softqam_cuda_demodulate() points at. */
typedef enum softqam_noise {
    SOFTQAM_NOISE_PER_CALL = 0,  /**< one value for all symbols of the call */
    SOFTQAM_NOISE_PER_SYMBOL = 1 /**< one value a symbol, as it is after equalisation */
} softqam_noise;

/** A value of softqam_config.n_devices. */
#define SOFTQAM_ALL_DEVICES (~0u)

/** The plan for a demodulator. Always start from softqam_config_init(), so that fields which a later version adds have
 * their defaults. */
typedef struct softqam_config {
    /** Size of the structure that the caller was compiled with; softqam_config_init() sets it. */
    size_t struct_nbytes;
    softqam_backend backend;             /**< default SOFTQAM_BACKEND_AUTO */
    softqam_constellation constellation; /**< default SOFTQAM_CONSTELLATION_256QAM */
    softqam_input_format input_format;   /**< default SOFTQAM_INPUT_CF32 */
    softqam_output_format output_format; /**< default SOFTQAM_OUTPUT_U8 */
    /** Factor that brings a sample to unit mean symbol energy; finite and positive. 0, the default, stands for the
     * format's own, softqam_input_default_scale(): 1 for cf32 and cf16, 1/32768 for cs16, 1/128 for cs8. */
    float input_scale;
    /** CPU threads that work on a call, the calling one included: at most 1024. 0, the default, stands for one per CPU
     * that the thread calling softqam_create() may run on. The CUDA backend stages pageable memory with them. */
    unsigned n_threads;
    /** CUDA: ordinal of the device, or -1, the default, for the device current in the thread that calls
     * softqam_create(). */
    int device;
    /** CUDA: chunks in flight at once on a device in a host-to-host call, each on its own stream, 1 to 64. 0, the
     * default: 3. */
    unsigned n_streams;
    /** CUDA: most symbols in a chunk of a host-to-host call, 1 to 2^28. 0, the default: 1 Mi. Each device holds
     *  n_streams chunks, in and out, whatever the length of a call. For pageable memory 8 MiB more are held for each of
     *  up to 32 threads, on the device and as pinned host memory. */
    size_t chunk_symbols;
    softqam_sign sign;   /**< default SOFTQAM_SIGN_POSITIVE_IS_0; u8 soft bits too: 127 says nothing in both */
    softqam_noise noise; /**< default SOFTQAM_NOISE_PER_CALL; u8 soft bits take no noise variance */
    /** s8: steps per nat, 2^-10 to 2^20. 0, the default, stands for 6. The other formats are in nats: 0 or 1. */
    float llr_scale;
    /** s8: largest magnitude, 1 to 127. 0, the default, stands for 127. 0 for the other formats. */
    int llr_limit;
    /** CPU: the instruction set of the inner loop, "avx512", "avx2" or "neon", or "generic", plain C for vectors, or
     * "portable", plain C for one symbol at a time; one that this build does not have or this processor does not run is
     * SOFTQAM_ERROR_INVALID_ARGUMENT. The bytes are the same. NULL, the default, or "": what the environment variable
     * SOFTQAM_CPU_VARIANT names in the same way, else the fastest. Only read by softqam_create(). */
    const char *cpu_variant;
    /** CUDA, several devices: NULL, or the ordinals of n_devices different devices among which host-to-host calls are
     *  divided; `device` is -1 then. Only read by softqam_create(). Default NULL. */
    const int *devices;
    /** CUDA: the length of `devices`, 1 to 64; or SOFTQAM_ALL_DEVICES, `devices` being NULL, for all devices of this
     *  machine; or 0, the default, for the one device that `device` names. */
    unsigned n_devices;
} softqam_config;

/** A plan ready to be executed. */
typedef struct softqam_demodulator softqam_demodulator;

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
 * Makes a demodulator: validates the configuration, picks the backend, builds the tables, starts the threads, allocates
 * device memory and streams.
 *
 * @param demodulator  receives the object, or NULL on failure; the caller owns it and ends it with softqam_destroy()
 * @param config       the plan, only read during the call; NULL stands for the defaults
 *
 * With SOFTQAM_BACKEND_AUTO and a GPU the first call for a kind of configuration takes some milliseconds more, in which
 * both backends are timed; the process remembers the result.
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  demodulator is NULL, a field is out of its range or contradicts another, the
 *         structure was not filled by softqam_config_init() or sets a field that this version does not know, or
 *         cpu_variant or SOFTQAM_CPU_VARIANT names what is not there;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  SOFTQAM_BACKEND_CUDA without CUDA in the build, without a usable device,
 *         without one of those named, or for one that this build has no code for;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY  not enough host memory, or, SOFTQAM_BACKEND_CUDA, device or page-locked memory;
 *         SOFTQAM_ERROR_SYSTEM  a thread could not be started;
 *         SOFTQAM_ERROR_CUDA  SOFTQAM_BACKEND_CUDA: another CUDA call failed.
 *
 * Thread safety: any thread, any number at once. The device current in the calling thread is left as it was. Threads
 * that are started here block all signals.
 */
SOFTQAM_API softqam_status softqam_create(softqam_demodulator **demodulator, const softqam_config *config);

/**
 * Demodulates symbols in host memory; returns when `out` is written.
 *
 * @param demodulator  the plan
 * @param symbols      n_symbols symbols in the plan's input format; any alignment
 * @param noise_var    the noise variance N0: one value, or n_symbols values, as the plan's `noise` says; aligned to 4
 *                     bytes. For SOFTQAM_OUTPUT_U8 NULL and nothing else
 * @param n_symbols    any number; 0 does nothing, and then the pointers may be NULL
 * @param out          receives n_symbols * softqam_output_symbol_nbytes() bytes, 8 values a symbol; any alignment; must
 *                     not overlap the inputs
 *
 * Each symbol is demodulated alone, so the bytes depend neither on its neighbours nor on how calls are split.
 *
 * **Soft bits, SOFTQAM_OUTPUT_U8.** Hard decision, then the squared distances to the neighbouring points that differ in
 * one bit: liquid-dsp's `modemcf_demodulate_soft` for LIQUID_MODEM_QAM256.
 * - A symbol with a component that is NaN or infinite (after scaling) gives eight times 127: an erasure.
 * - Other components are clamped to [-3, +3]; +0 and -0 give the same bytes.
 * - Four of the eight bytes, two an axis, are always saturated: with this fixed scale only the two bits whose decision
 *   boundaries are next to the sample can be anything but sure.
 *
 * **LLRs, SOFTQAM_OUTPUT_S8, _F16, _F32.** Exact max-log, with r the symbol and x over the 256 points:
 * LLR(b) = (min over x with b = 1 of |r - x|^2 - min over x with b = 0 of |r - x|^2) / N0, as a piecewise linear
 * function of each component. src/README.md derives it, reference/README.md bounds its rounding.
 * - A symbol with a component that is NaN or infinite (after scaling), or with an N0 that is zero, negative, NaN or
 *   infinite, gives eight zeros: an erasure. Any other N0 is taken as it is, subnormal ones too; where scale / N0
 *   exceeds FLT_MAX, FLT_MAX is taken for it.
 * - No NaN or infinity ever comes out: what would overflow is the format's largest finite value with its sign, 65504
 *   for f16, FLT_MAX for f32, the limit for s8.
 *
 * All arithmetic is binary32, round to nearest even, in one fixed order. The caller's floating-point environment
 * (rounding mode, flushing of subnormals, exceptions that trap) has no part in it and is left as it was, but for
 * exception flags that may be raised.
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  a pointer is NULL that must not be; noise_var is misaligned, or given where
 *         none is taken; `out` overlaps an input; a byte count is over PTRDIFF_MAX; or, as far as CUDA looked, a buffer
 *         is device memory. Nothing was written;
 *         SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY  SOFTQAM_BACKEND_CUDA: a CUDA call failed, for lack of memory
 *         or for another reason. The contents of `out` are undefined, nothing writes there any more, and the
 *         demodulator may be used again or destroyed.
 *
 * Thread safety: any thread; calls on one demodulator take turns, so give each thread its own for speed.
 * With CUDA, memory from softqam_host_alloc() (or pinned by the caller) is used in place; other memory is staged.
 */
SOFTQAM_API softqam_status softqam_demodulate(softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, void *out);

/** Symbols that belong together, such as a codeword, a layer or an antenna: one piece of a batch. Zero all fields that
 * are not named. */
typedef struct softqam_block {
    /** Symbols in this block; 0 is allowed, and then the pointers may be NULL. */
    size_t n_symbols;
    /** The first symbol: I and Q side by side. With symbols_q given, the first I alone. */
    const void *symbols;
    /** NULL, or the first Q where I and Q lie in separate planes. */
    const void *symbols_q;
    /** From one symbol to the next, counted in symbols (in components where I and Q lie apart): the number of layers or
     *  antennas where those are interleaved. 0 stands for 1. */
    size_t symbol_stride;
    /** The first noise variance N0; NULL for SOFTQAM_OUTPUT_U8. */
    const float *noise_var;
    /** From one noise variance to the next, counted in floats. 0: one value for the whole block. */
    size_t noise_stride;
    /** Receives n_symbols * softqam_output_symbol_nbytes() bytes, contiguous. */
    void *out;
} softqam_block;

/**
 * Demodulates many blocks of symbols in host memory with one call; returns when all are written. The bytes are those of
 * softqam_demodulate() for each block's symbols and noise variances; the plan's `noise` does not matter here.
 *
 * @param demodulator  the plan
 * @param blocks       n_blocks blocks, each with its own symbols, count, noise and output; no output may overlap any
 *                     input or another output. Alignment as for softqam_demodulate()
 * @param n_blocks     any number; 0 does nothing
 *
 * @return as softqam_demodulate(), and SOFTQAM_ERROR_INVALID_ARGUMENT too where `blocks` is NULL and n_blocks is not 0,
 *         and where the blocks together have more symbols than a size_t holds. Overlaps within a block are found;
 *         overlaps between blocks are the caller's to avoid.
 *
 * Thread safety: as softqam_demodulate().
 */
SOFTQAM_API softqam_status softqam_demodulate_batch(softqam_demodulator *demodulator, const softqam_block *blocks,
                                                    size_t n_blocks);

/**
 * Ends a demodulator and frees all that it holds. Memory from softqam_host_alloc() and work under way in the caller's
 * own CUDA streams are left alone.
 *
 * @param demodulator  the plan; NULL is ignored
 *
 * Thread safety: any thread, but no other call on this demodulator may be under way or follow.
 */
SOFTQAM_API void softqam_destroy(softqam_demodulator *demodulator);

/**
 * Allocates host memory that this demodulator reaches fastest: page-locked when it uses a GPU, else plain; with
 * SOFTQAM_BACKEND_AUTO plain also where CUDA fails. Aligned to 4096 bytes, contents undefined.
 *
 * @param demodulator  the plan; the memory may outlive it and may be used with any other
 * @param nbytes       size; 0 is taken as 1
 * @param memory       receives the pointer, or NULL on failure; the caller owns it and ends it with softqam_host_free()
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  demodulator or memory is NULL;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY  there is no such memory left;
 *         SOFTQAM_ERROR_CUDA  with a GPU in use: another CUDA call failed.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_status softqam_host_alloc(softqam_demodulator *demodulator, size_t nbytes, void **memory);

/**
 * Frees memory from softqam_host_alloc(), and only that.
 *
 * @param memory  the memory; NULL is ignored
 *
 * Thread safety: any thread.
 */
SOFTQAM_API void softqam_host_free(void *memory);

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
 * How long the eight values of a symbol are.
 *
 * @param format  an output format
 *
 * @return bytes: 8 for u8 and s8, 16 for f16, 32 for f32; 0 for a value that is none of the formats.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API size_t softqam_output_symbol_nbytes(softqam_output_format format);

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
 * What does the work of large calls.
 *
 * @param demodulator  the plan
 *
 * @return "cpu" or "cuda", which becomes "cpu" where SOFTQAM_BACKEND_AUTO has given CUDA up; "none" for NULL. Lives as
 *         long as the library.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API const char *softqam_backend_name(const softqam_demodulator *demodulator);

/**
 * What runs, for people to read.
 *
 * @param demodulator  the plan
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
