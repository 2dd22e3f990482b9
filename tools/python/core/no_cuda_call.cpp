/* SPDX-License-Identifier: MIT */
/* cuda_call.cpp's place in a build without CUDA. */
#include "call.h"

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
