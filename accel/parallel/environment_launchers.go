package parallel

import (
	"net"
	"strings"
)

// launcher is a program that starts ranks, and the variables that it sets for each. Each list has
// alternative names of one variable.
type launcher struct {
	name                             string
	rank, size, localRank, localSize []string
	run                              []string // names the run
	// started reports whether the launcher started this process and not only an enclosing one;
	// nil if rank and size say that.
	started func(*variables) bool
	// place sets the address of rank 0; nil for placeOfMPI.
	place func(*variables, *RankInfo) error
}

// launchers are in order of preference. srun may start torchrun, and mpirun may run within a
// Slurm job; the variables of the outer launcher are then set too. mpirun sets its variables for everything
// that it starts, including programs that do not use MPI.
var launchers = []launcher{
	{
		name: "torchrun", rank: []string{"RANK"}, size: []string{"WORLD_SIZE"}, localRank: []string{"LOCAL_RANK"}, localSize: []string{"LOCAL_WORLD_SIZE"},
		run: []string{"TORCHELASTIC_RUN_ID"}, place: placeOfTorchrun,
	},
	{
		name: "Open MPI", rank: []string{"OMPI_COMM_WORLD_RANK"}, size: []string{"OMPI_COMM_WORLD_SIZE"},
		localRank: []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, localSize: []string{"OMPI_COMM_WORLD_LOCAL_SIZE"}, run: []string{"PMIX_NAMESPACE", "SLURM_JOB_ID"},
	},
	{
		// MPICH's mpiexec and its derivatives, such as Intel MPI.
		name: "MPICH", rank: []string{"PMI_RANK"}, size: []string{"PMI_SIZE"},
		localRank: []string{"MPI_LOCALRANKID", "PMI_LOCAL_RANK"}, localSize: []string{"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"}, run: []string{"I_MPI_HYDRA_UUID", "SLURM_JOB_ID"},
		started: func(v *variables) bool { // srun with --mpi=pmi2 sets the same two variables, but its own are more precise
			return !inStep(v) || v.text("PMI_JOBID") != v.text("SLURM_JOB_ID")+"."+v.text("SLURM_STEP_ID")
		},
	},
	{
		name: "MVAPICH", rank: []string{"MV2_COMM_WORLD_RANK"}, size: []string{"MV2_COMM_WORLD_SIZE"},
		localRank: []string{"MV2_COMM_WORLD_LOCAL_RANK"}, localSize: []string{"MV2_COMM_WORLD_LOCAL_SIZE"}, run: []string{"SLURM_JOB_ID"},
	},
	{
		name: "jsrun", rank: []string{"JSM_NAMESPACE_RANK"}, size: []string{"JSM_NAMESPACE_SIZE"},
		localRank: []string{"JSM_NAMESPACE_LOCAL_RANK"}, localSize: []string{"JSM_NAMESPACE_LOCAL_SIZE"}, run: []string{"LSB_JOBID"},
	},
	{name: "Flux", rank: []string{"FLUX_TASK_RANK"}, size: []string{"FLUX_JOB_SIZE"}, localRank: []string{"FLUX_TASK_LOCAL_ID"}, run: []string{"FLUX_JOB_ID"}},
	{
		name: "Slurm", rank: []string{"SLURM_PROCID"}, size: []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}, localRank: []string{"SLURM_LOCALID"},
		run: []string{"SLURM_JOB_ID", "SLURM_JOBID"}, started: inStep, place: placeOfSlurm,
	},
	{
		// The torch policy of a runtime sets these for torchrun to read, once per pod.
		name: "Kubeflow Trainer", rank: []string{"PET_NODE_RANK"}, size: []string{"PET_NNODES"}, place: placeOfTrainer,
		started: func(v *variables) bool {
			return atLeast(2)(v.text("PET_NNODES")) || atLeast(1)(v.text("PET_NODE_RANK"))
		},
	},
	{name: "JAX", rank: []string{"JAX_PROCESS_ID"}, size: []string{"JAX_NUM_PROCESSES"}, place: placeOfJAX},
}

