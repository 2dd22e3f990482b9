/* SPDX-License-Identifier: MIT */
/* Reads a caller's array: in host memory by Python's buffer protocol, on a GPU by DLPack. Also reads arrays of a
 * library that has DLPack's C exchange API: PyTorch from 2.10 on. */
#ifndef SOFTQAM_PYTHON_ARRAY_H
#define SOFTQAM_PYTHON_ARRAY_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <nanobind/ndarray.h>

#include "interpreter.h"

/* The element type of an array, in this machine's byte order; all else is `other`. */
enum class element { complex64, complex128, complex32, float32, float64, float16, int16, int8, uint8, uint32, other };

constexpr int NOT_READ = -1; /* from a GPU, where nothing is converted */
static constexpr struct {
    const char *name;
    size_t nbytes;
    const char *format; /* a buffer's format: the module struct's letters, and NumPy's Z for complex */
    int dlpack_code;
} element_types[] = {
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
static_assert(std::size(element_types) == size_t(element::other) + 1, "a row for each");

inline size_t element_nbytes(element type) { return element_types[static_cast<int>(type)].nbytes; }
inline const char *element_name(element type) { return element_types[static_cast<int>(type)].name; }

template <typename Is> element find_element(Is is)
{
    return static_cast<element>(std::find_if(element_types, std::end(element_types) - 1, is) - element_types);
}

inline element element_named(const char *name)
{
    return find_element([&](const auto &row) { return strcmp(row.name, name) == 0; });
}

inline element element_of_format(const char *format, Py_ssize_t nbytes)
{
    if (!format)
        format = "B";
    if (*format == '@' || *format == '=' || *format == '<' || *format == '^')
        format++;
    return find_element([&](const auto &row) {
        return *row.format && strcmp(row.format, format) == 0 && static_cast<Py_ssize_t>(row.nbytes) == nbytes;
    });
}

inline element element_of_dlpack(nb::dlpack::dtype type)
{
    return find_element([&](const auto &row) {
        return type.lanes == 1 && type.code == row.dlpack_code && type.bits == 8 * row.nbytes;
    });
}

inline nb::object shape_tuple(const int64_t *shape, int n_axes)
{
    nb::object tuple = nb::steal(PyTuple_New(n_axes));
    for (int axis = 0; axis < n_axes; axis++)
        PyTuple_SetItem(tuple.ptr(), axis, PyLong_FromLongLong(shape[axis]));
    return tuple;
}

inline std::string describe_shape(const int64_t *shape, int n_axes)
{
    return nb::str(shape_tuple(shape, n_axes)).c_str();
}

/* Returns the dtype of an array as its library writes it. */
inline std::string dtype_text(nb::handle object)
{
    nb::object text = nb::steal(PyObject_GetAttrString(object.ptr(), "dtype"));
    if (text.is_valid())
        text = nb::steal(PyObject_Str(text.ptr()));
    const char *characters = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
    PyErr_Clear();
    return characters ? characters : "object without a dtype";
}

/* NumPy's limit; few have more than five. */
constexpr int MAX_AXES = 64;

/* Strides are in bytes. */
class array
{
  public:
    static constexpr int HOST = -1;

    const char *name = nullptr; /* the argument's name, for messages; NULL: not given */
    std::string dtype;          /* for messages; empty: element_name() */
    element type = element::other;
    char *data = nullptr;
    int n_axes = 0;
    int64_t shape[MAX_AXES], strides[MAX_AXES]; /* n_axes of them are set */
    bool writable = false;
    int device = HOST; /* or the ordinal of the CUDA device */

    array() = default;
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array() { PyBuffer_Release(&buffer); }

    /* Reads an array in host memory, which is kept from being freed or resized while this one exists. Returns false,
     * without a Python error, if `object` has no buffer that can be described. */
    bool read_buffer(nb::handle object, const char *argument)
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

    /* Reads a capsule of a DLPack tensor, and keeps it while this array exists. Does nothing for None; raises TypeError
     * for other objects. */
    void read_capsule(nb::handle capsule, const char *argument)
    {
        if (capsule.is_none())
            return;
        held = nb::borrow(capsule);
        /* A DLManagedTensor, which begins with its DLTensor. */
        const void *tensor = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
        if (!tensor) {
            PyErr_Clear();
            ::type_error(std::string(argument) + " has no DLPack tensor");
        }
        read_tensor(*static_cast<const nb::dlpack::dltensor *>(tensor), argument);
    }

    /* Reads a tensor, which the caller keeps. Raises TypeError if it has too many axes. */
    void read_tensor(const nb::dlpack::dltensor &tensor, const char *argument)
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

    /* Makes this a float32 without axes, with a value of its own. */
    void set_number(float value, const char *argument)
    {
        name = argument;
        type = element::float32;
        own_number = value;
        data = reinterpret_cast<char *>(&own_number);
    }

    /* Returns the value of a float32 or float64 without axes. */
    double number() const
    {
        float single;
        double value;
        std::memcpy(&single, data, sizeof single);
        if (type == element::float32)
            return single;
        std::memcpy(&value, data, sizeof value);
        return value;
    }

    bool is_given() const { return name; }
    bool is_empty() const { return std::find(shape, shape + n_axes, 0) != shape + n_axes; }

    bool is_contiguous() const
    {
        int64_t expected = static_cast<int64_t>(element_nbytes(type));
        for (int axis = n_axes - 1; axis >= 0; axis--) {
            if (shape[axis] != 1 && strides[axis] != expected)
                return is_empty();
            expected *= shape[axis];
        }
        return true;
    }

    /* Raises unless the array can receive values of this type and shape. */
    void check_output(element of_values, const int64_t *of_shape, int of_axes) const
    {
        if (type != of_values)
            type_error(std::string("this output is ") + element_name(of_values));
        if (n_axes != of_axes || !std::equal(of_shape, of_shape + of_axes, shape))
            value_error("it must have shape " + describe_shape(of_shape, of_axes));
        if (!writable)
            value_error("it is read-only");
    }

    /* Raises unless it broadcasts to a shape of symbols. */
    void check_broadcast(const int64_t *of_symbols, int axes) const
    {
        const int missing = axes - n_axes;
        for (int axis = 0; axis < n_axes; axis++)
            if (missing < 0 || (shape[axis] != 1 && shape[axis] != of_symbols[axis + missing]))
                value_error("it does not broadcast to the symbols, " + describe_shape(of_symbols, axes));
    }

    /* Raises if the arrays overlap. */
    void check_apart_from(const array &input) const
    {
        const char *first[2], *end[2];
        if (!data || !input.data || is_empty() || input.is_empty())
            return;
        extent(&first[0], &end[0]);
        input.extent(&first[1], &end[1]);
        if (first[0] < end[1] && first[1] < end[0])
            ::value_error(std::string(name) + " overlaps " + input.name);
    }

    /* Makes this a view of an array's first `count` axes, with another element type and `offset` bytes further on. `of`
     * must outlive it, unless it is this array. */
    void view(const array &whole, int count, element element_type, int64_t offset)
    {
        name = whole.name;
        type = element_type;
        data = whole.data + offset;
        device = whole.device;
        n_axes = count;
        std::copy(whole.shape, whole.shape + count, shape);
        std::copy(whole.strides, whole.strides + count, strides);
    }

    void insert_axis(int before, int64_t length, int64_t stride)
    {
        if (n_axes == MAX_AXES)
            value_error("it has too many axes");
        std::copy_backward(shape + before, shape + n_axes, shape + n_axes + 1);
        std::copy_backward(strides + before, strides + n_axes, strides + n_axes + 1);
        shape[before] = length;
        strides[before] = stride;
        n_axes++;
    }

    void remove_axis(int axis)
    {
        std::copy(shape + axis + 1, shape + n_axes, shape + axis);
        std::copy(strides + axis + 1, strides + n_axes, strides + axis);
        n_axes--;
    }

    /* Raise "out is float64 of shape (3, 4): what". */
    [[noreturn]] void type_error(const std::string &what) const { ::type_error(describe(what)); }
    [[noreturn]] void value_error(const std::string &what) const { ::value_error(describe(what)); }

  private:
    Py_buffer buffer = {};
    nb::object held;
    float own_number;

    /* Sets the axes of an array from distances, counted in units of bytes; NULL: C-contiguous. */
    template <typename Integer>
    void set_axes(int count, const Integer *lengths, const Integer *distances, int64_t unit, int64_t itemsize)
    {
        n_axes = count;
        for (int axis = n_axes - 1; axis >= 0; axis--) {
            shape[axis] = lengths[axis];
            if (distances)
                strides[axis] = distances[axis] * unit;
            else
                strides[axis] = axis == n_axes - 1 ? itemsize : strides[axis + 1] * shape[axis + 1];
        }
    }

    /* Finds the range [first, end) of the array's bytes. */
    void extent(const char **first, const char **end) const
    {
        *first = data;
        *end = data + element_nbytes(type);
        for (int axis = 0; axis < n_axes; axis++) {
            const int64_t span = (shape[axis] - 1) * strides[axis];
            (span < 0 ? *first : *end) += span;
        }
    }

    std::string describe(const std::string &what) const
    {
        const std::string of_type = dtype.empty() ? element_name(type) : dtype;
        return std::string(name) + " is " + of_type + " of shape " + describe_shape(shape, n_axes) + ": " + what;
    }
};

/* DLPackExchangeAPI, as https://dmlc.github.io/dlpack/latest/c_api.html specifies it: the same in all versions 1.x,
 * which may add functions after these. The first three are not called. */
struct exchange_api {
    uint32_t major, minor;
    const exchange_api *previous; /* an older version's */
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
    /* The arrays' type, and Python functions. is_plain(array) returns whether it is in host memory or on a GPU, and
     * DLPack can describe it completely; of_host(array) makes one of NumPy's array, in the same memory;
     * empty(shape, dtype, device) makes an array on a GPU, number(value, device, stream) a noise value there. */
    nb::object array_type, is_plain, of_host, empty, number;

    /* Raises TypeError if the arrays' type has no C exchange API of DLPack 1. */
    array_library(nb::object of_type, nb::object of_plain, nb::object of_memory, nb::object of_empty,
                  nb::object of_number)
        : array_type(std::move(of_type)), is_plain(std::move(of_plain)), of_host(std::move(of_memory)),
          empty(std::move(of_empty)), number(std::move(of_number))
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

    /* Returns whether an object is None, or a plain array of the library's own type, no derived one. */
    bool has(nb::handle object) const
    {
        return object.is_none() || (object.type().is(array_type) && call_python(is_plain, object).is(Py_True));
    }

    /* Reads such an array, which must outlive `view`; nothing for None. Returns false, without a Python error, for
     * other objects, and for arrays without memory, such as those of transforms. */
    bool read(nb::handle object, const char *name, array *view) const
    {
        nb::dlpack::dltensor tensor{};
        if (object.is_none() || !has(object))
            return object.is_none();
        if (api->dltensor_from_py_object_no_sync(object.ptr(), &tensor) != 0) {
            PyErr_Clear();
            return false;
        }
        view->read_tensor(tensor, name);
        return true;
    }

    /* Returns the stream that the library's own functions work on. */
    uintptr_t current_stream(int device) const
    {
        void *stream = nullptr;
        if (api->current_work_stream(nb::device::cuda::value, device, &stream) != 0)
            throw nb::python_error();
        return reinterpret_cast<uintptr_t>(stream);
    }

  private:
    const exchange_api *api = nullptr;
};

#endif
