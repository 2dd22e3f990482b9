/* SPDX-License-Identifier: MIT */
/* A program's options as one table, from which they are parsed and --help is made, of which man pages are. So no option
 * lacks its line in --help. */
#ifndef SOFTQAM_TOOLS_COMMON_OPTION_TABLE_H
#define SOFTQAM_TOOLS_COMMON_OPTION_TABLE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_row;

/* An option of a command line. */
struct option_call {
    const struct option_row *row;
    const char *text; /* its value; NULL for none */
    void *target;     /* where the program has its options */
};

/* A row is an option, or text of --help, wrapped if it does not begin with a blank. The last row has neither. */
struct option_row {
    const char *name;  /* "--skip"; NULL for text */
    const char *value; /* what --help calls it, "N"; "[=N]" if it may be left out */
    const char *help;  /* what it does; or the text */
    bool (*take)(
        const struct option_call *call); /* false after it has said what is wrong; NULL: --help and --version */
    size_t offset;                       /* in the target, for these: */
    uint64_t min, max;                   /* option_take_count(), option_take_unsigned() */
    const char *const *names;            /* option_take_choice(): ends with NULL */
    char letter;                         /* 'm' for -m; 0 for none */
};

#define OPTION_TEXT(words)                                                                                             \
    {                                                                                                                  \
        .help = (words)                                                                                                \
    }

/* Values of take(). */
bool option_take_true(const struct option_call *call);     /* the target is a bool */
bool option_take_text(const struct option_call *call);     /* the target is a const char * */
bool option_take_count(const struct option_call *call);    /* the target is a uint64_t */
bool option_take_unsigned(const struct option_call *call); /* the target is an unsigned */
bool option_take_choice(const struct option_call *call);   /* the target is an int, the index of the name */
bool option_take_modulation(const struct option_call *call);

/* Functions for take(), which read the values of options. The message about a wrong one names the option and the
 * value. */

/* Reads a whole number, min to max: 1000000, 1M or 64Ki. */
bool arguments_parse_count(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Reads a decimal number, min to max. */
bool arguments_parse_real(const char *option, const char *text, double min, double max, double *value);

/* Reads a decimal number, or a fraction A/B of two of them, from min to max, which are positive; or a word, which gives
 * 0, NULL for none. */
bool arguments_parse_ratio(const char *option, const char *text, double min, double max, const char *word,
                           double *value);

/* Reads the value of --c-init: 0 to 2^31 - 1, in decimal or, after 0x, hexadecimal digits. */
bool arguments_parse_c_init(const char *text, uint32_t *c_init);

/* Reads one of the names of a list that ends with NULL, in any case; the value is its index. */
bool arguments_parse_choice(const char *option, const char *text, const char *const names[], int *value);

/* The next action of main(). */
enum option_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_WRONG };

/* OPTIONS_WRONG after it has said what is wrong. The operands, as many as there are to be, are those from optind on;
 * `operands` are their names, NULL if there are none. */
enum option_result option_table_parse(const struct option_row *rows, int argc, char *const argv[], void *target,
                                      int n_operands, const char *operands);

/* Prints --help or the version on standard output. Returns the exit status of a program that does not run. */
int option_table_answer(enum option_result result, const struct option_row *rows);

#endif
