/* SPDX-License-Identifier: MIT */
/* consumer.c in C++17. */
#include "consumer.c"
