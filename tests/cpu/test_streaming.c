/* SPDX-License-Identifier: MIT */
/* The output of large calls is stored past the caches, with a fence after it, that of smaller ones is not; from any
 * address, in one segment or several, descrambled, of samples that are converted. The bytes are those of small calls.
 */
#include <stdatomic.h>
#include <string.h>

#include "streaming.h"
#include "trial.h"

/* Stores past the caches are made by softqam_copy_streaming(), and end with softqam_streaming_fence(). The linker wraps
 * both, so their calls pass these functions. */
static atomic_size_t n_fences, n_copied_bytes;

void __real_softqam_streaming_fence(void);
void __wrap_softqam_streaming_fence(void);
void __wrap_softqam_streaming_fence(void)
{
    n_fences++;
    __real_softqam_streaming_fence();
}

void __real_softqam_copy_streaming(void *to, const void *from, size_t nbytes);
void __wrap_softqam_copy_streaming(void *to, const void *from, size_t nbytes);
void __wrap_softqam_copy_streaming(void *to, const void *from, size_t nbytes)
{
    n_copied_bytes += nbytes;
    __real_softqam_copy_streaming(to, from, nbytes);
}

/* From how many bytes on a call is large goes with SOFTQAM_TEST_PERCENT: where symbols take long there are fewer. */
size_t __real_softqam_streaming_nbytes(void);
size_t __wrap_softqam_streaming_nbytes(void);
size_t __wrap_softqam_streaming_nbytes(void) { return harness_symbol_count(__real_softqam_streaming_nbytes()); }

/* Calls of softqam_streaming_nbytes() bytes, and of a symbol less. */
static void check_large(harness_random *random, const llr_contexts *on, softqam_output_format output,
                        softqam_modulation modulation)
{
    const size_t nbytes = softqam_output_nbytes(output, modulation, 1);
    const size_t n = (softqam_streaming_nbytes() + nbytes - 1) / nbytes;
    for (size_t k = 0; k < 3; k++) {
        const bool is_large = k != 1, is_u8 = output == SOFTQAM_OUTPUT_U8;
        const trial_choice choice = {
            .modulation = modulation,
            .n_layers = 1,
            .is_plain = is_u8 || k < 2,
            .is_descrambled = !is_u8,
            .n_elements = is_large ? n : n - 1,
            .n_parts = k < 2 ? 1 : 2,
            .values = llr_mixture,
        };
        n_fences = n_copied_bytes = 0;
        trial_check(random, on, output, (softqam_input_format)harness_random_below(random, HARNESS_N_INPUT_FORMATS),
                    &choice);
        assert_true(is_large ? n_fences >= on->n && n_copied_bytes > on->n * n * nbytes / 100 * 98
                             : n_copied_bytes == 0);
    }
}

HARNESS_TEST(test_large_calls)
{
    harness_random random = harness_random_named(__func__);
    SCOPED(llr_close_contexts) llr_contexts on = llr_open_contexts(2, 0, 0);
    for (size_t k = 0; k < HARNESS_N_MODULATIONS; k++) /* in each format; in f32 BPSK, for the sake of time */
        check_large(&random, &on, harness_llr_formats[3 * (k + 1) % HARNESS_N_LLR_FORMATS],
                    (softqam_modulation)(1 + k));
    check_large(&random, &on, SOFTQAM_OUTPUT_U8, SOFTQAM_MODULATION_256QAM);
}
