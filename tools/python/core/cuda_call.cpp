/* SPDX-License-Identifier: MIT */
/* The library's calls on device memory. */
#include "call.h"

#ifdef SOFTQAM_PYTHON_CUDA
#include <softqam/softqam_cuda.h>

const bool built_with_cuda = true;

/* One for each GPU, kept to the end of the process. Called with the GIL held. */
softqam_context *cuda_context(int device)
{
    static auto &contexts = *new std::map<int, softqam_context *>;
    softqam_context *&kept = contexts[device];
    if (!kept)
        kept = new_context(SOFTQAM_BACKEND_CUDA, 0, device);
    return kept;
}

softqam_status cuda_demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments,
                               size_t n_segments, uintptr_t stream)
{
    return softqam_cuda_demodulate_segments(demodulator, segments, n_segments, reinterpret_cast<cudaStream_t>(stream));
}
#else
const bool built_with_cuda = false;

softqam_context *cuda_context(int)
{
    PyErr_SetString(PyExc_RuntimeError, "symbols is on a GPU, and this softqam was built without CUDA");
    throw nb::python_error();
}

softqam_status cuda_demodulate(const softqam_demodulator *, const softqam_segment *, size_t, uintptr_t)
{
    return SOFTQAM_ERROR_BACKEND_UNAVAILABLE;
}
#endif
