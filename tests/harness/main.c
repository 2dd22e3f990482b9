/* SPDX-License-Identifier: MIT */
/* main() of the programs that have none of their own: this object of the archive is linked only then. */
#include "harness.h"

int main(int argc, char **argv) { return harness_run(argc, argv); }
