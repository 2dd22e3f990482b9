/* SPDX-License-Identifier: MIT */
/* Holds a SIMD header, which includes this at its end, against the list of operations: each is there, with its type. */
#define SIMD_OPERATION(type, name, parameters)                                                                         \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses): parameters bring their own */                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), type(*) parameters),                              \
                   "simd_operations.h has " #name);
#include "simd_operations.h"
