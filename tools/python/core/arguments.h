/* SPDX-License-Identifier: MIT */
/* Arguments of calls from Python, read as arrays and numbers: what is wrong with one raises, with its name. */
#ifndef SOFTQAM_PYTHON_ARGUMENTS_H
#define SOFTQAM_PYTHON_ARGUMENTS_H

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "array.h"
#include "layout.h"

/* Functions of NumPy. They are never freed: the interpreter may be gone before this module is. */
inline struct numpy_functions {
    nb::handle masked_array, empty, zeros;
} numpy;

/* Returns whether an argument's memory is all there is to it. A masked array has a buffer, too, in which its mask is
 * not: _arrays refuses it. */
inline bool is_buffer(nb::handle argument)
{
    return PyObject_CheckBuffer(argument.ptr()) &&
           !PyType_IsSubtype(Py_TYPE(argument.ptr()), reinterpret_cast<PyTypeObject *>(numpy.masked_array.ptr()));
}

/* The arrays that receive the values: one, or a list of soft buffers. */
struct call_output {
    array whole;
    std::vector<std::unique_ptr<array>> buffers;
    std::deque<std::string> names; /* names of buffers */
    std::vector<void *> pointers;  /* to the values of each code block, NULL if its LLRs are dropped */
};

inline void read_output(nb::handle argument, const char *name, array *view)
{
    if (!is_buffer(argument) || !view->read_buffer(argument, name))
        type_error(std::string(name) + " is no plain NumPy array");
}

/* Reads a list of arrays. Raises if an array is not what the values fit in, or shares memory with another one. */
inline void read_soft_buffers(nb::handle arrays, const call_options &options, element type, call_output *out)
{
    const softqam_codeword &fields = options.codeword;
    const size_t n = nb::len(arrays);
    if (n != fields.n_code_blocks)
        value_error("soft_buffers has " + std::to_string(n) + " arrays, for " + std::to_string(fields.n_code_blocks) +
                    " code blocks");
    out->pointers.resize(n);
    for (size_t r = 0; r < n; r++) {
        const nb::object item = arrays[r];
        if (item.is_none())
            continue;
        array &buffer = *out->buffers.emplace_back(new array);
        const std::string &name = out->names.emplace_back("soft_buffers[" + std::to_string(r) + "]");
        read_output(item, name.c_str(), &buffer);
        buffer.check_output(type, &options.n_values, 1);
        if (!buffer.is_contiguous())
            buffer.value_error("its values do not lie side by side");
        out->pointers[r] = buffer.data;
    }
    std::vector<const char *> begins;
    for (const auto &buffer : out->buffers)
        begins.push_back(buffer->data);
    std::sort(begins.begin(), begins.end());
    for (size_t k = 1; k < begins.size(); k++)
        if (begins[k] < begins[k - 1] + options.n_values * static_cast<int64_t>(element_nbytes(type)))
            value_error("two arrays of soft_buffers overlap");
}

/* Returns an integer argument, which must be between `least` and `most`. */
inline uint64_t integer(nb::handle argument, const char *name, uint64_t least, uint64_t most)
{
    nb::object number = nb::steal(PyBool_Check(argument.ptr()) ? nullptr : PyNumber_Index(argument.ptr()));
    if (!number.is_valid()) {
        PyErr_Clear();
        type_error(std::string(name) + " is no integer");
    }
    const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
    const bool failed = PyErr_Occurred() != nullptr;
    PyErr_Clear();
    if (failed || value < least || value > most)
        value_error(std::string(name) + " is not between " + std::to_string(least) + " and " + std::to_string(most));
    return value;
}

/* Returns a function of softqam._arrays, which makes a plain array of what the library cannot take as it is, or raises.
 */
inline nb::object conversion(const char *function) { return nb::module_::import_("softqam._arrays").attr(function); }

/* Reads c_init: an integer, or an array with one for each codeword. */
inline nb::object read_c_init(nb::handle c_init, const layout &codewords, call_options *options, array *view)
{
    if (c_init.is_none() || PyLong_Check(c_init.ptr()))
        return nb::none();
    const nb::object batch = shape_tuple(codewords.out_shape, codewords.n_batch);
    nb::object values = call_python(conversion("usual_c_init"), c_init, batch);
    if (!view->read_buffer(values, "c_init") || view->type != element::uint32 || !view->is_contiguous())
        type_error("c_init is no array of integers");
    options->c_inits = reinterpret_cast<const uint32_t *>(view->data);
    return values;
}

/* Takes an argument as it is if takes(type) says so, else as NumPy converts it. */
template <typename Takes>
void read_argument(nb::handle argument, const char *name, const char *function, array *view, Takes takes)
{
    if (is_buffer(argument) && view->read_buffer(argument, name) && takes(view->type))
        return;
    nb::object converted = call_python(conversion(function), argument, nb::str(name));
    const bool is_read = view->read_buffer(converted, name);
    if (is_read && nb::hasattr(argument, "dtype"))
        view->dtype = dtype_text(argument); /* what messages say that it is */
    if (!is_read || !takes(view->type))
        type_error(std::string(name) + " is nothing that NumPy can make an array of");
}

#endif