// read reads the variables of the launcher.
func (l launcher) read(v *variables) (p RankInfo, err error) {
	if p.Rank, err = v.number(l.rank...); err != nil {
		return p, err
	}
	if p.Size, err = v.number(l.size...); err != nil {
		return p, err
	}
	if p.LocalRank, err = v.optional(-1, l.localRank...); err != nil {
		return p, err
	}
	if p.LocalSize, err = v.optional(0, l.localSize...); err != nil {
		return p, err
	}
	if p.LocalSize > 0 && p.LocalRank < 0 {
		return p, v.wrong("%s is not set, but %s is", l.localRank[0], l.localSize[0])
	}
	if len(l.run) > 0 {
		p.Run, _ = v.first(l.run...)
	}
	place := l.place
	if place == nil {
		place = placeOfMPI
	}
	return p, place(v, &p)
}

// placeOfTorchrun is for torchrun and for users who start ranks by hand: they set the variables of PyTorch's env:// rendezvous.
//
// If TORCHELASTIC_USE_AGENT_STORE is set, torchrun itself listens at MASTER_ADDR:MASTER_PORT:
// rank 0 then listens elsewhere and publishes its address in torchrun's store.
func placeOfTorchrun(v *variables, p *RankInfo) (err error) {
	if p.Size > 1 {
		for _, name := range []string{"MASTER_ADDR", "MASTER_PORT"} {
			if v.text(name) == "" {
				return v.wrong("%s is not set; set it to where rank 0 listens, the same for all ranks", name)
			}
		}
	}
	p.Address, err = v.address("", DefaultPort)
	if err == nil && p.Address != "" && strings.EqualFold(v.text("TORCHELASTIC_USE_AGENT_STORE"), "true") {
		p.Run += "/" + v.text("TORCHELASTIC_RESTART_COUNT")
		p.store, p.Address = p.Address, net.JoinHostPort(v.text("MASTER_ADDR"), "0")
	}
	return err
}

// placeOfMPI is for launchers that do not say where rank 0 is, unless all ranks are on this machine or in a job of Slurm.
func placeOfMPI(v *variables, p *RankInfo) (err error) {
	host := "127.0.0.1"
	if p.Size < 1 || p.LocalSize != p.Size {
		if host, err = v.slurmHost(); err != nil {
			return err
		}
	}
	p.Address, err = v.address(host, jobPort(p.Run))
	return err
}

// placeOfSlurm is for srun. The run is the job and its step.
func placeOfSlurm(v *variables, p *RankInfo) error {
	host, err := v.slurmHost()
	if err != nil {
		return err
	}
	if p.Size > 1 && host == "" && v.text("MASTER_ADDR") == "" {
		return v.wrong("neither SLURM_STEP_NODELIST nor MASTER_ADDR is set, so the address of rank 0 is unknown")
	}
	p.LocalSize = v.slurmLocalSize(*p)
	step, _ := v.first("SLURM_STEP_ID", "SLURM_STEPID")
	p.Run += "." + step
	p.Address, err = v.address(host, jobPort(p.Run))
	return err
}

// placeOfTrainer is for one process in each pod of a TrainJob.
func placeOfTrainer(v *variables, p *RankInfo) error {
	if processes := v.text("PET_NPROC_PER_NODE"); atLeast(2)(processes) {
		return v.wrong("PET_NPROC_PER_NODE=%s announces several processes in each pod: set numProcPerNode: 1 in the TrainJob, or start the program by torchrun --no-python", processes)
	}
	port, err := v.optional(DefaultPort, "PET_MASTER_PORT")
	if err != nil {
		return err
	}
	p.LocalRank, p.LocalSize = 0, 1
	p.Address, err = v.address(v.text("PET_MASTER_ADDR"), port)
	return err
}

// placeOfJAX is for variables of jax.distributed.initialize, which Kubeflow Trainer sets.
func placeOfJAX(v *variables, p *RankInfo) (err error) {
	host, port := "", DefaultPort
	if text := v.text("JAX_COORDINATOR_ADDRESS"); text != "" {
		var number string
		if host, number, err = net.SplitHostPort(text); err == nil {
			port, err = net.LookupPort("tcp", number)
		}
		if err != nil {
			return v.wrong("JAX_COORDINATOR_ADDRESS=%s: %v", text, err)
		}
	}
	p.Address, err = v.address(host, port)
	return err
}
