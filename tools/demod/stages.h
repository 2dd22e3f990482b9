/* SPDX-License-Identifier: MIT */
/* The two threads of a run: one fills blocks with symbols, the other demodulates, checks and counts them. Failures are
 * reported on standard error, and end the ring. */
#ifndef SOFTQAM_TOOLS_DEMOD_STAGES_H
#define SOFTQAM_TOOLS_DEMOD_STAGES_H

/* What pthread_create() starts, with a struct demod_run. */
void *demod_read_blocks(void *argument);
void *demod_process_blocks(void *argument);

#endif
