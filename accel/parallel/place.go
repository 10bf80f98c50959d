package parallel

import (
	"fmt"
	"net"
	"strconv"
)

// RankInfo is where a process stands among those that were started together.
type RankInfo struct {
	Rank int // from 0
	Size int // processes in all
	// LocalRank counts the processes of one machine: the number of the GPU to use. It is -1 where the
	// environment does not tell; [Join] then counts them itself.
	LocalRank int
	// LocalSize is how many there are on this machine, 0 where the environment does not tell.
	LocalSize int
	// Address is where rank 0 listens, as host:port.
	Address string
	// Run keeps runs apart that use one address after the other.
	Run string
	// Launcher is what the place was read from, "torchrun" for instance; empty for a process that is alone.
	Launcher string

	local bool   // in one process with the others
	store string // the address of torchrun's own store, through which rank 0 tells where it listens
}

// EnvironmentError says that the variables of a launcher do not fit together.
type EnvironmentError struct {
	Launcher string
	Hint     string // which of them, and what to do
}

func (e *EnvironmentError) Error() string {
	return fmt.Sprintf("parallel: the environment of %s: %s", e.Launcher, e.Hint)
}

// DefaultPort is where rank 0 listens unless the environment or an option says
// otherwise: that of PyTorch.
const DefaultPort = 29500

// alone is a process that nobody has started together with others.
func alone() RankInfo { return RankInfo{Size: 1, LocalSize: 1} }

// FromEnvironment reads where the process stands from its environment, through a
// function such as os.LookupEnv. The first of these that is there counts, the one
// that starts processes closest to them first:
//
//	torchrun, Kubeflow's PyTorchJob  RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT
//	Open MPI, Kubeflow's MPIJob      OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//	MPICH, Intel MPI                 PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
//	Slurm's srun                     SLURM_STEP_ID, SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_NODELIST
//
// MASTER_ADDR and MASTER_PORT hold for all of them. Without MASTER_ADDR rank 0 is on
// the first host that Slurm names, or on this machine where the launcher says that
// all ranks are. Without MASTER_PORT it listens on a port that is made of the name of
// the run, where Slurm, Open MPI or Intel's MPI gives it one, and else on [DefaultPort].
// Without any of these variables the process is alone, and so is what runs in the
// script of sbatch or in the shell of salloc without srun: Slurm tells it of all the
// tasks that the job may have, but starts it once. Variables of other launchers that say
// that there are several processes, such as PET_NNODES=2 of Kubeflow Trainer without
// torchrun, are an [*EnvironmentError] that names them: each process would train alone
// and nobody would notice. Variables that are there by half,
// or that are no numbers, are an [*EnvironmentError].
func FromEnvironment(lookup func(string) (string, bool)) (RankInfo, error) {
	for _, l := range launchers {
		v := &variables{lookup: lookup, launcher: l.name}
		if !v.any(l.marks...) || l.started != nil && !l.started(v) {
			continue
		}
		p, err := l.read(v)
		if err != nil {
			return RankInfo{}, err
		}
		p.Launcher = l.name
		if name := v.text(launcherVariable); name != "" && l.name == torchrun.name {
			p.Launcher = name
		}
		return p, p.check(l.name)
	}
	if err := unusable(lookup); err != nil {
		return RankInfo{}, err
	}
	return alone(), nil
}

// launcherVariable is how a program calls itself that sets torchrun's variables for what
// it starts: the kernel of a notebook, which says %ranks.
const launcherVariable = "QUERN_PARALLEL_LAUNCHER"

// launcher is a program that starts ranks.
type launcher struct {
	name  string
	marks []string // variables of which one says that it was at work
	// started tells whether it has started this process, and not only what this one
	// runs in; nil where the marks say that.
	started func(*variables) bool
	read    func(*variables) (RankInfo, error)
}

// launchers are in the order of preference. torchrun may be started by srun, and
// mpirun within a job of Slurm, whose variables are then those of the outer one.
var launchers = []launcher{torchrun, openMPI, mpich, slurm}

// check tells whether the numbers are those of a place.
func (p RankInfo) check(launcher string) error {
	wrong := func(format string, values ...any) error {
		return &EnvironmentError{Launcher: launcher, Hint: fmt.Sprintf(format, values...)}
	}
	switch {
	case p.Size < 1:
		return wrong("there are %d ranks; at least one is needed", p.Size)
	case p.Rank < 0 || p.Rank >= p.Size:
		return wrong("rank %d of %d; ranks are counted from 0", p.Rank, p.Size)
	case p.LocalSize > 0 && (p.LocalRank < 0 || p.LocalRank >= p.LocalSize):
		return wrong("local rank %d of %d on this machine; they are counted from 0", p.LocalRank, p.LocalSize)
	case p.LocalSize > p.Size:
		return wrong("%d of %d ranks are on this machine", p.LocalSize, p.Size)
	case p.Size > 1 && p.Address == "" && p.store == "":
		return wrong("where is rank 0? Set MASTER_ADDR to its host, the same for all ranks")
	}
	return nil
}

// variables reads those of one launcher.
type variables struct {
	lookup   func(string) (string, bool)
	launcher string
}

func (v *variables) any(names ...string) bool {
	for _, n := range names {
		if v.text(n) != "" {
			return true
		}
	}
	return false
}

// text is a variable, empty where it is not set.
func (v *variables) text(name string) string {
	s, _ := v.lookup(name)
	return s
}

// first is the first of some variables that is set, and its name.
func (v *variables) first(names ...string) (value, name string) {
	for _, n := range names {
		if s := v.text(n); s != "" {
			return s, n
		}
	}
	return "", names[0]
}

// number is a variable that must be there.
func (v *variables) number(names ...string) (int, error) {
	s, name := v.first(names...)
	if s == "" {
		return 0, &EnvironmentError{Launcher: v.launcher, Hint: name + " is missing, though others of its variables are set"}
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, &EnvironmentError{Launcher: v.launcher, Hint: fmt.Sprintf("%s=%q is no number", name, s)}
	}
	return n, nil
}

// optional is a number that may be missing.
func (v *variables) optional(missing int, names ...string) (int, error) {
	if !v.any(names...) {
		return missing, nil
	}
	return v.number(names...)
}

// names are the variables of a launcher's four numbers, each with its other names.
type names struct{ rank, size, localRank, localSize []string }

// place reads the four numbers.
func (v *variables) place(n names) (p RankInfo, err error) {
	if p.Rank, err = v.number(n.rank...); err != nil {
		return p, err
	}
	if p.Size, err = v.number(n.size...); err != nil {
		return p, err
	}
	if p.LocalRank, err = v.optional(-1, n.localRank...); err != nil {
		return p, err
	}
	p.LocalSize, err = v.optional(0, n.localSize...)
	return p, err
}

// address is where rank 0 listens, with a host and a port for where MASTER_ADDR and
// MASTER_PORT are missing. It is empty without a host.
func (v *variables) address(host string, port int) (string, error) {
	if s := v.text("MASTER_ADDR"); s != "" {
		host = s
	}
	port, err := v.optional(port, "MASTER_PORT")
	if err != nil {
		return "", err
	}
	if port < 1 || port > 65535 {
		return "", &EnvironmentError{Launcher: v.launcher, Hint: fmt.Sprintf("MASTER_PORT=%d is no port", port)}
	}
	if host == "" {
		return "", nil
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}
