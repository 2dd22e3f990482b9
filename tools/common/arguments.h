/* SPDX-License-Identifier: MIT */
/* Operands, and the values of options. What is wrong with one is said in a line that names the option and the value. */
#ifndef SOFTQAM_TOOLS_COMMON_ARGUMENTS_H
#define SOFTQAM_TOOLS_COMMON_ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the operands that are left are as many as wanted; says so if not. `names` may be NULL where that is none. */
bool arguments_count_operands(int argc, int wanted, const char *names);

/* A whole number, min to max: 1000000, 1M or 64Ki. */
bool arguments_parse_count(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* A decimal number, min to max. */
bool arguments_parse_real(const char *option, const char *text, double min, double max, double *value);

/* A decimal number, or a fraction A/B of two of them, from min to max, which are positive; or a word, which gives 0,
 * NULL for none. */
bool arguments_parse_ratio(const char *option, const char *text, double min, double max, const char *word,
                           double *value);

/* The value of --snr-db: -200 to 200. */
bool arguments_parse_snr_db(const char *text, double *snr_db);

/* The value of --c-init: 0 to 2^31 - 1, in decimal or, after 0x, hexadecimal digits. */
bool arguments_parse_c_init(const char *text, uint32_t *c_init);

/* Takes the next name from *list, names with commas between them; what does not fit is cut off. False after the last.
 */
enum { ARGUMENTS_NAME_NBYTES = 32 };
bool arguments_next_name(const char **list, char name[ARGUMENTS_NAME_NBYTES]);

/* One of the names of a list that ends with NULL, in any case; the value is its index. */
bool arguments_parse_choice(const char *option, const char *text, const char *const names[], int *value);

#endif
