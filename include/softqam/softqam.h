/* SPDX-License-Identifier: MIT */
/**
 * @file softqam.h
 * softqam: complex I/Q symbols of 5G NR 256QAM in, eight soft bits a symbol out, the same bytes from every backend.
 *
 * Plan, execute, destroy:
 *
 *     softqam_config config;
 *     softqam_config_init(&config);                            // cf32 in, u8 soft bits out, best backend
 *     softqam_demodulator *demodulator;
 *     softqam_status status = softqam_create(&demodulator, &config);
 *     ...
 *     status = softqam_demodulate(demodulator, symbols, NULL, n_symbols, soft_bits);   // as often as you like
 *     ...
 *     softqam_destroy(demodulator);
 *
 * softqam_create() validates, picks the backend and allocates; softqam_demodulate() allocates nothing. The library
 * never prints, exits or aborts: every failure is a status, and softqam_error_message() has the details.
 *
 * ## Sign, order and constellation
 *
 * The constellation is 256QAM of 3GPP TS 38.211 clause 5.1.6, scaled to unit mean symbol energy: the 16 levels of an
 * axis are the odd multiples -15 .. +15 of 1/sqrt(170). Soft bits come in 3GPP order, b0 first; the even bits b0 b2 b4
 * b6 ride on I, the odd bits b1 b3 b5 b7 on Q.
 *
 * **Above the midpoint means bit 0.** That is the sign of 5G receivers (MATLAB's 5G Toolbox, srsRAN Project, OAI,
 * cuPHY, AFF3CT); Sionna, GNU Radio, CommPy and srsRAN 4G have the opposite one.
 */
#ifndef SOFTQAM_SOFTQAM_H
#define SOFTQAM_SOFTQAM_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SOFTQAM_API
#else
#define SOFTQAM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call returns. Zero is success; softqam_status_string() has a phrase for each. */
typedef enum softqam_status {
    SOFTQAM_OK = 0,
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
     *  Never fails for lack of a GPU. */
    SOFTQAM_BACKEND_AUTO = 0,
    SOFTQAM_BACKEND_CPU = 1,
    SOFTQAM_BACKEND_CUDA = 2
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
    SOFTQAM_INPUT_CS8 = 2   /**< two signed 8-bit integers, 2 bytes */
} softqam_input_format;

/** What comes out for each bit. */
typedef enum softqam_output_format {
    /** One byte a bit, 8 a symbol, b0 first: liquid-dsp 1.5's soft bits for this constellation, byte for byte.
     *  255 is a sure 0, 0 is a sure 1, 127 says nothing. The scale is fixed; no noise variance enters. */
    SOFTQAM_OUTPUT_U8 = 0
} softqam_output_format;

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
     * format's own: 1 for cf32, 1/32768 for cs16, 1/128 for cs8. */
    float input_scale;
    /** CPU threads that work on a call, the calling one included: at most 1024. 0, the default, stands for one per CPU
     * that the thread calling softqam_create() may run on. The CUDA backend stages pageable memory with them. */
    unsigned n_threads;
    /** CUDA: ordinal of the device, or -1, the default, for the device current in the thread that calls
     * softqam_create(). */
    int device;
    /** CUDA: chunks in flight at once in a host-to-host call, each on its own stream, 1 to 64. 0, the default: 4. */
    unsigned n_streams;
    /** CUDA: symbols in a chunk of a host-to-host call, 1 to 2^28. 0, the default: 1 Mi. Device memory and pinned host
     *  memory are each n_streams * chunk_symbols * (input + output bytes of a symbol), whatever the length of a call.
     */
    size_t chunk_symbols;
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

/** Fills a configuration with the defaults. NULL is ignored. Thread safety: any thread. */
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
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  demodulator is NULL, or a field is out of its range;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  SOFTQAM_BACKEND_CUDA without CUDA in the build or without a usable device;
 *         SOFTQAM_ERROR_OUT_OF_MEMORY, SOFTQAM_ERROR_SYSTEM, SOFTQAM_ERROR_CUDA.
 *
 * Thread safety: any thread, any number at once. The device current in the calling thread is left as it was.
 */
SOFTQAM_API softqam_status softqam_create(softqam_demodulator **demodulator, const softqam_config *config);

