/* SPDX-License-Identifier: MIT */
/* What the parts of the fake CUDA runtime have in common: fake_cuda.c (the lock, devices and errors),
 * fake_cuda_streams.c (streams and what is put off on them) and fake_cuda_memory.c. */
#ifndef SOFTQAM_TESTS_FAKE_CUDA_PARTS_H
#define SOFTQAM_TESTS_FAKE_CUDA_PARTS_H

#include "fake_cuda.h"

enum { FAKE_MAX_DEVICES = 16 };

/* The calling thread's current device. */
extern _Thread_local int fake_device;

/* One lock for all of the runtime, which every function of CUDA's takes. What follows is called with it held. */
void fake_lock(void);
/* Gives the lock back and returns `error`, which becomes the thread's last one unless it is none. */
cudaError_t fake_unlock(cudaError_t error);

/* Puts work off on a stream. Takes `context` over, whatever happens: memory of malloc, freed after the work. */
cudaError_t fake_enqueue(cudaStream_t stream, void (*work)(void *), void *context);
/* Does all that is put off on a device. */
void fake_run_device(int device);

/* How many there are: streams, blocks of memory. */
size_t fake_live_streams(void);
size_t fake_live_blocks(void);

#endif
