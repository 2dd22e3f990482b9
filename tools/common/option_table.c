/* SPDX-License-Identifier: MIT */
#include "option_table.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"
#include "modulation.h"

/* Parses digits and, if there is one, a unit (k, M, G, T, Ki, Mi, Gi, Ti) or a power of ten (e6). */
static bool parse_count(const char *text, uint64_t *value)
{
    static const char units[] = "kMGT";
    char *rest;
    errno = 0;
    *value = strtoull(text, &rest, 10);
    if (*rest == 'e' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")]) {
        for (unsigned long k = strtoul(rest + 1, &rest, 10); k > 0; k--)
            if (k > 19 || __builtin_mul_overflow(*value, 10, value))
                return false;
    }
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

/* Takes a decimal number from a text, but not strtod()'s other forms: hexadecimal, nan, inf. */
static bool take_decimal(const char **text, double *value)
{
    const char *end = *text + strspn(*text, "0123456789+-.eE");
    char *rest;
    *value = strtod(*text, &rest);
    const bool good = end > *text && rest == end;
    *text = rest;
    return good;
}

bool arguments_parse_real(const char *option, const char *text, double min, double max, double *value)
{
    const char *rest = text;
    return (take_decimal(&rest, value) && !*rest && *value >= min && *value <= max) ||
           message_print(option, "'%s' is not a number from %.10g to %.10g", text, min, max);
}

bool arguments_parse_ratio(const char *option, const char *text, double min, double max, const char *word,
                           double *value)
{
    const char *rest = text;
    double denominator = 1;
    bool good = take_decimal(&rest, value);
    if (good && *rest == '/') {
        rest++;
        good = take_decimal(&rest, &denominator) && denominator > 0;
    }
    *value /= denominator;
    if (good && !*rest && *value >= min && *value <= max)
        return true;
    *value = 0;
    return (word && !strcmp(text, word)) ||
           message_print(option, "'%s' is not a number or fraction (such as 0.25 or 1/8192) from %.7g to %.7g%s%s",
                         text, min, max, word ? ", nor " : "", word ? word : "");
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

/* For an option without a letter getopt_long() returns FIRST_VALUE plus the number of its row. */
enum { MAX_ROWS = 120, FIRST_VALUE = 256, WIDTH = 80, INDENT = 30 };

static void *target_of(const struct option_call *call) { return (char *)call->target + call->row->offset; }

bool option_take_true(const struct option_call *call)
{
    *(bool *)target_of(call) = true;
    return true;
}

bool option_take_text(const struct option_call *call)
{
    *(const char **)target_of(call) = call->text;
    return true;
}

bool option_take_count(const struct option_call *call)
{
    return arguments_parse_count(call->row->name, call->text, call->row->min, call->row->max, target_of(call));
}

bool option_take_unsigned(const struct option_call *call)
{
    uint64_t count = 0;
    const bool good = arguments_parse_count(call->row->name, call->text, call->row->min, call->row->max, &count);
    *(unsigned *)target_of(call) = (unsigned)count;
    return good;
}

bool option_take_choice(const struct option_call *call)
{
    return arguments_parse_choice(call->row->name, call->text, call->row->names, target_of(call));
}

bool option_take_modulation(const struct option_call *call)
{
    const softqam_modulation modulation = modulation_find(call->text);
    *(softqam_modulation *)target_of(call) = modulation;
    return modulation != SOFTQAM_MODULATION_DEFAULT ||
           message_print(call->row->name, "'%s' is not one of bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam",
                         call->text);
}

static bool is_last(const struct option_row *row) { return !row->name && !row->help; }

static int value_of(const struct option_row *rows, const struct option_row *row)
{
    return row->letter ? row->letter : FIRST_VALUE + (int)(row - rows);
}

/* Returns the option for which getopt_long() returns a value; NULL for none. */
static const struct option_row *find(const struct option_row *rows, int value)
{
    for (const struct option_row *row = rows; !is_last(row); row++)
        if (row->name && value_of(rows, row) == value)
            return row;
    return NULL;
}

/* Lists the options as getopt_long() takes them. */
static void list_options(const struct option_row *rows, char letters[2 * MAX_ROWS + 2],
                         struct option list[MAX_ROWS + 1])
{
    struct option *next = list;
    *letters++ = ':';
    for (const struct option_row *row = rows; !is_last(row); row++) {
        const int has_value = !row->value ? no_argument : *row->value == '[' ? optional_argument : required_argument;
        if (!row->name)
            continue;
        *next++ = (struct option){row->name + 2, has_value, NULL, value_of(rows, row)};
        if (row->letter)
            *letters++ = row->letter;
        if (row->letter && has_value == required_argument)
            *letters++ = ':';
    }
    *letters = '\0';
    *next = (struct option){NULL, 0, NULL, 0};
}

/* Reports a wrong option: `result` is getopt_long()'s, `known` the option that was recognised, or NULL. */
static void report_wrong(int result, const struct option_row *known, const char *argument, const struct option *list)
{
    int n_matches = 0; /* long options that an abbreviation may stand for */
    for (; !optopt && list->name; list++)
        n_matches += !strncmp(list->name, argument + 2, strcspn(argument + 2, "="));
    if (known && result == ':')
        message_print(NULL, "%s: needs a value", known->name);
    else if (known)
        message_print(NULL, "%s: takes no value, but '%s' gives it one", known->name, argument);
    else if (optopt)
        message_print(NULL, "-%c: no such option; --help lists them", optopt);
    else
        message_print(NULL, "%s: %s; --help lists them", argument,
                      n_matches > 1 ? "could be more than one option" : "no such option");
}

/* Checks the number of operands. */
static bool count_operands(int argc, char *const argv[], int wanted, const char *names)
{
    const int n_operands = argc - optind;
    char first[96] = "";
    if (n_operands == wanted)
        return true;
    if (n_operands > wanted)
        snprintf(first, sizeof first, ", of which '%.40s' is the first", argv[optind]);
    return message_print(NULL, "needs %d operand%s%s%s%s, but got %d%s; --help explains", wanted, PLURAL(wanted),
                         names ? " (" : "", names ? names : "", names ? ")" : "", n_operands, first);
}

enum option_result option_table_parse(const struct option_row *rows, int argc, char *const argv[], void *target,
                                      int n_operands, const char *operands)
{
    char letters[2 * MAX_ROWS + 2];
    struct option list[MAX_ROWS + 1];
    int value;
    list_options(rows, letters, list);
    opterr = 0;
    while ((value = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        const bool wrong = value == '?' || value == ':';
        const struct option_row *row = find(rows, wrong ? optopt : value);
        const struct option_call call = {row, optarg, target};
        if (wrong)
            report_wrong(value, row, argv[optind - 1], list);
        else if (!row->take)
            return row->letter == 'h' ? OPTIONS_HELP : OPTIONS_VERSION;
        if (wrong || !row->take(&call))
            return OPTIONS_WRONG;
    }
    return count_operands(argc, argv, n_operands, operands) ? OPTIONS_RUN : OPTIONS_WRONG;
}

/* Prints wrapped text from a column on; further lines begin with `column` blanks. Line ends in the text are kept. */
static void print_wrapped(const char *words, int column)
{
    const int indent = column;
    for (bool ends = false; *words; words += *words != '\0') {
        const int length = (int)strcspn(words, " \n");
        if (ends || (column > indent && column + 1 + length > WIDTH))
            column = printf("\n%*s", indent, "") - 1;
        column += printf("%s%.*s", column > indent ? " " : "", length, words);
        words += length;
        ends = *words == '\n';
    }
    printf("\n");
}

static void print_option(const struct option_row *row)
{
    const char letter[] = {'-', row->letter, ',', ' ', '\0'};
    const int length = printf("  %s%s%s%s", row->letter ? letter : "    ", row->name,
                              row->value && *row->value != '[' ? " " : "", row->value ? row->value : "");
    if (length > INDENT - 2)
        printf("\n");
    printf("%*s", length > INDENT - 2 ? INDENT : INDENT - length, "");
    print_wrapped(row->help, INDENT);
}

static void print_help(const struct option_row *rows)
{
    for (const struct option_row *row = rows; !is_last(row); row++) {
        if (row->name) {
            print_option(row);
        } else if (*row->help == ' ') {
            printf("%s\n", row->help);
        } else {
            printf("%s", row > rows ? "\n" : "");
            print_wrapped(row->help, 0);
        }
    }
}

int option_table_answer(enum option_result result, const struct option_row *rows)
{
    if (result == OPTIONS_WRONG)
        return EXIT_COMMAND;
    if (result == OPTIONS_HELP)
        print_help(rows);
    else
        message_print_version();
    return message_end_stdout();
}
