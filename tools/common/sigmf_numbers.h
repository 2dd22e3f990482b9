/* SPDX-License-Identifier: MIT */
/* Numbers of metadata that are carried over digit by digit: as binary64, which cJSON has, whole numbers above 2^53
 * would be others. */
#ifndef SOFTQAM_TOOLS_COMMON_SIGMF_NUMBERS_H
#define SOFTQAM_TOOLS_COMMON_SIGMF_NUMBERS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

/* Gives each number of a document its text, as `valuestring`, which cJSON copies and frees with it. The text is that
 * which was parsed. False when memory is short. */
bool sigmf_numbers_keep(cJSON *document, const char *text);

/* Has each number that still has its text printed by it. */
void sigmf_numbers_restore(cJSON *document);

#endif
