/* SPDX-License-Identifier: MIT */
/* Arrays of NumPy and of GPU libraries, as array.h has them. */
#include "array.h"

#include <algorithm>
#include <cstring>

constexpr int NOT_READ = -1; /* from a GPU, where nothing is converted */
static const struct {
    const char *name;
    size_t nbytes;
    const char *format; /* of a buffer: the module struct's letters, and NumPy's Z for complex */
    int dlpack_code;
} elements[] = {
    {"complex64", 8, "Zf", int(nb::dlpack::dtype_code::Complex)},
    {"complex128", 16, "Zd", NOT_READ},
    {"complex32", 4, "", int(nb::dlpack::dtype_code::Complex)},
    {"float32", 4, "f", int(nb::dlpack::dtype_code::Float)},
    {"float64", 8, "d", NOT_READ},
    {"float16", 2, "e", int(nb::dlpack::dtype_code::Float)},
    {"int16", 2, "h", int(nb::dlpack::dtype_code::Int)},
    {"int8", 1, "b", int(nb::dlpack::dtype_code::Int)},
    {"uint8", 1, "B", int(nb::dlpack::dtype_code::UInt)},
    {"uint32", 4, "I", NOT_READ},
    {"other", 1, "", NOT_READ},
};
static_assert(std::size(elements) == size_t(element::other) + 1, "a row for each");

size_t element_nbytes(element type) { return elements[static_cast<int>(type)].nbytes; }

const char *element_name(element type) { return elements[static_cast<int>(type)].name; }

template <typename Is> static element find_element(Is is)
{
    return static_cast<element>(std::find_if(elements, std::end(elements) - 1, is) - elements);
}

element element_named(const char *name)
{
    return find_element([&](const auto &row) { return strcmp(row.name, name) == 0; });
}

static element element_of_format(const char *format, Py_ssize_t nbytes)
{
    if (!format)
        format = "B";
    if (*format == '@' || *format == '=' || *format == '<' || *format == '^')
        format++;
    return find_element([&](const auto &row) {
        return *row.format && strcmp(row.format, format) == 0 && static_cast<Py_ssize_t>(row.nbytes) == nbytes;
    });
}

static element element_of_dlpack(nb::dlpack::dtype type)
{
    return find_element([&](const auto &row) {
        return type.lanes == 1 && type.code == row.dlpack_code && type.bits == 8 * row.nbytes;
    });
}

/* The axes of an array whose strides count units of so many bytes; NULL: C-contiguous. */
template <typename Integer>
void array::set_axes(int count, const Integer *lengths, const Integer *steps, int64_t unit, int64_t itemsize)
{
    n_axes = count;
    for (int axis = n_axes - 1; axis >= 0; axis--) {
        shape[axis] = lengths[axis];
        if (steps)
            strides[axis] = steps[axis] * unit;
        else
            strides[axis] = axis == n_axes - 1 ? itemsize : strides[axis + 1] * shape[axis + 1];
    }
}

bool array::read_buffer(nb::handle object, const char *argument)
{
    PyBuffer_Release(&buffer);
    name = argument;
    if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_RECORDS_RO) != 0) {
        PyErr_Clear();
        return false;
    }
    if (buffer.ndim > MAX_AXES)
        return false;
    type = element_of_format(buffer.format, buffer.itemsize);
    dtype = type == element::other ? dtype_text(object) : std::string();
    data = static_cast<char *>(buffer.buf);
    set_axes(buffer.ndim, buffer.shape, buffer.strides, 1, buffer.itemsize); /* arrays of ctypes have no strides */
    writable = !buffer.readonly;
    return true;
}

void array::read_capsule(nb::handle capsule, const char *argument)
{
    if (!nb::try_cast(capsule, held))
        ::type_error(std::string(argument) + " has no DLPack tensor");
    nb::dlpack::dltensor tensor{};
    tensor.data = const_cast<void *>(held.data());
    tensor.device = {held.device_type(), held.device_id()};
    tensor.ndim = static_cast<int32_t>(held.ndim());
    tensor.dtype = held.dtype();
    tensor.shape = const_cast<int64_t *>(held.shape_ptr());
    tensor.strides = const_cast<int64_t *>(held.stride_ptr());
    read_tensor(tensor, argument);
}

void array::read_tensor(const nb::dlpack::dltensor &tensor, const char *argument)
{
    name = argument;
    if (tensor.ndim > MAX_AXES)
        ::type_error(std::string(argument) + " has more than 64 axes");
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

bool array::is_empty() const { return std::find(shape, shape + n_axes, 0) != shape + n_axes; }

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

void array::check_output(element of_values, const int64_t *of_shape, int of_axes) const
{
    if (type != of_values)
        type_error(std::string("this output is ") + element_name(of_values));
    if (n_axes != of_axes || !std::equal(of_shape, of_shape + of_axes, shape))
        value_error("it must have shape " + describe_shape(of_shape, of_axes));
    if (!writable)
        value_error("it is read-only");
}

/* Its bytes lie in [first, end). */
void array::extent(const char **first, const char **end) const
{
    *first = data;
    *end = data + element_nbytes(type);
    for (int axis = 0; axis < n_axes; axis++) {
        const int64_t span = (shape[axis] - 1) * strides[axis];
        (span < 0 ? *first : *end) += span;
    }
}

void array::check_apart_from(const array &input) const
{
    const char *first[2], *end[2];
    if (!data || !input.data || is_empty() || input.is_empty())
        return;
    extent(&first[0], &end[0]);
    input.extent(&first[1], &end[1]);
    if (first[0] < end[1] && first[1] < end[0])
        ::value_error(std::string(name) + " overlaps " + input.name);
}

nb::object shape_tuple(const int64_t *shape, int n_axes)
{
    nb::object tuple = nb::steal(PyTuple_New(n_axes));
    for (int axis = 0; axis < n_axes; axis++)
        PyTuple_SetItem(tuple.ptr(), axis, PyLong_FromLongLong(shape[axis]));
    return tuple;
}

std::string describe_shape(const int64_t *shape, int n_axes) { return nb::str(shape_tuple(shape, n_axes)).c_str(); }

std::string dtype_text(nb::handle object)
{
    nb::object text = nb::steal(PyObject_GetAttrString(object.ptr(), "dtype"));
    if (text.is_valid())
        text = nb::steal(PyObject_Str(text.ptr()));
    const char *characters = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
    PyErr_Clear();
    return characters ? characters : "object without a dtype";
}

std::string array::describe(const std::string &what) const
{
    const std::string of_type = dtype.empty() ? element_name(type) : dtype;
    return std::string(name) + " is " + of_type + " of shape " + describe_shape(shape, n_axes) + ": " + what;
}

void array::type_error(const std::string &what) const { ::type_error(describe(what)); }

void array::value_error(const std::string &what) const { ::value_error(describe(what)); }

void type_error(const std::string &message) { throw nb::type_error(message.c_str()); }

void value_error(const std::string &message) { throw nb::value_error(message.c_str()); }
