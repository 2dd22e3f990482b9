/* SPDX-License-Identifier: MIT */
#include "sigmf_walk.h"

cJSON *sigmf_walk_next(struct sigmf_walk *walk, cJSON *item)
{
    if (item->child && walk->depth <= CJSON_NESTING_LIMIT) {
        walk->parents[walk->depth++] = item;
        return item->child;
    }
    while (!item->next) {
        if (walk->depth == 0)
            return NULL;
        item = walk->parents[--walk->depth];
    }
    return item->next;
}
