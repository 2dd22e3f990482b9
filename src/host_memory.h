/* SPDX-License-Identifier: MIT */
/* Memory of softqam_host_alloc(): a backend's, with a note of how to free it. */
#ifndef SOFTQAM_HOST_MEMORY_H
#define SOFTQAM_HOST_MEMORY_H

#include <stddef.h>

#include "backend.h"

/* Memory for softqam_host_free(), aligned to 4096 bytes. */
softqam_status softqam_host_memory_alloc(const softqam_backend_ops *ops, void *state, size_t nbytes, void **memory);

#endif
