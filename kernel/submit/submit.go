// Package submit runs a notebook as several ranks on an engine that starts processes on other machines: Kubernetes with
// Kubeflow Trainer, JobSet or the MPI Operator, Slurm, or Ray.
//
// An [Engine] writes its manifest for a [Job], and gives it to the client program of the engine: kubectl, sbatch or ray. Quern
// starts, schedules and restarts nothing itself. In the job, each rank is a quern run, which finds its rank in the variables
// that the engine sets (see accel/parallel).
//
// # How the executed notebook comes back
//
// On Slurm, rank 0 writes it: the folder of the notebook is on a file system that the nodes share. Elsewhere rank 0 prints it at
// the end of its log ([WriteResult]), since containers and their files are gone when they end, and logs are not. A checksum
// detects a log that has lost lines.
package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Job is a notebook that runs on several ranks.
type Job struct {
	Name     string // of the job, see [Name]
	Notebook string // path of the notebook
	Text     []byte // of the notebook
	Output   string // path of the executed notebook
	Ranks    int
	GPUs     int      // of each rank
	Image    string   // container image that contains quern; on Kubernetes
	Program  string   // the program quern on the machines of the engine
	Flags    []string // further flags of quern run, such as --param
	// Secret is what ranks must know to join, see parallel.Secret; on Slurm and Ray the job makes its own.
	Secret string

	Queue     string // Kueue's LocalQueue, Volcano's queue with Gang, or Slurm's partition; may be empty
	Namespace string // on Kubernetes; empty for that of kubectl's context
	Runtime   string // ClusterTrainingRuntime of Kubeflow Trainer
	Gang      bool   // Volcano starts all ranks or none; JobSet and MPI Operator
	Restarts  int    // how often all ranks are restarted if one is lost; JobSet and MPI Operator
}

// Streams is where the log of rank 0 and messages about the job go.
type Streams struct{ Log, Messages io.Writer }

// An Engine starts ranks.
type Engine interface {
	// Manifest returns what Run gives to the engine.
	Manifest(j *Job) (string, error)
	// Run submits the job, copies the log of rank 0, and writes the executed notebook to j.Output. The error is a [*CellError]
	// if the notebook failed in the job, and a [*ClientError] if the client program of the engine is missing. When ctx ends,
	// Run returns, and the job goes on.
	Run(ctx context.Context, j *Job, s Streams) error
}

// Engines are the engines by the name of --on.
var Engines = map[string]Engine{
	"kubeflow": kubernetes{kind: "trainjob", objects: trainJob, rank0: "jobset.sigs.k8s.io/replicatedjob-name=node,batch.kubernetes.io/job-completion-index=0,jobset.sigs.k8s.io/jobset-name="},
	"jobset":   kubernetes{kind: "jobset", objects: jobSet, rank0: "batch.kubernetes.io/job-completion-index=0,jobset.sigs.k8s.io/jobset-name="},
	"mpi":      kubernetes{kind: "mpijob", objects: mpiJob, rank0: "training.kubeflow.org/job-role=launcher,training.kubeflow.org/job-name="},
	"slurm":    slurm{},
	"ray":      ray{},
}

// CellError is the failure of a notebook in a job.
type CellError struct{ Text string }

func (e *CellError) Error() string { return e.Text }

// ClientError says that the client program of an engine is not installed.
type ClientError struct {
	Program string
	Err     error
}

func (e *ClientError) Error() string {
	return fmt.Sprintf("%s is needed to submit the job and is not on PATH; --dry-run prints what it would be given", e.Program)
}

// Unwrap returns the error of the search.
func (e *ClientError) Unwrap() error { return e.Err }

// client returns the path of the client program of an engine.
func client(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &ClientError{name, err}
	}
	return path, nil
}

// run runs a client program with text as its standard input and returns what it prints.
func run(ctx context.Context, stdin, name string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, name, arguments...)
	c.Stdin = strings.NewReader(stdin)
	out, err := c.Output()
	var exit *exec.ExitError
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(name), arguments[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// command returns the command of a rank for the notebook at a path.
func (j *Job) command(notebook string, flags ...string) []string {
	return append(append([]string{j.Program, "run", notebook}, flags...), j.Flags...)
}

// Longest name: engines append a suffix for each rank, and names of hosts have at most 63 characters.
const longestName = 40

// Name returns the name of a job for a notebook: letters, digits and dashes, as Kubernetes requires. Jobs of one notebook differ
// by the suffix.
func Name(notebook, suffix string) string {
	base := strings.ToLower(strings.TrimSuffix(filepath.Base(notebook), filepath.Ext(notebook)))
	words := strings.FieldsFunc(base, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	if name == "" || name[0] <= '9' {
		name = "notebook-" + name
	}
	return strings.Trim(name[:min(len(name), longestName-len(suffix)-1)], "-") + "-" + suffix
}

// CheckName returns an error if a name is none that Kubernetes, Slurm and Ray accept.
func CheckName(name string) error {
	if name == "" {
		return errors.New("the name of the job is empty")
	}
	for i, r := range name {
		if (r < 'a' || r > 'z') && (i == 0 || (r < '0' || r > '9') && (r != '-' || i == len(name)-1)) {
			return fmt.Errorf("the name %q of the job is not valid: use lower-case letters, digits and dashes, and a letter first", name)
		}
	}
	if len(name) > longestName {
		return fmt.Errorf("the name %q of the job has more than %d characters", name, longestName)
	}
	return nil
}
