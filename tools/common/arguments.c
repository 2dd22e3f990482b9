/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"

bool arguments_count_operands(int argc, int wanted, const char *names)
{
    const int n_operands = argc - optind;
    if (n_operands == wanted)
        return true;
    if (wanted == 0)
        return message_print(NULL, "takes no operands, but got %d; --help explains", n_operands);
    return message_print(NULL, "needs %d operand%s (%s), but got %d; --help explains", wanted, PLURAL(wanted), names,
                         n_operands);
}

/* Digits, which a unit may follow: k, M, G, T, Ki, Mi, Gi or Ti. */
static bool parse_count(const char *text, uint64_t *value)
{
    static const char units[] = "kMGT";
    char *rest;
    errno = 0;
    *value = strtoull(text, &rest, 10);
    const char *unit = strchr(units, *rest == 'K' ? 'k' : *rest);
    if (*text < '0' || *text > '9' || errno || !unit)
        return false;
    const bool is_binary = *rest && rest[1] == 'i';
    bool fits = true;
    for (const char *power = units; *rest && power <= unit; power++)
        fits = fits && !__builtin_mul_overflow(*value, is_binary ? 1024 : 1000, value);
    return fits && (!*rest || !rest[1 + is_binary]);
}

bool arguments_parse_count(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    return (parse_count(text, value) && *value >= min && *value <= max) ||
           message_print(option, "'%s' is not a whole number from %" PRIu64 " to %" PRIu64, text, min, max);
}

/* The decimal number that makes up the first `length` characters. Not strtod()'s other forms: hexadecimal, nan, inf. */
static bool parse_decimal(const char *text, size_t length, double *value)
{
    if (length == 0 || strspn(text, "0123456789+-.eE") < length)
        return false;
    char *end;
    *value = strtod(text, &end);
    return end == text + length;
}

bool arguments_parse_real(const char *option, const char *text, double min, double max, double *value)
{
    return (parse_decimal(text, strlen(text), value) && *value >= min && *value <= max) ||
           message_print(option, "'%s' is not a number from %.10g to %.10g", text, min, max);
}

/* A, or A/B, both positive; infinite where it is too large. */
static bool parse_ratio(const char *text, double *value)
{
    const size_t length = strcspn(text, "/");
    double denominator = 1;
    if (!parse_decimal(text, length, value) ||
        (text[length] && !parse_decimal(text + length + 1, strlen(text + length + 1), &denominator)) || *value <= 0 ||
        denominator <= 0)
        return false;
    *value /= denominator;
    return true;
}

bool arguments_parse_ratio(const char *option, const char *text, double min, double max, const char *word,
                           double *value)
{
    if (parse_ratio(text, value) && *value >= min && *value <= max)
        return true;
    *value = 0;
    return (word && !strcmp(text, word)) ||
           message_print(option, "'%s' is not a number or fraction (such as 0.25 or 1/32768) from %.7g to %.7g%s%s",
                         text, min, max, word ? ", nor " : "", word ? word : "");
}

bool arguments_parse_snr_db(const char *text, double *snr_db)
{
    return arguments_parse_real("--snr-db", text, -200, 200, snr_db);
}

bool arguments_parse_c_init(const char *text, uint32_t *c_init)
{
    const bool is_hexadecimal = !strncmp(text, "0x", 2);
    const char *digits = is_hexadecimal ? text + 2 : text;
    const char *allowed = is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    const unsigned long long value = strtoull(digits, NULL, is_hexadecimal ? 16 : 10);
    *c_init = (uint32_t)value;
    return (*digits && !digits[strspn(digits, allowed)] && value <= INT32_MAX) ||
           message_print("--c-init", "'%s' is not a whole number from 0 to 2147483647, decimal or 0x..", text);
}

bool arguments_parse_choice(const char *option, const char *text, const char *const names[], int *value)
{
    char list[160] = "";
    for (int i = 0; names[i]; i++) {
        if (!strcasecmp(text, names[i])) {
            *value = i;
            return true;
        }
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    }
    return message_print(option, "'%s' is not one of %s", text, list);
}

bool arguments_next_name(const char **list, char name[ARGUMENTS_NAME_NBYTES])
{
    if (!*list)
        return false;
    const size_t length = strcspn(*list, ",");
    snprintf(name, ARGUMENTS_NAME_NBYTES, "%.*s", length < ARGUMENTS_NAME_NBYTES ? (int)length : ARGUMENTS_NAME_NBYTES,
             *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}
