/* SPDX-License-Identifier: MIT */
/* All items of a JSON document, in the order of its text. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_WALK_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_WALK_H

#include <stddef.h>

#include <cjson/cJSON.h>

/* Where a walk is. All zero before it starts. */
struct sigmf_walk {
    cJSON *parents[CJSON_NESTING_LIMIT + 1]; /* cJSON reads no document that is deeper */
    size_t depth;
};

/* The item after this one; the walk starts with the document itself, and ends with NULL. */
cJSON *sigmf_walk_next(struct sigmf_walk *walk, cJSON *item);

#endif
