/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* usleep */
#include "tasks.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

static void *do_nothing(void *argument)
{
    return argument;
}

/* With its first thread a sanitizer starts one of its own. */
static void start_a_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
        pthread_join(thread, NULL);
    usleep(10000);
}

task_list tasks_now(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    task_list list = {.n = 0};
    pthread_once(&once, start_a_thread);
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

size_t tasks_count(size_t expected)
{
    size_t n = tasks_now().n;
    for (int k = 0; k < 200 && n != expected; k++) {
        usleep(10000);
        n = tasks_now().n;
    }
    return n;
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
