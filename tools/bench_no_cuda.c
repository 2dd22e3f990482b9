/* SPDX-License-Identifier: MIT */
/* A build without CUDA. */
#include "bench_sections.h"

#include "message.h"

void bench_cuda(struct report *report, const struct bench_input *input, size_t n_device_symbols)
{
    (void)report;
    (void)input;
    (void)n_device_symbols;
    message_print("cuda", "not measured: this build has no CUDA backend");
}
