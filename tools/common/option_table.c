/* SPDX-License-Identifier: MIT */
#include "option_table.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "modulation.h"

/* Values that getopt_long() returns for options without a letter: from this one on, by row. */
enum { MAX_ROWS = 120, FIRST_VALUE = 256, WIDTH = 80, INDENT = 30, HELP_NBYTES = 24576 };

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

bool option_take_modulation(const struct option_call *call) { return modulation_parse(call->text, target_of(call)); }

static bool is_last(const struct option_row *row) { return !row->name && !row->help; }

static bool is_of(const struct option_row *row, unsigned variant)
{
    return row->variant == 0 || row->variant == variant;
}

static int value_of(const struct option_row *rows, const struct option_row *row)
{
    return row->letter ? row->letter : FIRST_VALUE + (int)(row - rows);
}

/* The option for which getopt_long() returns a value; NULL for none. */
static const struct option_row *find(const struct option_row *rows, unsigned variant, int value)
{
    for (const struct option_row *row = rows; !is_last(row); row++)
        if (row->name && is_of(row, variant) && value_of(rows, row) == value)
            return row;
    return NULL;
}

/* The options as getopt_long() takes them. */
static void list_options(const struct option_row *rows, unsigned variant, char letters[2 * MAX_ROWS + 2],
                         struct option list[MAX_ROWS + 1])
{
    struct option *next = list;
    *letters++ = ':';
    for (const struct option_row *row = rows; !is_last(row); row++) {
        const int has_value = !row->value ? no_argument : *row->value == '[' ? optional_argument : required_argument;
        if (!row->name || !is_of(row, variant))
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

/* `result` is what getopt_long() has returned, `known` the option that it knows, or NULL. */
static void report_wrong(int result, const struct option_row *known, const char *argument, const struct option *list)
{
    int n_matches = 0; /* of a long option */
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

enum option_result option_table_parse(const struct option_row *rows, unsigned variant, int argc, char *const argv[],
                                      void *target)
{
    char letters[2 * MAX_ROWS + 2];
    struct option list[MAX_ROWS + 1];
    int value;
    list_options(rows, variant, letters, list);
    opterr = 0;
    while ((value = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        const bool wrong = value == '?' || value == ':';
        const struct option_row *row = find(rows, variant, wrong ? optopt : value);
        const struct option_call call = {row, optarg, target};
        if (wrong)
            report_wrong(value, row, argv[optind - 1], list);
        else if (!row->take)
            return row->letter == 'h' ? OPTIONS_HELP : OPTIONS_VERSION;
        if (wrong || !row->take(&call))
            return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

int option_table_answer(enum option_result result, const char *text)
{
    return result == OPTIONS_WRONG ? EXIT_COMMAND : message_to_stdout(result == OPTIONS_HELP ? text : NULL);
}

/* The text of --help, as far as it is made. */
static char help[HELP_NBYTES];
static int help_length;

/* Returns how many bytes that were. */
static int __attribute__((format(printf, 1, 2))) add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(help + help_length, (size_t)(HELP_NBYTES - help_length), format, arguments);
    va_end(arguments);
    help_length = help_length + n < HELP_NBYTES ? help_length + n : HELP_NBYTES - 1;
    return n;
}

/* Words from a column on, in lines that begin with so many blanks; a line end stays one. */
static void add_wrapped(const char *words, int column)
{
    const int indent = column;
    for (bool ends = false; *words; words += *words != '\0') {
        const int length = (int)strcspn(words, " \n");
        if (ends || (column > indent && column + 1 + length > WIDTH))
            column = add("\n%*s", indent, "") - 1;
        column += add("%s%.*s", column > indent ? " " : "", length, words);
        words += length;
        ends = *words == '\n';
    }
    add("\n");
}

static void add_option(const struct option_row *row)
{
    const char letter[] = {'-', row->letter, ',', ' ', '\0'};
    const int length = add("  %s%s%s%s", row->letter ? letter : "    ", row->name,
                           row->value && *row->value != '[' ? " " : "", row->value ? row->value : "");
    if (length > INDENT - 2)
        add("\n");
    add("%*s", length > INDENT - 2 ? INDENT : INDENT - length, "");
    add_wrapped(row->help, INDENT);
}

const char *option_table_help(const struct option_row *rows, unsigned variant)
{
    help_length = 0;
    for (const struct option_row *row = rows; !is_last(row); row++) {
        if (!is_of(row, variant))
            continue;
        if (row->name) {
            add_option(row);
        } else if (*row->help == ' ') {
            add("%s\n", row->help);
        } else {
            add("%s", help_length > 0 ? "\n" : "");
            add_wrapped(row->help, 0);
        }
    }
    return help;
}
