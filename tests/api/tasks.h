/* SPDX-License-Identifier: MIT */
/* The threads of this process, as the kernel has them. */
#ifndef SOFTQAM_TESTS_TASKS_H
#define SOFTQAM_TESTS_TASKS_H

#include <stddef.h>
#include <sys/types.h>

enum { TASKS_MAX = 256 };

typedef struct task_list {
    pid_t ids[TASKS_MAX];
    size_t n;
} task_list;

task_list tasks_now(void);

/* How many there are; where that is not what is expected it is looked at again for a while, as the kernel lists a
 * thread for a moment after it has been joined. */
size_t tasks_count(size_t expected);

/* Those of `after` that are not in `before`. */
task_list tasks_new(const task_list *before, const task_list *after);

#endif
