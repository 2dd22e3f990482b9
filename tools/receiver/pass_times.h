/* SPDX-License-Identifier: MIT */
/* What a slot takes in one call, and in separate passes. */
#ifndef SOFTQAM_TOOLS_RECEIVER_PASS_TIMES_H
#define SOFTQAM_TOOLS_RECEIVER_PASS_TIMES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"

/* Times n slots in each way, in turns, and prints the medians. False, having said why, when one failed. */
bool pass_times_print(struct engine *engine, size_t n);

#endif
