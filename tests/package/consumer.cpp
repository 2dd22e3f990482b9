/* SPDX-License-Identifier: MIT */
/* The same in C++17. */
#include "consumer.c"
