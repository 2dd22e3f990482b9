/* SPDX-License-Identifier: MIT */
/* SHA-512, by libcrypto. */
#ifndef SOFTQAM_TOOLS_COMMON_SHA512_H
#define SOFTQAM_TOOLS_COMMON_SHA512_H

#include <stdbool.h>
#include <stddef.h>

enum { SHA512_HEX_NBYTES = 129 }; /* with the end of the string */

/* NULL when memory is short; where no hash is wanted the other functions take NULL too, which has no result. */
struct sha512 *sha512_create(void);
void sha512_add(struct sha512 *hash, const void *data, size_t nbytes);

/* False when there is no result. Nothing can be added later. */
bool sha512_finish(struct sha512 *hash, char hex[SHA512_HEX_NBYTES]);
void sha512_destroy(struct sha512 *hash);

#endif
