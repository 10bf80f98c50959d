package parallel

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
)

// RankInfo is the rank of a process among those that were started together.
type RankInfo struct {
	Rank int // from 0
	Size int // total number of processes
	// LocalRank is the rank among the processes of one machine: the index of the GPU to use. It is
	// -1 if the environment does not set it; [Join] then determines it.
	LocalRank int
	// LocalSize is the number of processes on this machine, 0 if the environment does not set
	// it.
	LocalSize int
	// Address is where rank 0 listens, as host:port.
	Address string
	// Run distinguishes runs that use the same address.
	Run string
	// Launcher is the launcher whose variables were used, such as "torchrun"; empty for a
	// single process.
	Launcher string

	local bool   // created by Local
	store string // address of torchrun's store, through which rank 0 publishes its address
}

// EnvironmentError says that the variables of a launcher are inconsistent.
type EnvironmentError struct {
	Launcher string // that set the variables, such as Slurm
	Hint     string // which variables, and what to do
}

func (e *EnvironmentError) Error() string {
	return fmt.Sprintf("parallel: the environment variables of %s: %s", e.Launcher, e.Hint)
}

// DefaultPort is the port of rank 0 unless the environment or an option sets another one; it is
// PyTorch's default.
const DefaultPort = 29500

// singleProcess returns a process that was not started by a launcher.
func singleProcess() RankInfo { return RankInfo{Size: 1, LocalSize: 1} }

// FromEnvironment reads the rank of the process from its environment, through a function such
// as os.LookupEnv. It uses the first launcher in this list whose variables are set; launchers
// that start processes most directly come first:
//
//	torchrun, by hand             RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT
//	Open MPI, Kubeflow's MPIJob   OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//	MPICH, Intel MPI              PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
//	MVAPICH                       MV2_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//	jsrun                         JSM_NAMESPACE_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//	Flux                          FLUX_TASK_RANK, FLUX_JOB_SIZE, FLUX_TASK_LOCAL_ID
//	Slurm's srun                  SLURM_STEP_ID, SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_NODELIST
//	Kubeflow Trainer              PET_NODE_RANK, PET_NNODES, PET_NPROC_PER_NODE, PET_MASTER_ADDR, PET_MASTER_PORT
//	JAX                           JAX_PROCESS_ID, JAX_NUM_PROCESSES, JAX_COORDINATOR_ADDRESS
//
// MASTER_ADDR and MASTER_PORT apply to all of them. Without MASTER_ADDR, rank 0 is where the
// launcher says, on the first host named by Slurm, or on this machine if the launcher says that all
// ranks are. Without MASTER_PORT, it listens on a port derived from the name of the run, if the
// launcher sets one, and otherwise on [DefaultPort]. Without any of these variables the
// process is alone, and so is a process in the script of sbatch or the shell of salloc without
// srun: Slurm describes all tasks that the job may have, but starts it once. If other
// variables announce several processes, such as JOB_COMPLETION_INDEX=1 of an Indexed Job of
// Kubernetes, FromEnvironment returns an [*EnvironmentError] that names them; otherwise each
// process would silently train alone. Incomplete variables, or values that are not numbers, are
// also an [*EnvironmentError].
func FromEnvironment(lookup func(string) (string, bool)) (RankInfo, error) {
	if lookup == nil {
		return RankInfo{}, errors.New("parallel: FromEnvironment: the function that reads variables is nil: pass os.LookupEnv")
	}
	for _, l := range launchers {
		v := &variables{lookup: lookup, launcher: l.name}
		if !v.any(l.rank...) && !v.any(l.size...) || l.started != nil && !l.started(v) {
			continue
		}
		p, err := l.read(v)
		if err != nil {
			return RankInfo{}, err
		}
		p.Launcher = cmp.Or(v.text(launcherVariable), l.name)
		return p, p.check(l.name)
	}
	if err := checkUnsupported(lookup); err != nil {
		return RankInfo{}, err
	}
	return singleProcess(), nil
}

// launcherVariable is the variable in which a program that sets torchrun's variables names
// itself: the kernel of a notebook, for %ranks.
const launcherVariable = "QUERN_PARALLEL_LAUNCHER"

// check checks that the numbers are a valid rank.
func (p RankInfo) check(launcher string) error {
	wrong := (&variables{launcher: launcher}).wrong
	switch {
	case p.Size < 1:
		return wrong("the number of ranks is %d; it must be at least 1", p.Size)
	case p.Rank < 0 || p.Rank >= p.Size:
		return wrong("rank %d of %d; ranks are numbered from 0 to the number of ranks less one", p.Rank, p.Size)
	case p.LocalSize > 0 && (p.LocalRank < 0 || p.LocalRank >= p.LocalSize):
		return wrong("local rank %d of %d on this machine; local ranks are numbered from 0", p.LocalRank, p.LocalSize)
	case p.LocalSize > p.Size:
		return wrong("this machine has %d ranks, but there are only %d in all", p.LocalSize, p.Size)
	case p.Size > 1 && p.Address == "" && p.store == "":
		return wrong("the address of rank 0 is unknown; set MASTER_ADDR to its host, the same for all ranks")
	}
	return nil
}

// variables reads the variables of one launcher.
type variables struct {
	lookup   func(string) (string, bool)
	launcher string
}

// wrong returns an error about the variables.
func (v *variables) wrong(format string, values ...any) error {
	return &EnvironmentError{Launcher: v.launcher, Hint: fmt.Sprintf(format, values...)}
}

// any reports whether one of some variables is set.
func (v *variables) any(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return v.text(n) != "" })
}

// text returns a variable, or "" if it is not set.
func (v *variables) text(name string) string {
	s, _ := v.lookup(name)
	return s
}

// first returns the first of some variables that is set, and its name.
func (v *variables) first(names ...string) (value, name string) {
	for _, n := range names {
		if s := v.text(n); s != "" {
			return s, n
		}
	}
	return "", names[0]
}

// number returns a required variable as a number.
func (v *variables) number(names ...string) (int, error) {
	s, name := v.first(names...)
	if s == "" {
		return 0, v.wrong("%s is not set, but other variables of the launcher are", name)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, v.wrong("%s=%q is not a number", name, s)
	}
	return n, nil
}

// optional returns an optional variable as a number.
func (v *variables) optional(missing int, names ...string) (int, error) {
	if !v.any(names...) {
		return missing, nil
	}
	return v.number(names...)
}

// address returns where rank 0 listens; host and port are the defaults without MASTER_ADDR and
// MASTER_PORT. It is empty without a host.
func (v *variables) address(host string, port int) (string, error) {
	if s := v.text("MASTER_ADDR"); s != "" {
		host = s
	}
	port, err := v.optional(port, "MASTER_PORT")
	if err != nil {
		return "", err
	}
	if port < 1 || port > 65535 {
		return "", v.wrong("MASTER_PORT=%d is not a port; ports are 1 to 65535", port)
	}
	if host == "" {
		return "", nil
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}
