/* SPDX-License-Identifier: MIT */
/* The library's calls on device memory. */
#include <map>

#include <softqam/softqam_cuda.h>

#include "call.h"

const bool built_with_cuda = true;

/* One for each GPU, kept to the end of the process. Called with the GIL held. */
softqam_context *cuda_context(int device)
{
    static auto &contexts = *new std::map<int, softqam_context *>;
    softqam_context *&context = contexts[device];
    if (!context) {
        softqam_context_config config;
        softqam_context_config_init(&config);
        config.backend = SOFTQAM_BACKEND_CUDA;
        config.device = device;
        check(softqam_context_create(&context, &config));
    }
    return context;
}

softqam_status cuda_demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments,
                               size_t n_segments, uintptr_t stream)
{
    return softqam_cuda_demodulate_segments(demodulator, segments, n_segments, reinterpret_cast<cudaStream_t>(stream));
}
