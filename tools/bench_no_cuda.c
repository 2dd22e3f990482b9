/* SPDX-License-Identifier: MIT */
/* A build without CUDA. */
#include "bench_sections.h"

#include "message.h"

void bench_cuda(struct report *report, const struct bench_input *input, size_t n_device_symbols, char *device,
                size_t device_nbytes)
{
    (void)report;
    (void)input;
    (void)n_device_symbols;
    (void)device;
    (void)device_nbytes;
    message_print("cuda", "not measured: this build has no CUDA backend");
}
