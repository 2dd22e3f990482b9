# SPDX-License-Identifier: MIT
"""What Open MPI is to heed in the tests: one machine, perhaps a small one, perhaps root's."""

import tempfile

# Programs without mpirun all take the same name for their folder of the session, and remove it at their end: tests that
# run at once would remove each other's.
_SESSIONS = tempfile.TemporaryDirectory(prefix="ompi.")

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # More ranks than CPUs.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # No remote hosts, so no ssh and no search for networks, which is most of the time that a start takes.
    "OMPI_MCA_plm_rsh_agent": "",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_osc": "^ucx",
    # Memory of other processes is not to be read where that is forbidden.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_orte_tmpdir_base": _SESSIONS.name,
    # Without mpirun: no daemon.
    "OMPI_MCA_ess_singleton_isolated": "1",
}
