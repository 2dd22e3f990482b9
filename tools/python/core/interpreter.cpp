/* SPDX-License-Identifier: MIT */
/* Where a thread may lose the GIL, as interpreter.h has it. */
#include "interpreter.h"

#include <cxxabi.h>
#include <unistd.h>

/* Does work that ends with the GIL. */
template <typename Work> static void outlive_interpreter(const Work &work)
{
    try {
        work();
    } catch (const abi::__forced_unwind &) {
        for (;;)
            pause();
    }
}

gil_released::~gil_released()
{
    outlive_interpreter([this] { PyEval_RestoreThread(state); });
}

nb::object call_python(nb::handle function, nb::handle first, nb::handle second, nb::handle third)
{
    PyObject *result = nullptr;
    outlive_interpreter([&] {
        result = PyObject_CallFunctionObjArgs(function.ptr(), first.ptr(), second.ptr(), third.ptr(), nullptr);
    });
    if (!result)
        throw nb::python_error();
    return nb::steal(result);
}
