/* SPDX-License-Identifier: MIT */
/* The tables that device functions get from the library. */
#include "gold.cuh"

cudaError_t softqam_device_gold_tables(const void **tables)
{
    void *address = nullptr;
    const cudaError_t error = cudaGetSymbolAddress(&address, tables_of_gold);
    *tables = address;
    return error;
}
