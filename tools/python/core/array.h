/* SPDX-License-Identifier: MIT */
/* A caller's array, as its dtype, shape and strides say: in host memory by Python's buffer protocol, on a GPU by
 * DLPack. */
#ifndef SOFTQAM_PYTHON_ARRAY_H
#define SOFTQAM_PYTHON_ARRAY_H

#include <array>
#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

/* What an array is made of, in the byte order of this machine; all else is `other`. */
enum class element { complex64, complex128, complex32, float32, float64, float16, int16, int8, uint8, uint32, other };

size_t element_nbytes(element type);
const char *element_name(element type);

/* NumPy's limit; few have more than five. */
constexpr int MAX_AXES = 64;

/* Strides are in bytes. */
struct array {
    static constexpr int HOST = -1;

    const char *name = ""; /* of the argument, for messages */
    std::string dtype;     /* for messages; empty: element_name() */
    element type = element::other;
    char *data = nullptr;
    int n_axes = 0;
    int64_t shape[MAX_AXES], strides[MAX_AXES]; /* of n_axes axes */
    bool writable = false;
    int device = HOST; /* or the ordinal of the CUDA device */

    /* The axes of an array whose strides count units of so many bytes; NULL: C-contiguous. */
    template <typename Integer>
    void set_axes(int count, const Integer *lengths, const Integer *steps, int64_t unit, int64_t itemsize)
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

    bool is_empty() const;
    bool is_contiguous() const;
    /* "float64 of shape (3, 4)" */
    std::string describe() const;
    /* Its bytes lie in [first, end). */
    void extent(const char **first, const char **end) const;
};

/* The same for a tuple of axes. */
std::string describe_shape(const int64_t *shape, int n_axes);
nb::object shape_tuple(const int64_t *shape, int n_axes);

/* The dtype of an array as its library writes it. */
std::string dtype_text(nb::handle object);

/* Host memory: holds the array's buffer while it lives, so nobody can free or resize it. */
class host_array : public array
{
  public:
    /* False where `object` has no buffer that can be described; no Python error is left behind. */
    bool acquire(nb::handle object, const char *name);
    void release();
    host_array() = default;
    host_array(const host_array &) = delete;
    host_array &operator=(const host_array &) = delete;
    ~host_array() { release(); }

  private:
    Py_buffer view = {};
    bool held = false;
};

/* Device memory: what DLPack says. */
class device_array : public array
{
  public:
    /* Holds the capsule's tensor while it lives. Raises TypeError where `capsule` is none. */
    void acquire(nb::handle capsule, const char *name);
    /* Holds nothing. Raises TypeError where the tensor has too many axes. */
    void read(const nb::dlpack::dltensor &tensor, const char *name);

  private:
    nb::ndarray<nb::ro> held;
};

[[noreturn]] void type_error(const std::string &message);
[[noreturn]] void value_error(const std::string &message);
/* The same with the argument's name, dtype and shape before `what`. */
[[noreturn]] void type_error(const array &argument, const std::string &what);
[[noreturn]] void value_error(const array &argument, const std::string &what);

#endif
