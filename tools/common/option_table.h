/* SPDX-License-Identifier: MIT */
/* A program's options as one table, from which they are parsed, and --help is made; of that the man pages and the
 * completions are. So an option without what it does, or without its line in --help, cannot be. */
#ifndef SOFTQAM_TOOLS_COMMON_OPTION_TABLE_H
#define SOFTQAM_TOOLS_COMMON_OPTION_TABLE_H

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

/* A row is an option, or text of --help, wrapped where it does not begin with a blank. The last row has neither. */
struct option_row {
    const char *name;  /* "--skip"; NULL for text */
    const char *value; /* what --help calls it, "N"; "[=N]" where it may be left out */
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

/* What take() can be. */
bool option_take_true(const struct option_call *call);     /* of bool */
bool option_take_text(const struct option_call *call);     /* of const char * */
bool option_take_count(const struct option_call *call);    /* of uint64_t */
bool option_take_unsigned(const struct option_call *call); /* of unsigned */
bool option_take_choice(const struct option_call *call);   /* of int: the index of the name */
bool option_take_modulation(const struct option_call *call);

/* What main() does next. */
enum option_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_WRONG };

/* OPTIONS_WRONG after it has said what is wrong. The operands are those from optind on. */
enum option_result option_table_parse(const struct option_row *rows, int argc, char *const argv[], void *target);

/* What a program answers that does not run: --help is on standard output. An exit status. */
int option_table_answer(enum option_result result, const struct option_row *rows);

#endif
