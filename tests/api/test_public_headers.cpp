// SPDX-License-Identifier: MIT
// A public header before anything else, as C++11; that this links shows the declarations to have C linkage.
#include PUBLIC_HEADER

int main()
{
    softqam_config config;
    softqam_config_init(&config);
    return config.struct_nbytes == sizeof(config) ? 0 : 1;
}
