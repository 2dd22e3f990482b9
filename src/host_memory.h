/* SPDX-License-Identifier: MIT */
/* Memory of softqam_host_alloc(): page-locked or plain, with a note of how to free it. */
#ifndef SOFTQAM_HOST_MEMORY_H
#define SOFTQAM_HOST_MEMORY_H

#include <stddef.h>

#include "gpu.h"

/* Memory for softqam_host_free(), aligned to 4096 bytes; page-locked by a gpu that is not NULL. */
softqam_status softqam_host_memory_alloc(softqam_gpu *gpu, size_t nbytes, void **memory);

#endif
