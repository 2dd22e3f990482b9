/* SPDX-License-Identifier: MIT */
/* Any codeword in any layout: the random calls of tests/llr, whose choices are the fuzzer's. Every variant of the CPU's
 * loops must give the bytes that tests/llr expects, and touch no other memory. */
#include <stdlib.h>

#include "fuzz.h"
#include "trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static llr_contexts on;
    harness_random random = harness_random_of_bytes(data, nbytes);
    if (on.n == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failed test ends the program with its core */
        harness_set_modulation(SOFTQAM_MODULATION_256QAM);
        on = llr_open_contexts(1, 0, 0);
    }
    const softqam_output_format format = (softqam_output_format)harness_random_below(&random, HARNESS_N_OUTPUT_FORMATS);
    const bool is_u8 = format == SOFTQAM_OUTPUT_U8;
    const softqam_input_format input = (softqam_input_format)harness_random_below(&random, HARNESS_N_INPUT_FORMATS);
    const trial_choice choice = {
        .layout = is_u8 ? TRIAL_IN_ORDER : (trial_layout)harness_random_below(&random, TRIAL_BLOCKS + 1),
        .modulation = is_u8 ? SOFTQAM_MODULATION_256QAM : SOFTQAM_MODULATION_DEFAULT,
        .n_layers = is_u8,
        .is_descrambled = !is_u8 && harness_random_below(&random, 2),
        .n_elements = harness_random_below(&random, 200),
        .max_n_cb = 1 + harness_random_below(&random, 700),
        .max_blocks = 9,
        .max_bits = 1500,
    };
    trial_check(&random, &on, format, input, &choice);
    return 0;
}
