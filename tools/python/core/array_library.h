/* SPDX-License-Identifier: MIT */
/* A library whose arrays on a GPU C functions describe, by the C exchange API of DLPack: PyTorch from 2.10 on. */
#ifndef SOFTQAM_PYTHON_ARRAY_LIBRARY_H
#define SOFTQAM_PYTHON_ARRAY_LIBRARY_H

#include "array.h"
#include "interpreter.h"

/* DLPackExchangeAPI, as https://dmlc.github.io/dlpack/latest/c_api.html specifies it: the same in all versions 1.x,
 * which may add functions behind these. The first three are not called. */
struct exchange_api {
    uint32_t major, minor;
    const exchange_api *previous; /* of an older version */
    void (*managed_tensor_allocator)();
    void (*managed_tensor_from_py_object_no_sync)();
    void (*managed_tensor_to_py_object_no_sync)();
    /* Both return 0, or -1 with a Python error set. */
    int (*dltensor_from_py_object_no_sync)(void *object, nb::dlpack::dltensor *tensor);
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **stream);
};

class array_library
{
  public:
    /* Python's functions. empty(shape, dtype, device); number(value, device, stream): a noise value in the GPU's
     * memory. */
    nb::object empty, number;

    /* Raises TypeError where the arrays' type has no C exchange API of DLPack 1. is_plain(array): it is on a GPU, and
     * DLPack can say all of it. */
    array_library(nb::object of_type, nb::object of_plain, nb::object of_empty, nb::object of_number)
        : empty(std::move(of_empty)), number(std::move(of_number)), array_type(std::move(of_type)),
          is_plain(std::move(of_plain))
    {
        const nb::object capsule = nb::steal(PyObject_GetAttrString(array_type.ptr(), "__dlpack_c_exchange_api__"));
        if (capsule.is_valid())
            api = static_cast<const exchange_api *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
        PyErr_Clear();
        while (api && api->major > 1)
            api = api->previous;
        if (!api || api->major != 1 || !api->dltensor_from_py_object_no_sync || !api->current_work_stream)
            type_error("the type has no C exchange API of DLPack 1");
    }

    /* Whether `object` is an array of the library's own type, no derived one, and plain. */
    bool has(nb::handle object) const
    {
        return object.type().is(array_type) && call_python(is_plain, object).is(Py_True);
    }

    /* An array that the library has. It must stay alive while it is in use. */
    void read(nb::handle object, const char *name, array *view) const
    {
        nb::dlpack::dltensor tensor{};
        if (api->dltensor_from_py_object_no_sync(object.ptr(), &tensor) != 0)
            throw nb::python_error();
        view->read_tensor(tensor, name);
    }

    /* The stream that the library's own functions work on. */
    uintptr_t current_stream(int device) const
    {
        void *stream = nullptr;
        if (api->current_work_stream(nb::device::cuda::value, device, &stream) != 0)
            throw nb::python_error();
        return reinterpret_cast<uintptr_t>(stream);
    }

  private:
    nb::object array_type, is_plain;
    const exchange_api *api = nullptr;
};

#endif
