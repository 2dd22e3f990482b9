/* SPDX-License-Identifier: MIT */
/* Any code blocks of a codeword: the segments that they are cut into, and what those come to. */
#ifndef SOFTQAM_TESTS_FUZZ_API_CODEWORDS_H
#define SOFTQAM_TESTS_FUZZ_API_CODEWORDS_H

#include "api_input.h"

/* A codeword and a range of it from the input, demodulated and compared with the definition's values in their places.
 */
void use_codeword(source *self, softqam_demodulator *demodulator, softqam_demodulator *definition,
                  const softqam_config *config);

#endif
