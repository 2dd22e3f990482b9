/* SPDX-License-Identifier: MIT */
/* A caller's array, as its dtype, shape and strides say: in host memory by Python's buffer protocol, on a GPU by
 * DLPack. */
#ifndef SOFTQAM_PYTHON_ARRAY_H
#define SOFTQAM_PYTHON_ARRAY_H

#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

/* What an array is made of, in the byte order of this machine; all else is `other`. */
enum class element { complex64, complex128, complex32, float32, float64, float16, int16, int8, uint8, uint32, other };

size_t element_nbytes(element type);
const char *element_name(element type);
element element_named(const char *name);

/* NumPy's limit; few have more than five. */
constexpr int MAX_AXES = 64;

/* Strides are in bytes. */
class array
{
  public:
    static constexpr int HOST = -1;

    const char *name = ""; /* of the argument, for messages */
    std::string dtype;     /* for messages; empty: element_name() */
    element type = element::other;
    char *data = nullptr;
    int n_axes = 0;
    int64_t shape[MAX_AXES], strides[MAX_AXES]; /* of n_axes axes */
    bool writable = false;
    int device = HOST; /* or the ordinal of the CUDA device */

    array() = default;
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array() { PyBuffer_Release(&buffer); }

    /* Host memory, which nobody can free or resize before this array is gone. False where `object` has no buffer that
     * can be described; no Python error is left behind. */
    bool read_buffer(nb::handle object, const char *argument);
    /* Device memory: holds the capsule's tensor while it lives. Raises TypeError where `capsule` is none. */
    void read_capsule(nb::handle capsule, const char *argument);
    /* Holds nothing. Raises TypeError where the tensor has too many axes. */
    void read_tensor(const nb::dlpack::dltensor &tensor, const char *argument);

    bool is_empty() const;
    bool is_contiguous() const;
    /* Raises unless it can receive values of a type and shape. */
    void check_output(element of_values, const int64_t *of_shape, int of_axes) const;
    /* Raises where both have a byte in common. */
    void check_apart_from(const array &input) const;
    /* "out is float64 of shape (3, 4): what" */
    [[noreturn]] void type_error(const std::string &what) const;
    [[noreturn]] void value_error(const std::string &what) const;

  private:
    Py_buffer buffer = {};
    nb::ndarray<nb::ro> held;

    template <typename Integer>
    void set_axes(int count, const Integer *lengths, const Integer *steps, int64_t unit, int64_t itemsize);
    void extent(const char **first, const char **end) const;
    std::string describe(const std::string &what) const;
};

/* A tuple of axes, and what Python writes of it. */
nb::object shape_tuple(const int64_t *shape, int n_axes);
std::string describe_shape(const int64_t *shape, int n_axes);

/* The dtype of an array as its library writes it. */
std::string dtype_text(nb::handle object);

[[noreturn]] void type_error(const std::string &message);
[[noreturn]] void value_error(const std::string &message);

#endif
