/* SPDX-License-Identifier: MIT */
/* The CUDA devices of this host, of which the ranks of an MPI job take their turns. */
#ifndef SOFTQAM_TOOLS_MPI_CUDA_DEVICES_H
#define SOFTQAM_TOOLS_MPI_CUDA_DEVICES_H

/* How many CUDA devices this process may use; 0 in a build without CUDA, and without a driver. */
int cuda_devices_count(void);

#endif
