/* SPDX-License-Identifier: MIT */
/* Any codeword: its code blocks, and what comes to their buffers. */
#ifndef SOFTQAM_TESTS_FUZZ_API_CODEWORDS_H
#define SOFTQAM_TESTS_FUZZ_API_CODEWORDS_H

#include "api_input.h"

/* A codeword and a range of it from the input, demodulated and compared with the definition's values in their places.
 */
void use_codeword(source *self, const softqam_demodulator *demodulator, const softqam_demodulator *definition,
                  const softqam_demodulator_config *config);

#endif
