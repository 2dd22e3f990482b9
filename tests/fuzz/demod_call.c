/* SPDX-License-Identifier: MIT */
/* softqam-demod as a function. */
int demod_main(int argc, char *argv[]);
#define main demod_main
#include "../../tools/demod/demod.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include <getopt.h>

#include "fuzz.h"

int demod_call(int argc, const char *argv[])
{
    optind = 0; /* getopt starts again */
    hold_messages();
    const int code = demod_main(argc, (char **)argv);
    check_messages(code != 0, "softqam-demod: ");
    return code;
}
