#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No call that can fail is forgotten: every function that the given objects and archives take from outside is one that
the fault tests wrap, or is listed here as one that has no failure of its own.

    test_coverage.py NM "WRAPPED;FUNCTIONS" "FILE;FILE"...

CUDA's functions need no list: each of fake_cuda.cpp's can fail.
"""
import re
import subprocess
import sys

# By why nothing of theirs can fail, or has to be made to.
HARMLESS = {
    "computes only": "memcpy memmove memset memcmp bcmp strlen strcmp strncmp strcasecmp strchr strrchr strspn strcspn strtod "
    "strtoull strtoul sqrt round fma fmaf fmin fmax fminf fmaxf exp log log10 erfc pow lrint rint floor ceil trunc truncf ilogb ldexp "
    "nextafterf",
    "formats into memory of the caller": "snprintf vsnprintf sprintf",
    "names an error or a setting": "strerror __errno_location ferror clearerr getenv sysconf getpid time clock_gettime",
    "fails on a closed descriptor only, which is what it is asked about": "fcntl fcntl64 isatty",
    "fails on wrong arguments only": "sigaction sigfillset pthread_sigmask pthread_setcancelstate signal raise getopt_long eventfd_write "
    "pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setschedparam pthread_attr_setstacksize __sched_cpucount "
    "pthread_once",
    "on default attributes does not fail in glibc": "pthread_attr_init pthread_attr_destroy pthread_mutex_init pthread_mutex_destroy "
    "pthread_mutex_lock pthread_mutex_unlock sem_init sem_destroy",
    "fails where the caller then tries again, or past 2^31 - 1": "sem_wait sem_trywait sem_post sem_getvalue",
    "ends the program": "exit _exit abort __assert_fail",
    "writes on standard error, where a failure could not be told either, or is told at the end": "printf puts putchar "
    "fprintf vfprintf fwrite fputc fflush",
    "advice": "posix_fadvise posix_fadvise64",
    "variables": "stderr stdout stdin optarg optind opterr optopt",
    "the compiler's": "__tls_get_addr __cpu_model _GLOBAL_OFFSET_TABLE_ __stack_chk_fail __udivti3 __udivmodti4 __umodti3 __extendhfsf2 "
    "__gnu_h2f_ieee",
}
# Of libraries with statuses of their own; they are shared ones, in which nothing is wrapped.
FOREIGN = re.compile(r"softqam_\w+|fake_cuda_\w+|cuda[A-Z]\w*|__cuda\w+|modemcf_\w+|liquid_\w+|cJSON_\w+|MPI_\w+|ompi_\w+")
# What a distribution's compiler may make of calls; the lists are of the usual names.
FORTIFIED = re.compile(r"__\w+_chk|__isoc23_\w+|__open64_2")


def names(nm, option, files):
    output = subprocess.run([nm, option, "-P", *files], check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in output.splitlines() if len(line.split()) > 1}


def main():
    nm, wrapped, files = sys.argv[1], set(sys.argv[2].split(";")), ";".join(sys.argv[3:]).split(";")
    harmless = {name for group in HARMLESS.values() for name in group.split()}
    taken = names(nm, "-u", files) - names(nm, "--defined-only", files)
    if any(FORTIFIED.fullmatch(name) for name in taken):
        print("skipped: this compiler calls the C library's functions by other names (_FORTIFY_SOURCE)")
        sys.exit(77)
    unknown = sorted(name for name in taken - wrapped - harmless if not FOREIGN.fullmatch(name))
    print(f"{len(taken)} functions and variables from outside, {len(taken & wrapped)} of them made to fail")
    for name in unknown:
        print(f"{name}: neither wrapped by fault.c, to be made to fail, nor harmless in {sys.argv[0]}")
    if not taken & wrapped:
        print("nothing is made to fail: were these the right files?")
    sys.exit(bool(unknown) or not taken & wrapped)


if __name__ == "__main__":
    main()
