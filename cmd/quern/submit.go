package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/kernel/notebook/parameter"
	"github.com/quernlab/quern/kernel/submit"
)

const submitUsage = `quern submit runs a notebook as several ranks on a cluster.

  quern submit nb.ipynb --on slurm --ranks 8 --gpus 1
  quern submit nb.ipynb --on kubeflow --ranks 8 --gpus 1 --image registry.example.org/quern
  quern submit nb.ipynb --on slurm --ranks 8 --dry-run      print what would be submitted

It writes the manifest of the engine, gives it to the client program of the engine, prints
the log of rank 0, and writes the executed notebook to -o, nb.executed.ipynb unless set. It exits with
status 1 if a cell fails. Interrupted, it says how to end the job, which goes on.

  --on kubeflow  a TrainJob of Kubeflow Trainer 2.2 or later, by kubectl
  --on jobset    a JobSet of Kubernetes, by kubectl
  --on mpi       an MPIJob of the MPI Operator, by kubectl
  --on slurm     a script for sbatch; the nodes share the folder of the notebook
  --on ray       a job of a Ray cluster, by ray job submit; RAY_ADDRESS names the cluster

  --ranks 8       the number of ranks; 1 unless set
  --gpus 1        the number of GPUs of each rank; 0 unless set
  --param x=3     set a parameter, as quern run does
  --timeout 1h    interrupt a cell that runs longer
  --name NAME     the name of the job
  --quern PATH    the program on the machines of the cluster; quern unless set
  --queue NAME    the queue: of Kueue, of Volcano with --gang, or the partition of Slurm

On Kubernetes, also:

  --image IMAGE   the container image, which contains quern, and for mpi also sshd and mpirun
  --namespace NS  the namespace; that of kubectl's context unless set
  --runtime NAME  the ClusterTrainingRuntime of a TrainJob; torch-distributed unless set
  --gang          let Volcano start all ranks or none; jobset and mpi
  --restarts 3    how often the ranks are restarted if one is lost; jobset and mpi

Kueue and Slurm start all ranks or none by themselves. In a notebook, parallel.Join connects the
ranks. They need no secret of yours: each job has its own.
`

func runSubmit(ctx context.Context, args []string, std stdio) error {
	var (
		on         string
		dryRun     bool
		timeout    duration
		parameters parameter.Set
		j          submit.Job
	)
	flags := flag.NewFlagSet("submit", flag.ContinueOnError)
	flags.StringVar(&on, "on", "", "")
	flags.BoolVar(&dryRun, "dry-run", false, "")
	flags.IntVar(&j.Ranks, "ranks", 1, "")
	flags.IntVar(&j.GPUs, "gpus", 0, "")
	flags.StringVar(&j.Output, "o", "", "")
	flags.Func("param", "", func(text string) error {
		j.Flags = append(j.Flags, "--param", text)
		return parameters.Set(text)
	})
	flags.Var(&timeout, "timeout", "")
	flags.StringVar(&j.Name, "name", "", "")
	flags.StringVar(&j.Program, "quern", "quern", "")
	flags.StringVar(&j.Queue, "queue", "", "")
	flags.StringVar(&j.Image, "image", "", "")
	flags.StringVar(&j.Namespace, "namespace", "", "")
	flags.StringVar(&j.Runtime, "runtime", "torch-distributed", "")
	flags.BoolVar(&j.Gang, "gang", false, "")
	flags.IntVar(&j.Restarts, "restarts", 0, "")
	paths, err := parseNotebooks(flags, submitUsage, args, std)
	if err != nil {
		return err
	}
	wrong := func(message, hint string) error { return &usageError{"submit: " + message, hint} }
	engine, ok := submit.Engines[on]
	names := strings.Join(slices.Sorted(maps.Keys(submit.Engines)), ", ")
	switch {
	case len(paths) != 1:
		return wrong("one notebook at a time", "quern submit nb.ipynb --on slurm")
	case on == "":
		return wrong("the engine is missing", "--on names it: "+names)
	case !ok:
		return wrong(fmt.Sprintf("unknown engine %q", on), "--on is one of "+names)
	case j.Ranks < 1 || j.GPUs < 0 || j.Restarts < 0 || timeout < 0:
		return wrong("--ranks must be at least 1, and --gpus, --restarts and --timeout not negative", "quern submit nb.ipynb --on slurm --ranks 8 --gpus 1")
	}
	if timeout > 0 {
		j.Flags = append(j.Flags, "--timeout", timeout.String())
	}
	if err := readJob(&j, paths[0], parameters); err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	if dryRun {
		j.Secret = secretOfDryRun
		manifest, err := engine.Manifest(&j)
		if err == nil {
			_, err = fmt.Fprint(std.out, manifest)
		}
		return err
	}
	if err := mayWrite(filepath.Dir(j.Output)); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if err := engine.Run(ctx, &j, submit.Streams{Log: std.out, Messages: std.err}); err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	fmt.Fprintf(std.err, "quern: wrote %s\n", j.Output)
	return nil
}

// secretOfDryRun takes the place of the secret, which a terminal or a log would show. It says what to do before the manifest is
// submitted by hand.
const secretOfDryRun = "REPLACE-BY-THE-OUTPUT-OF-openssl-rand-hex-32"

// readJob sets what the job takes from the notebook. Errors of parameters are reported here and not by a job that has waited
// for hours.
func readJob(j *submit.Job, path string, parameters parameter.Set) error {
	n, err := readGo(path)
	if err != nil {
		return err
	}
	for _, c := range n.Cells {
		c.Outputs, c.Count = nil, 0
	}
	if j.Text, err = n.Encode(); err != nil {
		return err
	}
	if err := parameters.Inject(n); err != nil {
		return err
	}
	j.Notebook = path
	if j.Output == "" {
		j.Output = strings.TrimSuffix(path, filepath.Ext(path)) + ".executed.ipynb"
	}
	var random [32 + 3]byte
	_, _ = rand.Read(random[:]) // never fails
	j.Secret = hex.EncodeToString(random[:32])
	if j.Name == "" {
		j.Name = submit.Name(path, hex.EncodeToString(random[32:]))
	}
	return submit.CheckName(j.Name)
}
