/* SPDX-License-Identifier: MIT */
/* The kernels and their arguments, for C and CUDA; launch.h launches them. */
#ifndef SOFTQAM_KERNELS_H
#define SOFTQAM_KERNELS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" { /* src/'s headers too are of C */
#endif

#include "params.h"
#include "resolved_segment.h"

/* Segments of a launch at most: a kernel's arguments are limited to 4 KiB. */
enum { MAX_SEGMENTS = 11 };

/* Kernels, and what else they take. */

enum {
    BLOCK_THREADS = 128,
    SMALL_BLOCK_THREADS = 256, /* for the kernels of small plain calls */
    WARP_THREADS = 32,
    BLOCK_WARPS = BLOCK_THREADS / WARP_THREADS
};

/* Iterations of a warp of segment_warp.cuh, at most: enough that the begin of a thread block costs little. */
enum { MAX_WARP_ITERATIONS = 16 };

/* Symbols that a warp takes at a time in segment_warp.cuh: whole resource elements, so that each thread stays with
 * one layer. */
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
    uint32_t to_middle_each;  /* from the limit to the middle of what a byte or half holds */
    float min_noise;          /* softqam_params's */
    float max_inverse_noise;
} softqam_llr_limit;

/* Returns how many symbols of a segment a thread block takes in block_iterations iterations of all its warps. */
HOST_AND_DEVICE static inline unsigned softqam_block_symbols(unsigned block_iterations, unsigned n_layers)
{
    return block_iterations * softqam_warp_symbols(n_layers);
}

/* Returns how many symbols of a resource element a thread stores at once to soft buffers. Their values of a bit are
 * neighbours there, at most 8 bytes, and one access takes them if all their first positions are multiples of their
 * number. The kernel itself checks buffers that block_buffers points to. */
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
    uint32_t pi2_sign;         /* pi/2-BPSK: in bit 31, of I of the first symbol and every other one */
    uint32_t other_pi2_sign;   /* the same for the symbols between */
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
    unsigned n_segments;       /* in device memory: at most */
    unsigned block_iterations; /* iterations of a thread block's warps together, the same for each */
    unsigned input_format;     /* softqam_input_format */
    softqam_llr_limit limit;
} softqam_common_argument;

typedef struct softqam_kernel {
    const void *address;
    unsigned threads; /* threads of a block */
    /* The next members are for kernels of plain_kernel.cuh. */
    unsigned group_symbols; /* symbols that a thread takes side by side */
    unsigned max_rounds;    /* rounds that a block takes in sequence, each with a group for every thread */
} softqam_kernel;

/* The kernels of plain_kernel.cuh. */
typedef enum softqam_plain_kind {
    LARGE_CALL,
    SMALL_CALL,    /* the device holds all blocks at once: a thread has one group; address NULL: LARGE_CALL is faster */
    CODEWORD_CALL, /* a large one of layers, descrambled or in bit planes; address NULL: there is none */
    COUNTED_CALL,  /* LARGE_CALL and CODEWORD_CALL with statistics; address NULL: there is none */
    COUNTED_CODEWORD,
    N_PLAIN_KINDS
} softqam_plain_kind;

/* Return the kernels of an input format; axis_bits as softqam_axis_bits() has them. */
typedef softqam_kernel softqam_plain_kernels(softqam_output_format format, int axis_bits, softqam_plain_kind kind);
softqam_plain_kernels softqam_plain_kernels_cf32;
softqam_plain_kernels softqam_plain_kernels_cs16;
softqam_plain_kernels softqam_plain_kernels_cs8;
softqam_plain_kernels softqam_plain_kernels_cf16;

/* The kernel of segments without soft buffers. */
const void *softqam_segment_kernel(softqam_output_format format);

/* The kernels of segments of which some have soft buffers or statistics, without repetition: of one modulation, or, if
 * axis_bits is -1, of any, with pairs of layers in none of them or in all. NULL: there is none. */
typedef const void *softqam_soft_kernels(int axis_bits, bool is_joint, bool counts);
softqam_soft_kernels softqam_soft_kernel_u8;
softqam_soft_kernels softqam_soft_kernel_s8;
softqam_soft_kernels softqam_soft_kernel_s16;
softqam_soft_kernels softqam_soft_kernel_f16;
softqam_soft_kernels softqam_soft_kernel_f32;

/* The kernels of segments whose symbols go straight to soft buffers, `neighbours` of them a thread; NULL: there is
 * none.
 */
typedef const void *softqam_element_kernels(int axis_bits, unsigned neighbours, bool combines, bool counts);
softqam_element_kernels softqam_element_kernel_s8;
softqam_element_kernels softqam_element_kernel_f16;

/* The kernels of any segments: of those in device memory, or of argument_segments, NULL for u8. */
typedef const void *softqam_prepared_kernel(bool are_arguments);
softqam_prepared_kernel softqam_prepared_kernel_u8;
softqam_prepared_kernel softqam_prepared_kernel_s8;
softqam_prepared_kernel softqam_prepared_kernel_s16;
softqam_prepared_kernel softqam_prepared_kernel_f16;
softqam_prepared_kernel softqam_prepared_kernel_f32;

/* Finds the tables of the scrambling sequence in the current device's memory. */
cudaError_t softqam_device_gold_tables(const void **tables);

#ifdef __cplusplus
}
#endif

#endif
