/* SPDX-License-Identifier: MIT */
/* softqam-demod as a function. */
int demod_main(int argc, char *argv[]);
#define main demod_main
#include "../../tools/demod.c" /* NOLINT(bugprone-suspicious-include) */
