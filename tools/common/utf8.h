/* SPDX-License-Identifier: MIT */
/* Texts that are to be in UTF-8. */
#ifndef SOFTQAM_TOOLS_COMMON_UTF8_H
#define SOFTQAM_TOOLS_COMMON_UTF8_H

/* Puts a question mark for each byte of a text that is not part of a character in UTF-8 (RFC 3629). */
void utf8_repair(char *text);

#endif
