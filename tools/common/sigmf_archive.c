/* SPDX-License-Identifier: MIT */
#include "sigmf_archive.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "sigmf_name.h"

bool sigmf_archive_find_meta(struct tar_file *tar, struct tar_member *meta)
{
    struct tar_member member;
    unsigned n_found = 0;
    bool found;
    tar_file_rewind(tar);
    while (tar_file_next(tar, &member, &found)) {
        if (!found) {
            if (n_found != 1)
                message_print(tar->file.name, "an archive with %u recordings; unpack it and give a .sigmf-meta",
                              n_found);
            return n_found == 1;
        }
        if (sigmf_name_is_metadata(member.name) && n_found++ == 0)
            *meta = member;
    }
    return false;
}

bool sigmf_archive_find_data(struct tar_file *tar, const struct tar_member *meta, const char *dataset,
                             struct tar_member *data)
{
    char name[PATH_MAX];
    const char *slash = strrchr(meta->name, '/');
    bool found;
    if (!dataset) {
        if (!sigmf_name_with_suffix(meta->name, SIGMF_DATA_SUFFIX, name))
            name[0] = '\0';
    } else if (snprintf(name, sizeof name, "%.*s%s", slash ? (int)(slash - meta->name) + 1 : 0, meta->name, dataset) >=
               (int)sizeof name) {
        name[0] = '\0';
    }
    tar_file_rewind(tar);
    while (tar_file_next(tar, data, &found)) {
        if (!found) {
            message_print(tar->file.name, "an archive without %s", name[0] ? name : "data");
            return false;
        }
        if (!strcmp(data->name, name))
            return true;
    }
    return false;
}
