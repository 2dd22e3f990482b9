/* SPDX-License-Identifier: MIT */
/* Where a thread may lose the GIL. A daemon thread that wants it again while the interpreter ends gets no further:
 * before Python 3.14 pthread_exit() ends it there, by unwinding a stack whose functions let nothing pass and whose
 * destructors would need the GIL. Here such a thread waits for the end of the process instead, as it does from 3.14 on.
 */
#ifndef SOFTQAM_PYTHON_INTERPRETER_H
#define SOFTQAM_PYTHON_INTERPRETER_H

#include <nanobind/nanobind.h>

namespace nb = nanobind;

/* The GIL is given back while one lives. */
class gil_released
{
  public:
    gil_released() : state(PyEval_SaveThread()) {}
    gil_released(const gil_released &) = delete;
    gil_released &operator=(const gil_released &) = delete;
    ~gil_released();

  private:
    PyThreadState *state;
};

/* What a function of Python's returns; its exceptions are nanobind's. */
nb::object call_python(nb::handle function, nb::handle first, nb::handle second = {}, nb::handle third = {});

#endif
