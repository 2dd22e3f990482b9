/* SPDX-License-Identifier: MIT */
/* A library whose arrays on a GPU C functions describe, by the C exchange API of DLPack: PyTorch from 2.10 on. */
#ifndef SOFTQAM_PYTHON_ARRAY_LIBRARY_H
#define SOFTQAM_PYTHON_ARRAY_LIBRARY_H

#include "array.h"

struct exchange_api;

class array_library
{
  public:
    /* Raises TypeError where the arrays' type has no C exchange API of DLPack 1. The rest are Python's functions:
     * plain(array): it is on a GPU, and DLPack can say all of it; empty(shape, dtype, device); number(value, device,
     * stream): a noise value in the GPU's memory. */
    array_library(nb::handle of_type, nb::object of_plain, nb::object of_empty, nb::object of_number);

    /* Whether `array` is of the library's own type, no derived one, and plain. */
    bool has(nb::handle array) const;
    /* An array that the library has. It must stay alive while it is in use. */
    void read(nb::handle array, const char *name, device_array *view) const;
    /* The stream that the library's own functions work on, on the device of `array`. */
    uintptr_t current_stream(const device_array &array) const;
    nb::object new_array(const int64_t *shape, int n_axes, element type, int device) const;
    nb::object new_number(float value, int device, uintptr_t stream) const;

  private:
    nb::object array_type, is_plain, empty, number;
    const exchange_api *api;
};

#endif
