/* SPDX-License-Identifier: MIT */
/* The CUDA devices of this host, which are assigned to the ranks of an MPI job round-robin. */
#ifndef SOFTQAM_TOOLS_MPI_CUDA_DEVICES_H
#define SOFTQAM_TOOLS_MPI_CUDA_DEVICES_H

/* How many CUDA devices this process may use; 0 in a build without CUDA, and without a driver. */
int cuda_devices_count(void);

#endif
