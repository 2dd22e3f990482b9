/* SPDX-License-Identifier: MIT */
#include "block_ring.h"

void block_ring_start(struct block_ring *ring)
{
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->changed, NULL);
    for (int stage = 0; stage < N_BLOCK_STAGES; stage++)
        ring->n_done[stage] = 0;
    ring->n_blocks = UINT64_MAX;
    ring->failed = false;
}

static bool is_there(const struct block_ring *ring, enum block_stage stage)
{
    if (stage == STAGE_READ)
        return ring->n_done[STAGE_READ] < ring->n_done[STAGE_WRITE] + BLOCK_RING_SLOTS;
    return ring->n_done[stage] < ring->n_done[stage - 1];
}

struct block *block_ring_wait(struct block_ring *ring, enum block_stage stage)
{
    pthread_mutex_lock(&ring->mutex);
    const uint64_t index = ring->n_done[stage];
    while (index < ring->n_blocks && !is_there(ring, stage))
        pthread_cond_wait(&ring->changed, &ring->mutex);
    const bool comes = index < ring->n_blocks;
    pthread_mutex_unlock(&ring->mutex);
    return comes ? &ring->blocks[index % BLOCK_RING_SLOTS] : NULL;
}

void block_ring_done(struct block_ring *ring, enum block_stage stage)
{
    pthread_mutex_lock(&ring->mutex);
    ring->n_done[stage]++;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

void block_ring_end(struct block_ring *ring, enum block_stage stage, bool failed)
{
    pthread_mutex_lock(&ring->mutex);
    if (ring->n_done[stage] < ring->n_blocks)
        ring->n_blocks = ring->n_done[stage];
    ring->failed = ring->failed || failed;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

bool block_ring_is_idle(struct block_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    const bool is_idle = ring->n_done[STAGE_WRITE] == ring->n_done[STAGE_READ];
    pthread_mutex_unlock(&ring->mutex);
    return is_idle;
}

bool block_ring_failed(struct block_ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    const bool failed = ring->failed;
    pthread_mutex_unlock(&ring->mutex);
    return failed;
}

void block_ring_destroy(struct block_ring *ring)
{
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->mutex);
}
