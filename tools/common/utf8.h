/* SPDX-License-Identifier: MIT */
/* Texts that are to be in UTF-8 (RFC 3629). */
#ifndef SOFTQAM_TOOLS_COMMON_UTF8_H
#define SOFTQAM_TOOLS_COMMON_UTF8_H

/* The first byte that is not part of a character; the end of a text that is in UTF-8. */
char *utf8_find_error(char *text);

/* Replaces each such byte by '?'. */
void utf8_repair(char *text);

#endif
