package parallel

// openMPI's mpirun sets these variables for everything that it starts, including programs that
// do not use MPI. Kubeflow's MPIJob uses mpirun.
var openMPI = launcher{
	name:      "Open MPI",
	variables: []string{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	read: func(v *variables) (RankInfo, error) {
		return v.mpi(names{
			rank: []string{"OMPI_COMM_WORLD_RANK"}, size: []string{"OMPI_COMM_WORLD_SIZE"},
			localRank: []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, localSize: []string{"OMPI_COMM_WORLD_LOCAL_SIZE"},
		}, "PMIX_NAMESPACE")
	},
}

// mpich is MPICH's mpiexec and its derivatives, such as Intel MPI. srun with --mpi=pmi2 sets
// the same two variables, but its own are more precise.
var mpich = launcher{
	name:      "MPICH",
	variables: []string{"PMI_RANK", "PMI_SIZE"},
	started: func(v *variables) bool {
		return !inStep(v) || v.text("PMI_JOBID") != v.text("SLURM_JOB_ID")+"."+v.text("SLURM_STEP_ID")
	},
	read: func(v *variables) (RankInfo, error) {
		return v.mpi(names{
			rank: []string{"PMI_RANK"}, size: []string{"PMI_SIZE"},
			localRank: []string{"MPI_LOCALRANKID", "PMI_LOCAL_RANK"}, localSize: []string{"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
		}, "I_MPI_HYDRA_UUID")
	},
}

// mpi returns the rank of a process started by mpirun; variables name the run.
func (v *variables) mpi(n names, run ...string) (RankInfo, error) {
	p, err := v.readRank(n)
	if err != nil {
		return p, err
	}
	host := ""
	switch list, name := v.first("SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"); {
	case p.Size > 0 && p.LocalSize == p.Size:
		host = "127.0.0.1"
	case list != "": // within a Slurm job: rank 0 is on the first host
		if host, err = firstHost(list); err != nil {
			return p, &EnvironmentError{Launcher: v.launcher, Hint: name + ": " + err.Error()}
		}
	}
	if p.LocalSize > 0 && p.LocalRank < 0 {
		return p, &EnvironmentError{Launcher: v.launcher, Hint: n.localRank[0] + " is not set, but " + n.localSize[0] + " is"}
	}
	p.Run, _ = v.first(append(run, "SLURM_JOB_ID")...)
	p.Address, err = v.address(host, jobPort(p.Run))
	return p, err
}
