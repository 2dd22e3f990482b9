# SPDX-License-Identifier: MIT
"""Environments for the programs under test: Open MPI on one small machine, and programs that signals end."""

import os
import tempfile

# Programs without mpirun all name their session folder alike and remove it at the end; each test run has its own.
_SESSIONS = tempfile.TemporaryDirectory(prefix="ompi.")

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # More ranks than CPUs.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # No remote hosts: no ssh, and no search for networks, which takes most of the time of a start.
    "OMPI_MCA_plm_rsh_agent": "",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_osc": "^ucx",
    # Reading another process's memory may be forbidden.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_orte_tmpdir_base": _SESSIONS.name,
    # No daemon without mpirun.
    "OMPI_MCA_ess_singleton_isolated": "1",
}

# Sanitizers, if the programs are built with any, leave all signals to the programs.
SANITIZERS = ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
HANDLE_NONE = "".join(f":handle_{name}=0" for name in ("segv", "sigbus", "sigfpe", "sigill", "abort"))
SIGNAL_ENVIRONMENT = {**os.environ, **{name: os.environ.get(name, "") + HANDLE_NONE for name in SANITIZERS}}
