/* SPDX-License-Identifier: MIT */
/* The C exchange API of DLPack, as array_library.h has it. */
#include "array_library.h"

#include "interpreter.h"

/* DLPackExchangeAPI, as https://dmlc.github.io/dlpack/latest/c_api.html specifies it: the same in all versions 1.x,
 * which may add functions behind these. The first three are not called. */
struct exchange_header {
    uint32_t major, minor;
    const exchange_header *previous; /* of an older version */
};
struct exchange_api {
    exchange_header header;
    void (*managed_tensor_allocator)();
    void (*managed_tensor_from_py_object_no_sync)();
    void (*managed_tensor_to_py_object_no_sync)();
    /* Both return 0, or -1 with a Python error set. */
    int (*dltensor_from_py_object_no_sync)(void *object, nb::dlpack::dltensor *tensor);
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **stream);
};

/* NULL where there is none; no Python error is left behind. */
static const exchange_api *api_of(nb::handle array_type)
{
    const nb::object capsule = nb::steal(PyObject_GetAttrString(array_type.ptr(), "__dlpack_c_exchange_api__"));
    const void *table = capsule.is_valid() ? PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api") : nullptr;
    PyErr_Clear();
    const auto *header = static_cast<const exchange_header *>(table);
    while (header && header->major > 1)
        header = header->previous;
    /* A table begins with its header. */
    const auto *api = reinterpret_cast<const exchange_api *>(header);
    const bool usable = api && header->major == 1 && api->dltensor_from_py_object_no_sync && api->current_work_stream;
    return usable ? api : nullptr;
}

array_library::array_library(nb::handle of_type, nb::object of_plain, nb::object of_empty, nb::object of_number)
    : array_type(nb::borrow(of_type)), is_plain(std::move(of_plain)), empty(std::move(of_empty)),
      number(std::move(of_number)), api(api_of(of_type))
{
    if (!api)
        type_error("the type has no C exchange API of DLPack 1");
}

bool array_library::has(nb::handle array) const
{
    return array.type().is(array_type) && call_python(is_plain, array).is(Py_True);
}

void array_library::read(nb::handle array, const char *name, device_array *view) const
{
    nb::dlpack::dltensor tensor{};
    if (api->dltensor_from_py_object_no_sync(array.ptr(), &tensor) != 0)
        throw nb::python_error();
    view->read(tensor, name);
}

uintptr_t array_library::current_stream(const device_array &array) const
{
    void *stream = nullptr;
    if (api->current_work_stream(nb::device::cuda::value, array.device, &stream) != 0)
        throw nb::python_error();
    return reinterpret_cast<uintptr_t>(stream);
}

nb::object array_library::new_array(const int64_t *shape, int n_axes, element type, int device) const
{
    return call_python(empty, shape_tuple(shape, n_axes), nb::str(element_name(type)), nb::int_(device));
}

nb::object array_library::new_number(float value, int device, uintptr_t stream) const
{
    return call_python(number, nb::float_(value), nb::int_(device), nb::int_(stream));
}
