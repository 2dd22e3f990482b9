/* SPDX-License-Identifier: MIT */
/* Finds the elements of an array in the order in which the LLRs are written, and copies them to contiguous memory. */
#ifndef SOFTQAM_PYTHON_ELEMENTS_H
#define SOFTQAM_PYTHON_ELEMENTS_H

#include <cstdint>

/* Returns the nearest float, finite for finite values and positive for positive ones: a valid noise variance stays
 * valid. */
float nearest_float(double value);

/* The axes of an array's elements, the outermost first, with strides in bytes. Neighbouring axes are merged if one
 * stride goes through both, and axes of length 1 are left out. */
class elements
{
  public:
    void begin(const char *first)
    {
        data = first;
        n_axes = 0;
    }

    void add_axis(int64_t length, int64_t stride)
    {
        if (length == 1)
            return;
        if (n_axes > 0 && strides[n_axes - 1] == length * stride)
            n_axes--;
        else
            shape[n_axes] = 1;
        shape[n_axes] *= length;
        strides[n_axes++] = stride;
    }

    /* Return the length and the stride of the innermost axis. */
    int64_t n_consecutive() const { return n_axes > 0 ? shape[n_axes - 1] : 1; }
    int64_t stride() const { return n_axes > 0 ? strides[n_axes - 1] : 0; }

    /* Returns the address of an element; sets *left to how many elements are left on its innermost axis. */
    const char *at(int64_t index, int64_t *left) const
    {
        const char *place = data;
        *left = n_consecutive() - index % n_consecutive();
        for (int axis = n_axes - 1; axis >= 0; axis--) {
            place += index % shape[axis] * strides[axis];
            index /= shape[axis];
        }
        return place;
    }

    enum conversion { SAME, TO_COMPLEX64, TO_FLOAT32 }; /* the last two read elements of twice the size */
    /* Copies elements [first, first + count), each of nbytes bytes, `offset` bytes after `data`, to `to`, where
     * they are to_stride bytes apart. */
    void copy(int64_t first, int64_t count, conversion how, int64_t nbytes, int64_t offset, char *to,
              int64_t to_stride) const;

  private:
    enum { CAPACITY = 66 }; /* the most axes of an array, and two more */
    const char *data;
    int n_axes;
    int64_t shape[CAPACITY], strides[CAPACITY];
};

#endif