/**
 * Demodulates symbols in host memory; returns when `out` is written.
 *
 * @param demodulator  the plan
 * @param symbols      n_symbols symbols in the plan's input format; any alignment
 * @param noise_var    for output formats that are scaled by a noise variance; SOFTQAM_OUTPUT_U8 takes NULL and nothing
 * else
 * @param n_symbols    any number; 0 does nothing, and then the pointers may be NULL
 * @param out          receives n_symbols * softqam_output_symbol_nbytes() bytes, 8 a symbol for SOFTQAM_OUTPUT_U8; any
 *                     alignment; must not overlap `symbols`
 *
 * Each symbol is demodulated alone, so the bytes depend neither on its neighbours nor on how calls are split. For
 * SOFTQAM_OUTPUT_U8:
 * - a symbol with a component that is NaN or infinite (after scaling) gives eight times 127: an erasure;
 * - other components are clamped to [-3, +3];
 * - four of the eight bytes, two an axis, are always saturated: with this fixed scale only the two bits whose decision
 *   boundaries are next to the sample can be anything but sure;
 * - +0 and -0 give the same bytes.
 *
 * Algorithm: hard decision, then the squared distances to the neighbouring points that differ in one bit
 * (liquid-dsp's `modemcf_demodulate_soft` for LIQUID_MODEM_QAM256, in binary32, round to nearest even, never
 * contracted). The caller's floating-point environment is expected to round to nearest even and not to flush subnormals
 * to zero.
 *
 * @return SOFTQAM_OK;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  NULL, overlapping buffers, or a byte count over PTRDIFF_MAX: nothing was
 * written; SOFTQAM_ERROR_CUDA  the contents of `out` are undefined; the demodulator may be used again or destroyed.
 *
 * Thread safety: any thread; calls on one demodulator take turns, so give each thread its own for speed.
 * With CUDA, memory from softqam_host_alloc() (or pinned by the caller) is used in place; other memory is staged.
 */
SOFTQAM_API softqam_status softqam_demodulate(softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, void *out);

/** Ends a demodulator and frees all that it holds. NULL is ignored. No other call on it may be under way or follow.
 *  Memory from softqam_host_alloc() and work under way in the caller's own CUDA streams are left alone. */
SOFTQAM_API void softqam_destroy(softqam_demodulator *demodulator);

/**
 * Allocates host memory that this demodulator reaches fastest: page-locked when it uses a GPU, else plain. Aligned to
 * 4096 bytes, contents undefined.
 *
 * @param demodulator  the plan; the memory may outlive it and may be used with any other
 * @param nbytes       size; 0 is taken as 1
 * @param memory       receives the pointer, or NULL on failure; the caller owns it and ends it with softqam_host_free()
 *
 * @return SOFTQAM_OK, SOFTQAM_ERROR_INVALID_ARGUMENT (NULL), SOFTQAM_ERROR_OUT_OF_MEMORY, SOFTQAM_ERROR_CUDA.
 *
 * Thread safety: any thread.
 */
SOFTQAM_API softqam_status softqam_host_alloc(softqam_demodulator *demodulator, size_t nbytes, void **memory);

/** Frees memory from softqam_host_alloc(), and only that. NULL is ignored. Thread safety: any thread. */
SOFTQAM_API void softqam_host_free(void *memory);

/** Bytes of one symbol in an input format: 8 for cf32, 4 for cs16, 2 for cs8; 0 for a value that is none. */
SOFTQAM_API size_t softqam_input_symbol_nbytes(softqam_input_format format);

/** Bytes of one symbol's soft bits in an output format: 8 for u8; 0 for a value that is none. */
SOFTQAM_API size_t softqam_output_symbol_nbytes(softqam_output_format format);

/** The factor that input_scale 0 stands for: 1 for cf32, 1/32768 for cs16, 1/128 for cs8; 0 for a value that is none.
 */
SOFTQAM_API float softqam_input_default_scale(softqam_input_format format);

/** "cpu" or "cuda": what does the work of large calls. NULL gives "none". The text lives as long as the library. */
SOFTQAM_API const char *softqam_backend_name(const softqam_demodulator *demodulator);

/** One line on what runs, such as "portable, 2 threads" or "NVIDIA H200, 4 streams of 1048576 symbols". NULL gives "".
 * The text lives as long as the demodulator. */
SOFTQAM_API const char *softqam_backend_detail(const softqam_demodulator *demodulator);

/** A phrase for a status, such as "invalid argument"; "unknown status" for any other number. Lives as long as the
 * library. */
SOFTQAM_API const char *softqam_status_string(softqam_status status);

/** What went wrong in the last call of this thread that did not return SOFTQAM_OK, in one line without a line end; ""
 * if none has failed. Belongs to the thread and is overwritten by its next failure. */
SOFTQAM_API const char *softqam_error_message(void);

/** The library's version, "major.minor.patch". */
SOFTQAM_API const char *softqam_version(void);

#ifdef __cplusplus
}
#endif

#endif
