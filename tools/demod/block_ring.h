/* SPDX-License-Identifier: MIT */
/* Blocks of symbols that pass through three stages, each in a thread of its own: read, demodulated, written. So the
 * three overlap, in memory that is bounded: the stages work on different blocks of a ring. */
#ifndef SOFTQAM_TOOLS_DEMOD_BLOCK_RING_H
#define SOFTQAM_TOOLS_DEMOD_BLOCK_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_RING_SLOTS = 4 };

/* In the order in which a block comes to them. */
enum block_stage { STAGE_READ, STAGE_DEMODULATE, STAGE_WRITE, N_BLOCK_STAGES };

struct block {
    void *samples;
    float *noise_vars; /* NULL where there is not one a symbol */
    void *out;
    size_t n_symbols;
    size_t out_nbytes; /* of OUTPUT, when it is demodulated */
    bool is_last;
};

struct block_ring {
    struct block blocks[BLOCK_RING_SLOTS]; /* their memory is the caller's */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t n_done[N_BLOCK_STAGES];
    uint64_t n_blocks; /* that come through to the end; UINT64_MAX while that is open */
    bool failed;
};

void block_ring_start(struct block_ring *ring);

/* The next block for a stage, when it is there; NULL after the last. */
struct block *block_ring_wait(struct block_ring *ring, enum block_stage stage);

/* The stage has done its part on the block that it was given. */
void block_ring_done(struct block_ring *ring, enum block_stage stage);

/* The block that the stage was given last, or would be given next, and those after it are not to come. Those before it
 * still go through the stages behind. */
void block_ring_end(struct block_ring *ring, enum block_stage stage, bool failed);

/* Whether all blocks that were read have been through all stages. */
bool block_ring_is_idle(struct block_ring *ring);

/* Whether any stage has failed. */
bool block_ring_failed(struct block_ring *ring);

void block_ring_destroy(struct block_ring *ring);

#endif
