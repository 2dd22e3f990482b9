# SPDX-License-Identifier: MIT
# The functions of the C library whose failure is tested: fault.c wraps them. Those that a file has under two names
# (open64 is open) are here under both. test_coverage.py finds what is missing here.
set(fault_functions
  malloc calloc realloc aligned_alloc strdup free
  open open64 close read write pread pread64 pwrite pwrite64 lseek lseek64 fstat fstat64 stat stat64
  faccessat fchmod fchown readlink realpath rename renameat2 unlink link fsync
  getxattr fremovexattr
  fopen fopen64 fmemopen fputs fclose
  pthread_create pthread_join pthread_setaffinity_np pthread_mutex_trylock sched_getaffinity
  access poll eventfd dlopen dlsym)
