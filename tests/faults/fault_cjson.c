/* SPDX-License-Identifier: MIT */
/* cJSON, a shared library in which nothing is wrapped, allocates where what is wrapped can fail. */
#include <stdlib.h>

#include <cjson/cJSON.h>

__attribute__((constructor)) static void hand_over_allocation(void)
{
    cJSON_Hooks hooks = {malloc, free};
    cJSON_InitHooks(&hooks);
}
