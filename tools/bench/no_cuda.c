/* SPDX-License-Identifier: MIT */
/* In place of gpu*.c in a build without CUDA. */
#include "common/message.h"
#include "sections.h"

void bench_cuda(struct report *report, const struct bench_options *options)
{
    (void)report;
    (void)options;
    message_print("cuda", "not measured: this build has no CUDA backend");
}
