/* SPDX-License-Identifier: MIT */
/* A public header before anything else, as C99; that this links shows the declarations to be those of the library. */
#include PUBLIC_HEADER

int main(void)
{
    softqam_config config;
    softqam_config_init(&config);
    return config.struct_nbytes == sizeof config ? 0 : 1;
}
