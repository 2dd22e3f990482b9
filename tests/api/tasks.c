/* SPDX-License-Identifier: MIT */
#include "tasks.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>

#include "harness.h"

task_list tasks_now(void)
{
    task_list list = {.n = 0};
    DIR *directory = opendir("/proc/self/task");
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (entry->d_name[0] == '.')
            continue;
        assert_true(list.n < TASKS_MAX);
        list.ids[list.n++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(directory);
    return list;
}

task_list tasks_new(const task_list *before, const task_list *after)
{
    task_list list = {.n = 0};
    for (size_t k = 0; k < after->n; k++) {
        bool old = false;
        for (size_t i = 0; i < before->n; i++)
            old = old || before->ids[i] == after->ids[k];
        if (!old)
            list.ids[list.n++] = after->ids[k];
    }
    return list;
}
