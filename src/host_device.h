/* SPDX-License-Identifier: MIT */
/* Marks functions of headers that C, C++ and kernels share. */
#ifndef SOFTQAM_HOST_DEVICE_H
#define SOFTQAM_HOST_DEVICE_H

#ifdef __CUDACC__
#define HOST_AND_DEVICE __host__ __device__
#else
#define HOST_AND_DEVICE
#endif

#endif
