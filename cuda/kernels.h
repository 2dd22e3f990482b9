/* SPDX-License-Identifier: MIT */
/* The arguments of kernels, for C and CUDA; launch.h launches them. */
#ifndef SOFTQAM_KERNELS_H
#define SOFTQAM_KERNELS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" { /* src/'s headers are C, too */
#endif

#include "params.h"
#include "resolved_segment.h"

/* The most segments of a launch: a kernel's arguments are limited to 4 KiB. */
enum { MAX_SEGMENTS = 11 };

/* Stands for the bits an axis of any modulation. */
enum { ANY_AXIS_BITS = -1 };

enum {
    BLOCK_THREADS = 128,
    SMALL_BLOCK_THREADS = 256, /* for the kernels of small plain calls */
    WARP_THREADS = 32,
    BLOCK_WARPS = BLOCK_THREADS / WARP_THREADS
};

/* The most iterations of a warp in segment_warp.cuh: enough that a thread block's start costs little in comparison. */
enum { MAX_WARP_ITERATIONS = 16 };

/* Returns how many symbols a warp takes at a time in segment_warp.cuh: whole resource elements, so that each thread
 * stays with one layer. */
HOST_AND_DEVICE static inline unsigned softqam_warp_symbols(unsigned n_layers)
{
    return n_layers == 3 ? 30 : WARP_THREADS; /* a division would take as long as a load */
}

/* The limits of LLRs and of noise values. LLRs of s8 and s16 are first computed with the limit added. */
typedef struct softqam_llr_limit {
    float llr;                /* f32, f16, and sums of all formats */
    int32_t steps;            /* s8, s16 */
    int32_t two_limits;       /* twice that */
    uint32_t two_limits_each; /* the same in each byte or half of a word */
    uint32_t to_middle_each;  /* 128 or 32768 less the limit, in each byte or half */
    float min_noise;          /* softqam_params's */
    float max_inverse_noise;
} softqam_llr_limit;

/* Returns how many symbols of a segment a thread block takes in block_iterations iterations of all its warps. */
HOST_AND_DEVICE static inline unsigned softqam_block_symbols(unsigned block_iterations, unsigned n_layers)
{
    return block_iterations * softqam_warp_symbols(n_layers);
}

/* Returns how many symbols of a resource element a thread stores at once to soft buffers. The values of one bit of
 * these symbols are neighbours there, at most 8 bytes. One access stores them if all positions at which such values can
 * begin are multiples of their number. Callers must not rely on this for buffers that block_buffers points to, whose
 * alignment is unknown. */
HOST_AND_DEVICE static inline unsigned softqam_neighbours(const softqam_placement *placement)
{
    const softqam_soft_buffer *buffer = &placement->buffer;
    const unsigned n_layers = placement->blocks.n_layers;
    const uint64_t places = (uintptr_t)placement->out / placement->value_nbytes | placement->block_stride |
                            softqam_soft_buffer_size(buffer) | buffer->start | buffer->n_data | buffer->first_filler |
                            buffer->n_fillers;
    if (placement->modulation < SOFTQAM_MODULATION_QPSK || (n_layers | places) % 2 != 0)
        return 1;
    return (n_layers | places) % 4 == 0 && placement->value_nbytes <= 2 &&
                   placement->modulation <= SOFTQAM_MODULATION_256QAM
               ? 4
               : 2;
}

/* Thread blocks share the code blocks of a segment with soft buffers like this. */
typedef struct softqam_code_block_parts {
    uint32_t first;      /* the first code block's number among those transmitted */
    uint32_t n_parts;    /* thread blocks that share a code block */
    uint32_t reciprocal; /* 2^32 / n_parts, rounded up; 0 if n_parts is 1 */
    uint32_t n_symbols;  /* symbols that each of these takes at most */
} softqam_code_block_parts;

/* The argument of the kernels of plain calls, before the table of soft bits. */
typedef struct softqam_plain_argument {
    const void *symbols;
    const float *noise; /* NULL: noise_value, of the whole segment */
    unsigned char *out;
    size_t n_symbols;
    float input_scale;
    float steps_per_nat;
    softqam_llr_limit limit;
    float noise_value;
    unsigned groups_per_block; /* groups of symbols that a thread block takes */
    uint32_t pi2_sign; /* pi/2-BPSK: bit 31 is set if I of the first symbol and every other one changes its sign */
    uint32_t other_pi2_sign; /* the same for the second symbol and every other one */
    bool has_noise_each;
    bool noise_is_inverse;
} softqam_plain_argument;

/* The argument of the kernels of large codewords. */
typedef struct softqam_codeword_argument {
    softqam_plain_argument plain; /* the first layer */
    softqam_resolved_segment segment;
    softqam_statistics *statistics; /* COUNTED_CALL and COUNTED_CODEWORD count there */
} softqam_codeword_argument;

/* The first argument of the other kernels: what all segments of a launch share. */
typedef struct softqam_common_argument {
    unsigned n_segments;       /* the most, if they are in device memory */
    unsigned block_iterations; /* iterations of all warps of a thread block, the same number for each */
    unsigned input_format;     /* softqam_input_format */
    softqam_llr_limit limit;
} softqam_common_argument;

/* Finds the tables of the scrambling sequence in the current device's memory. */
cudaError_t softqam_device_gold_tables(const void **tables);

#ifdef __cplusplus
}
#endif

#endif
