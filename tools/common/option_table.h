/* SPDX-License-Identifier: MIT */
/* A program's options in one table, which parses them and prints --help, from which the man page is made. */
#ifndef SOFTQAM_TOOLS_COMMON_OPTION_TABLE_H
#define SOFTQAM_TOOLS_COMMON_OPTION_TABLE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_row;

/* An option as a command gives it. */
struct option_call {
    const struct option_row *row;
    const char *text; /* its value; NULL: none */
    void *target;     /* the program's structure of options */
};

/* A row is an option, or text of --help, wrapped if it does not begin with a blank. The last row has neither. */
struct option_row {
    const char *name;  /* "--skip"; NULL: the row is text */
    const char *value; /* the name of its value in --help, "N"; "[=N]": the value is optional; NULL: it has none */
    const char *help;  /* its description, or the text */
    bool (*take)(
        const struct option_call *call); /* reads the value; false after a message. NULL: --help and --version */
    size_t offset;                       /* offset of the member that take() sets */
    uint64_t min, max;                   /* option_take_count(), option_take_unsigned() */
    const char *const *names;            /* option_take_choice(): ends with NULL */
    char letter;                         /* 'm' for -m; 0: none */
};

#define OPTION_TEXT(words)                                                                                             \
    {                                                                                                                  \
        .help = (words)                                                                                                \
    }

/* Functions for `take`. */
bool option_take_true(const struct option_call *call);     /* the target is a bool */
bool option_take_text(const struct option_call *call);     /* the target is a const char * */
bool option_take_count(const struct option_call *call);    /* the target is a uint64_t */
bool option_take_unsigned(const struct option_call *call); /* the target is an unsigned */
bool option_take_choice(const struct option_call *call);   /* the target is an int, the index of the name */
bool option_take_modulation(const struct option_call *call);

/* Functions that read values. They return false for a wrong one, after a message that names the option and the value.
 */

/* Reads a whole number from min to max, such as 1000000, 1M or 64Ki. */
bool arguments_parse_count(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Reads a decimal number from min to max. */
bool arguments_parse_real(const char *option, const char *text, double min, double max, double *value);

/* Reads a decimal number or a fraction A/B, from min to max, which are positive. `word`, unless it is NULL, is taken
 * too and gives 0. */
bool arguments_parse_ratio(const char *option, const char *text, double min, double max, const char *word,
                           double *value);

/* Reads the value of --c-init: 0 to 2^31 - 1, in decimal or, after 0x, hexadecimal digits. */
bool arguments_parse_c_init(const char *text, uint32_t *c_init);

/* Reads one of the names of a list that ends with NULL, in upper or lower case. The value is its index. */
bool arguments_parse_choice(const char *option, const char *text, const char *const names[], int *value);

/* The next action of main(). */
enum option_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_WRONG };

/* Parses a command; returns OPTIONS_WRONG after a message. The n_operands operands are argv[optind] and the next ones;
 * `operands` has their names for a message, or is NULL without operands. */
enum option_result option_table_parse(const struct option_row *rows, int argc, char *const argv[], void *target,
                                      int n_operands, const char *operands);

/* Prints --help or the version on standard output, if that is the result. Returns the program's exit status. */
int option_table_answer(enum option_result result, const struct option_row *rows);

#endif
