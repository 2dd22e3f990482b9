/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
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

/* Digits, of which some may follow a point, then an exponent or a suffix: k, M, G, T, Ki, Mi, Gi or Ti. What is no
 * whole number is none: the decimal number is rounded once, to 64 bits at least. */
static bool parse_count(const char *text, uint64_t *value)
{
    static const char digits[] = "0123456789", units[] = "kMGT";
    enum { MAX_LENGTH = 40 };
    char number[MAX_LENGTH + 8];
    const size_t n_whole = strspn(text, digits);
    const size_t n_fraction = text[n_whole] == '.' ? strspn(text + n_whole + 1, digits) : 0;
    const size_t length = n_whole + (n_fraction > 0 ? 1 + n_fraction : 0);
    const char *rest = text + length;
    int of_ten = 0, of_two = 0; /* powers */
    if (n_whole == 0 || length > MAX_LENGTH || (n_fraction > 0 && !*rest))
        return false;
    if (*rest == 'e' || *rest == 'E') {
        const size_t n = strspn(rest + 1, digits);
        if (n == 0 || n > 3 || rest[1 + n])
            return false;
        of_ten = (int)strtol(rest + 1, NULL, 10);
    } else if (*rest) {
        const char *unit = strchr(units, *rest == 'K' ? 'k' : *rest);
        const bool is_binary = rest[1] == 'i';
        if (!unit || rest[1 + is_binary])
            return false;
        *(is_binary ? &of_two : &of_ten) = (int)(unit - units + 1) * (is_binary ? 10 : 3);
    }
    snprintf(number, sizeof number, "%.*se%d", (int)length, text, of_ten);
    const long double count = ldexpl(strtold(number, NULL), of_two);
    *value = count < 0x1p64L ? (uint64_t)count : 0;
    return count < 0x1p64L && (long double)*value == count;
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

bool arguments_parse_ratio_in(const char *option, const char *text, double min, double max, double *value)
{
    return (parse_ratio(text, value) && *value >= min && *value <= max) ||
           message_print(option, "'%s' is not a number or fraction from %.10g to %.10g", text, min, max);
}

bool arguments_parse_ratio(const char *option, const char *text, const char *word, double *value)
{
    static const double min = (double)FLT_MIN, max = (double)FLT_MAX;
    if (parse_ratio(text, value))
        return (*value >= min && *value <= max) ||
               message_print(option, "'%s' is outside the range of a 32-bit float, %.7g to %.7g", text, min, max);
    *value = 0;
    return (word && !strcmp(text, word)) ||
           message_print(option, "'%s' is not a positive number or fraction (such as 0.25 or 1/32768)%s%s%s", text,
                         word ? " nor '" : "", word ? word : "", word ? "'" : "");
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
