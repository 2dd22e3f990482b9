/* SPDX-License-Identifier: MIT */
/* Contexts: the default one; what is prepared, whichever demodulators there are; which variant of the CPU's loops runs.
 * test_load.c and faults/test_faults.c end contexts before and after their demodulators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_fixture.h"

/* Enough for the context's threads to be worth starting. */
enum { LARGE_SYMBOLS = 60000 };

/* Demodulators without a context of their own share one, whose threads end with the last of them. */
HARNESS_TEST(test_default_context)
{
    const size_t without_threads = tasks_now().n;
    for (int round = 0; round < 2; round++) {
        softqam_demodulator *demodulators[3];
        const softqam_demodulator_config config = api_config_in(NULL);
        for (int k = 0; k < 3; k++)
            demodulators[k] = api_create(k == 2 ? NULL : &config);
        softqam_context *context = softqam_demodulator_context(demodulators[0]);
        assert_non_null(context);
        assert_ptr_not_equal(context, api_shared_context());
        for (int k = 1; k < 3; k++)
            assert_ptr_equal(softqam_demodulator_context(demodulators[k]), context);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
        const size_t with_threads = tasks_now().n;
        softqam_demodulator_destroy(demodulators[0]);
        softqam_demodulator_destroy(demodulators[2]);
        assert_int_equal(tasks_count(with_threads), with_threads);
        api_assert_works_on(demodulators[1], LARGE_SYMBOLS);
        softqam_demodulator_destroy(demodulators[1]);
        assert_int_equal(tasks_count(without_threads), without_threads);
        assert_true(without_threads <= with_threads);
    }
}

/* The last context is one that nothing was ever done with. */
HARNESS_TEST(test_prepare_flags)
{
    const softqam_context_config config = api_context_config();
    for (unsigned what = 0; what <= SOFTQAM_PREPARE_ALL; what++) {
        scoped_context *context = api_create_context(&config);
        scoped_demodulator *demodulator = api_create_in(context);
        for (int round = 0; round < 2; round++)
            assert_int_equal(softqam_context_prepare(context, what), SOFTQAM_OK);
        api_assert_works(demodulator);
    }
    scoped_context *context = api_create_context(&config);
    api_check_refusal(softqam_context_prepare(context, 8), "what is 0x8, of which 0x8 is unknown", "flags", 0);
    api_check_refusal(softqam_context_prepare(context, 17), "what is 0x11, of which 0x10 is unknown", "flags", 1);
    api_check_refusal(softqam_context_prepare(context, ~0U), "what is 0xffffffff, of which 0xfffffff8 is unknown",
                      "flags", 2);
    api_check_refusal(softqam_context_prepare(NULL, SOFTQAM_PREPARE_ALL), "context is NULL", "prepare", 3);
    api_check_refusal(softqam_context_create(NULL, &config), "context is NULL", "create", 4);
}

/* AUTO has not looked for a GPU until it is told to, or until a call is large enough. */
HARNESS_TEST(test_backend_names)
{
    const bool usable = harness_cuda_is_usable();
    const softqam_backend backend = harness_backend();
    const char *found = backend != SOFTQAM_BACKEND_CPU && usable ? "cuda" : "cpu";
    const softqam_context_config config = api_context_config();
    scoped_context *context = api_create_context(&config);
    scoped_demodulator *demodulator = api_create_in(context);
    assert_string_equal(softqam_backend_name(demodulator), backend == SOFTQAM_BACKEND_AUTO ? "auto" : found);
    api_assert_one_line(softqam_backend_detail(demodulator));
    api_assert_works(demodulator);
    assert_string_equal(softqam_backend_name(demodulator), backend == SOFTQAM_BACKEND_AUTO ? "auto" : found);
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_KERNELS), SOFTQAM_OK);
    assert_string_equal(softqam_backend_name(demodulator), found);
    print_message("%s: %s\n", softqam_backend_name(demodulator), softqam_backend_detail(demodulator));
}

/* Arrays are the caller's again as soon as the context is made. */
HARNESS_TEST(test_config_is_copied)
{
    unsigned *cpus = harness_alloc(2 * sizeof *cpus);
    cpus[0] = cpus[1] = 0;
    char *variant = harness_alloc(16);
    strcpy(variant, "portable");
    softqam_context_config config = api_context_config();
    config.cpus = cpus;
    config.n_cpus = 2;
    config.cpu_variant = variant;
    scoped_context *context = api_create_context(&config);
    memset(cpus, 0xff, 2 * sizeof *cpus);
    memset(variant, 'x', 16);
    free(cpus);
    free(variant);
    memset(&config, 0xff, sizeof config);
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
    scoped_demodulator *demodulator = api_create_in(context);
    api_assert_works_on(demodulator, LARGE_SYMBOLS);
}

/* A name in the environment that is none is no reason to fail, and is said; a name in the configuration counts more. */
HARNESS_TEST(test_variants)
{
    enum { PORTABLE, USUAL, IGNORED };
    static char large[5000];
    memset(large, 'x', sizeof large - 1);
    const struct {
        const char *variable, *configured;
        int expected;
    } rows[] = {{"portable", NULL, PORTABLE},   {"", NULL, USUAL},
                {"sse9", NULL, IGNORED},        {"PORTABLE", NULL, IGNORED},
                {"portable ", NULL, IGNORED},   {"%s%n", NULL, IGNORED},
                {"a\nb\x1b[2J", NULL, IGNORED}, {large, NULL, IGNORED},
                {"sse9", "portable", PORTABLE}};
    const char *given = getenv("SOFTQAM_CPU_VARIANT");
    scoped_memory char *before = given ? strdup(given) : NULL;
    char usual[200] = "";
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        softqam_context_config config = api_context_config();
        config.backend = SOFTQAM_BACKEND_CPU;
        config.n_threads = 1;
        config.cpu_variant = rows[k].configured;
        assert_int_equal(setenv("SOFTQAM_CPU_VARIANT", rows[k].variable, 1), 0);
        scoped_context *context = api_create_context(&config);
        scoped_demodulator *demodulator = api_create_in(context);
        const char *detail = softqam_backend_detail(demodulator);
        api_assert_one_line(detail);
        assert_true(strlen(detail) < sizeof usual);
        if (rows[k].expected == USUAL)
            strcpy(usual, detail);
        assert_true(strncmp(detail, usual, strlen(usual)) == 0 || rows[k].expected == PORTABLE);
        assert_true(strcmp(detail, "portable, 1 thread") == 0 || rows[k].expected != PORTABLE);
        assert_int_equal(strstr(detail, " (SOFTQAM_CPU_VARIANT ignored: no variant \"") != NULL,
                         rows[k].expected == IGNORED);
        assert_null(strchr(detail, '\x1b'));
        api_assert_works(demodulator);
    }
    if (before)
        setenv("SOFTQAM_CPU_VARIANT", before, 1);
    else
        unsetenv("SOFTQAM_CPU_VARIANT");
}
