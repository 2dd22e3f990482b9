/* SPDX-License-Identifier: MIT */
/* Accesses to memory: values and symbols of every size, and shared memory by its address. Also the synchronisation of
 * kernels of a stream that overlap. */
#ifndef SOFTQAM_MEMORY_CUH
#define SOFTQAM_MEMORY_CUH

#include <stdint.h>

template <int NBYTES> struct unsigned_of;
template <> struct unsigned_of<1> {
    typedef uint8_t type;
};
template <> struct unsigned_of<2> {
    typedef uint16_t type;
};
template <> struct unsigned_of<4> {
    typedef uint32_t type;
};

enum { VECTOR_NBYTES = 16 }; /* the widest access */

/* Returns this thread's number in its warp, whatever the thread block's shape. */
static __device__ __forceinline__ unsigned warp_lane()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* Returns threadIdx.x, which each call reads anew, so that the compiler keeps nothing in registers that is derived from
 * it. */
static __device__ __forceinline__ unsigned own_thread()
{
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

/* The values of a symbol or of several, packed into words, the first one lowest. The rest of the last word is
 * undefined. */
template <int WORDS> struct packed_values {
    uint32_t word[WORDS];
};

/* Returns value k in the lowest bytes. */
template <int VALUE_NBYTES, int WORDS>
static __device__ __forceinline__ uint32_t value_at(const packed_values<WORDS> &values, int k)
{
    enum { PER_WORD = 4 / VALUE_NBYTES };
    return values.word[k / PER_WORD] >> 8 * VALUE_NBYTES * (k % PER_WORD);
}

/* Global memory. */

/* Tells the compiler that this pointer, which was read from memory, points to global memory. */
static __device__ __forceinline__ void is_in_global_memory(const void *pointer)
{
    __builtin_assume(__isGlobal(pointer) != 0);
}

template <int NBYTES> static __device__ __forceinline__ uint32_t load_value(const unsigned char *from)
{
    return *reinterpret_cast<const typename unsigned_of<NBYTES>::type *>(from);
}

template <int NBYTES> static __device__ __forceinline__ void store_value(unsigned char *to, uint32_t value)
{
    *reinterpret_cast<typename unsigned_of<NBYTES>::type *>(to) =
        static_cast<typename unsigned_of<NBYTES>::type>(value);
}

/* Stores NBYTES of values by accesses of WIDTH bytes, to which `to` is aligned. */
template <int NBYTES, int WIDTH, int WORDS>
static __device__ __forceinline__ void store_symbol(unsigned char *to, const packed_values<WORDS> &values)
{
#pragma unroll
    for (int k = 0; k < NBYTES; k += WIDTH) {
        const uint32_t *from = values.word + k / 4;
        if constexpr (WIDTH == 16)
            *reinterpret_cast<uint4 *>(to + k) = make_uint4(from[0], from[1], from[2], from[3]);
        else if constexpr (WIDTH == 8)
            *reinterpret_cast<uint2 *>(to + k) = make_uint2(from[0], from[1]);
        else
            store_value<WIDTH>(to + k, from[0] >> 8 * (k % 4));
    }
}

/* Shared memory. */

/* Returns the address `offset` bytes into shared memory. Must be called after the barrier that follows the thread
 * block's writes. The asm keeps the compiler from computing the sum again for every access. */
static __device__ __forceinline__ uint32_t shared_address(const void *memory, uint32_t offset)
{
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + offset;
    asm volatile("" : "+r"(address)::"memory");
    return address;
}

static __device__ __forceinline__ uint4 load_shared_vector(uint32_t address)
{
    uint4 vector;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
                 : "r"(address)
                 : "memory");
    return vector;
}

template <int NBYTES> static __device__ __forceinline__ uint32_t load_shared_value(uint32_t address)
{
    uint32_t value;
    if (NBYTES == 4)
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    else if (NBYTES == 2)
        asm volatile("{.reg .b16 half;\n\tld.shared.b16 half, [%1];\n\tcvt.u32.u16 %0, half;}"
                     : "=r"(value)
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

template <int NBYTES> static __device__ __forceinline__ void store_shared_value(uint32_t address, uint32_t value)
{
    if (NBYTES == 4)
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
    else if (NBYTES == 2)
        asm volatile("{.reg .b16 half;\n\tcvt.u16.u32 half, %1;\n\tst.shared.b16 [%0], half;}" ::"r"(address),
                     "r"(value)
                     : "memory");
    else
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/* Programmatic dependent launch, from compute capability 9.0 on: a kernel may begin while the one before it in the
 * stream still runs, and must wait before it reads or writes memory. The next kernel may begin once this
 * one's thread blocks have all let it. If kernels let it at once, several may be waiting; if they let it after their
 * own wait, only one is, whose thread blocks are spread over the device more evenly. */
static __device__ __forceinline__ void let_next_kernel_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static __device__ __forceinline__ void wait_for_previous_kernel()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
