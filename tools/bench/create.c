/* SPDX-License-Identifier: MIT */
#include "create.h"

softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = backend;
    config.n_threads = n_threads;
    return config;
}

softqam_status bench_create(softqam_demodulator **demodulator, const softqam_context_config *context_config,
                            const softqam_config *config)
{
    softqam_config with_context;
    softqam_context *context;
    *demodulator = NULL;
    softqam_status status = softqam_context_create(&context, context_config);
    if (status != SOFTQAM_OK)
        return status;
    if (config)
        with_context = *config;
    else
        softqam_config_init(&with_context);
    with_context.context = context;
    status = softqam_create(demodulator, &with_context);
    softqam_context_destroy(context);
    return status;
}
