/* SPDX-License-Identifier: MIT */
/* Python's interpreter: its errors, its lock, and calls of its functions. */
#ifndef SOFTQAM_PYTHON_INTERPRETER_H
#define SOFTQAM_PYTHON_INTERPRETER_H

#include <cxxabi.h>
#include <string>
#include <unistd.h>

#include <nanobind/nanobind.h>

namespace nb = nanobind;

[[noreturn]] inline void type_error(const std::string &message) { throw nb::type_error(message.c_str()); }
[[noreturn]] inline void value_error(const std::string &message) { throw nb::value_error(message.c_str()); }

/* If the interpreter has ended when a daemon thread takes the GIL back, Python before 3.14 ends the thread by
 * pthread_exit(). That unwinds the stack, whose functions are noexcept, and whose destructors need the GIL. The next
 * functions let such a thread wait for the end of the process instead, as Python does from 3.14 on. */

/* Runs a function that ends by taking the GIL back. */
template <typename Work> void outlive_interpreter(const Work &work)
{
    try {
        work();
    } catch (const abi::__forced_unwind &) {
        for (;;)
            pause();
    }
}

/* Releases the GIL while it exists. */
class gil_released
{
  public:
    gil_released() : state(PyEval_SaveThread()) {}
    gil_released(const gil_released &) = delete;
    gil_released &operator=(const gil_released &) = delete;
    ~gil_released()
    {
        outlive_interpreter([this] { PyEval_RestoreThread(state); });
    }

  private:
    PyThreadState *state;
};

/* Calls a function of Python and returns its result. Exceptions come out as nanobind::python_error. */
template <typename... Arguments> nb::object call_python(nb::handle function, const Arguments &...arguments)
{
    PyObject *result = nullptr;
    outlive_interpreter([&] {
        result = PyObject_CallFunctionObjArgs(function.ptr(), arguments.ptr()..., static_cast<void *>(nullptr));
    });
    if (!result)
        throw nb::python_error();
    return nb::steal(result);
}

#endif
