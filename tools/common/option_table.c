/* SPDX-License-Identifier: MIT */
#include "option_table.h"

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

bool option_take_false(const struct option_call *call)
{
    *(bool *)target_of(call) = false;
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

enum option_result option_table_parse(const struct option_row *rows, unsigned variant, int argc, char *const argv[],
                                      void *target)
{
    char letters[2 * MAX_ROWS + 2];
    struct option list[MAX_ROWS + 1];
    int value;
    list_options(rows, variant, letters, list);
    while ((value = arguments_next(argc, argv, letters, list)) != -1) {
        const struct option_row *row = rows;
        while (!is_last(row) && (!row->name || !is_of(row, variant) || value_of(rows, row) != value))
            row++;
        if (is_last(row)) /* an unknown one, which is reported already */
            return OPTIONS_WRONG;
        if (!row->take)
            return row->letter == 'h' ? OPTIONS_HELP : OPTIONS_VERSION;
        const struct option_call call = {row, optarg, target};
        if (!row->take(&call))
            return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

int option_table_answer(enum option_result result, const char *help)
{
    if (result == OPTIONS_HELP)
        return message_to_stdout(help);
    return result == OPTIONS_VERSION ? message_version_to_stdout() : EXIT_COMMAND;
}

struct text {
    char bytes[HELP_NBYTES];
    size_t n;
};

static void add(struct text *text, const char *bytes, size_t n)
{
    const size_t room = text->n < HELP_NBYTES - 1 ? HELP_NBYTES - 1 - text->n : 0;
    n = n < room ? n : room;
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
    text->bytes[text->n] = '\0';
}

static void add_blanks(struct text *text, int n)
{
    for (int i = 0; i < n; i++)
        add(text, " ", 1);
}

/* Words from a column on, in lines that begin with so many blanks; a line end stays one. */
static void add_wrapped(struct text *text, const char *words, int indent, int column)
{
    for (bool is_first = true; *words; is_first = false) {
        const int length = (int)strcspn(words, " \n");
        if (!is_first && column + 1 + length > WIDTH) {
            add(text, "\n", 1);
            add_blanks(text, indent);
            column = indent;
        } else if (!is_first && column > indent) {
            add(text, " ", 1);
            column++;
        }
        add(text, words, (size_t)length);
        column += length;
        words += length;
        if (*words == '\n') {
            add(text, "\n", 1);
            add_blanks(text, indent);
            column = indent;
        }
        words += *words != '\0';
    }
    add(text, "\n", 1);
}

static void add_option(struct text *text, const struct option_row *row)
{
    char names[64];
    const char letter[] = {'-', row->letter, ',', ' ', '\0'};
    const int length = snprintf(names, sizeof names, "  %s%s%s%s", row->letter ? letter : "    ", row->name,
                                row->value && *row->value != '[' ? " " : "", row->value ? row->value : "");
    add(text, names, (size_t)length);
    if (length > INDENT - 2)
        add(text, "\n", 1);
    add_blanks(text, length > INDENT - 2 ? INDENT : INDENT - length);
    add_wrapped(text, row->help, INDENT, INDENT);
}

const char *option_table_help(const struct option_row *rows, unsigned variant)
{
    static struct text text;
    text.n = 0;
    for (const struct option_row *row = rows; !is_last(row); row++) {
        if (!is_of(row, variant))
            continue;
        if (row->name) {
            add_option(&text, row);
        } else if (*row->help == ' ') {
            add(&text, row->help, strlen(row->help));
            add(&text, "\n", 1);
        } else {
            add(&text, "\n", text.n > 0);
            add_wrapped(&text, row->help, 0, 0);
        }
    }
    return text.bytes;
}
