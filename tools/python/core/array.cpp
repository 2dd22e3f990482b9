/* SPDX-License-Identifier: MIT */
/* Arrays of NumPy and of GPU libraries, as array.h has them. */
#include "array.h"

#include <cstring>

static const struct {
    const char *name;
    size_t nbytes;
} elements[] = {
    {"complex64", 8}, {"complex128", 16}, {"complex32", 4}, {"float32", 4}, {"float64", 8}, {"float16", 2},
    {"int16", 2},     {"int8", 1},        {"uint8", 1},     {"uint32", 4},  {"other", 1},
};

size_t element_nbytes(element type)
{
    return elements[static_cast<int>(type)].nbytes;
}

const char *element_name(element type)
{
    return elements[static_cast<int>(type)].name;
}

/* Of a buffer's format, as the module struct has them, with NumPy's Z for complex. */
static element element_of_format(const char *format)
{
    if (!format)
        return element::uint8;
    if (*format == '@' || *format == '=' || *format == '<' || *format == '^')
        format++;
    if (strcmp(format, "Zf") == 0)
        return element::complex64;
    if (strcmp(format, "Zd") == 0)
        return element::complex128;
    if (format[0] == '\0' || format[1] != '\0')
        return element::other;
    switch (format[0]) {
    case 'f':
        return element::float32;
    case 'd':
        return element::float64;
    case 'e':
        return element::float16;
    case 'h':
        return element::int16;
    case 'b':
        return element::int8;
    case 'B':
        return element::uint8;
    case 'I':
        return element::uint32;
    default:
        return element::other;
    }
}

static element element_of_dlpack(nb::dlpack::dtype type)
{
    if (type.lanes != 1)
        return element::other;
    const struct {
        nb::dlpack::dtype_code code;
        int bits;
        element type;
    } known[] = {
        {nb::dlpack::dtype_code::Complex, 64, element::complex64},
        {nb::dlpack::dtype_code::Complex, 32, element::complex32},
        {nb::dlpack::dtype_code::Float, 32, element::float32},
        {nb::dlpack::dtype_code::Float, 16, element::float16},
        {nb::dlpack::dtype_code::Int, 16, element::int16},
        {nb::dlpack::dtype_code::Int, 8, element::int8},
        {nb::dlpack::dtype_code::UInt, 8, element::uint8},
    };
    for (const auto &row : known)
        if (type.code == static_cast<uint8_t>(row.code) && type.bits == row.bits)
            return row.type;
    return element::other;
}

bool array::is_empty() const
{
    for (int axis = 0; axis < n_axes; axis++)
        if (shape[axis] == 0)
            return true;
    return false;
}

bool array::is_contiguous() const
{
    int64_t expected = static_cast<int64_t>(element_nbytes(type));
    for (int axis = n_axes - 1; axis >= 0; axis--) {
        if (shape[axis] != 1 && strides[axis] != expected)
            return is_empty();
        expected *= shape[axis];
    }
    return true;
}

void array::extent(const char **first, const char **end) const
{
    *first = data;
    *end = data + element_nbytes(type);
    for (int axis = 0; axis < n_axes; axis++) {
        const int64_t span = (shape[axis] - 1) * strides[axis];
        if (span < 0)
            *first += span;
        else
            *end += span;
    }
}

std::string describe_shape(const int64_t *shape, int n_axes)
{
    std::string text = "(";
    for (int axis = 0; axis < n_axes; axis++)
        text += (axis ? ", " : "") + std::to_string(shape[axis]);
    return text + (n_axes == 1 ? ",)" : ")");
}

nb::object shape_tuple(const int64_t *shape, int n_axes)
{
    nb::object tuple = nb::steal(PyTuple_New(n_axes));
    for (int axis = 0; axis < n_axes; axis++)
        PyTuple_SetItem(tuple.ptr(), axis, PyLong_FromLongLong(shape[axis]));
    return tuple;
}

std::string array::describe() const
{
    return (dtype.empty() ? element_name(type) : dtype) + " of shape " + describe_shape(shape, n_axes);
}

std::string dtype_text(nb::handle object)
{
    nb::object text = nb::steal(PyObject_GetAttrString(object.ptr(), "dtype"));
    if (text.is_valid())
        text = nb::steal(PyObject_Str(text.ptr()));
    PyErr_Clear();
    return text.is_valid() ? nb::borrow<nb::str>(text).c_str() : "object without a dtype";
}

bool host_array::acquire(nb::handle object, const char *argument)
{
    release();
    name = argument;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_RECORDS_RO) != 0) {
        PyErr_Clear();
        return false;
    }
    held = true;
    if (view.ndim > MAX_AXES)
        return false;
    type = element_of_format(view.format);
    if (type != element::other && view.itemsize != static_cast<Py_ssize_t>(element_nbytes(type)))
        type = element::other;
    dtype = type == element::other ? dtype_text(object) : std::string();
    data = static_cast<char *>(view.buf);
    set_axes(view.ndim, view.shape, view.strides, 1, view.itemsize); /* arrays of ctypes have no strides */
    writable = !view.readonly;
    device = HOST;
    return true;
}

void host_array::release()
{
    if (held)
        PyBuffer_Release(&view);
    held = false;
}

void device_array::acquire(nb::handle capsule, const char *argument)
{
    if (!nb::try_cast(capsule, held))
        throw nb::type_error((std::string(argument) + " has no DLPack tensor").c_str());
    nb::dlpack::dltensor tensor{};
    tensor.data = const_cast<void *>(held.data());
    tensor.device = {held.device_type(), held.device_id()};
    tensor.ndim = static_cast<int32_t>(held.ndim());
    tensor.dtype = held.dtype();
    tensor.shape = const_cast<int64_t *>(held.shape_ptr());
    tensor.strides = const_cast<int64_t *>(held.stride_ptr());
    read(tensor, argument);
}

void device_array::read(const nb::dlpack::dltensor &tensor, const char *argument)
{
    name = argument;
    if (tensor.ndim > MAX_AXES)
        throw nb::type_error((std::string(argument) + " has more than 64 axes").c_str());
    type = element_of_dlpack(tensor.dtype);
    dtype = type == element::other ? "dtype " + std::to_string(tensor.dtype.code) + " of DLPack with " +
                                         std::to_string(tensor.dtype.bits) + " bits"
                                   : std::string();
    data = static_cast<char *>(tensor.data) + tensor.byte_offset;
    const int64_t itemsize = (tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
    set_axes(tensor.ndim, tensor.shape, tensor.strides, itemsize, itemsize);
    writable = true;
    const int kind = tensor.device.device_type;
    const bool on_gpu = kind == nb::device::cuda::value || kind == nb::device::cuda_managed::value;
    device = on_gpu ? tensor.device.device_id : HOST;
}

void type_error(const array &argument, const std::string &what)
{
    throw nb::type_error((std::string(argument.name) + " is " + argument.describe() + ": " + what).c_str());
}

void value_error(const array &argument, const std::string &what)
{
    throw nb::value_error((std::string(argument.name) + " is " + argument.describe() + ": " + what).c_str());
}
