package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// slurm is an engine whose nodes share a file system with this machine.
type slurm struct{}

// Manifest returns the script of sbatch. The secret is made in the job, so that it is in no file; srun passes it on.
func (slurm) Manifest(j *Job) (string, error) {
	notebook, err := filepath.Abs(j.Notebook)
	if err != nil {
		return "", err
	}
	output, err := filepath.Abs(j.Output)
	if err != nil {
		return "", err
	}
	if j.Gang || j.Restarts > 0 {
		return "", errors.New("--gang and --restarts are for Kubernetes: Slurm starts all ranks or none, and sbatch --requeue of its own settings restarts them")
	}
	log := slurmLog(j, output)
	if strings.ContainsAny(log, "\"\n\\") {
		return "", fmt.Errorf("sbatch cannot write the log %q: rename the folder", log)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n#SBATCH --job-name=%s\n#SBATCH --ntasks=%d\n", j.Name, j.Ranks)
	if j.GPUs > 0 {
		fmt.Fprintf(&b, "#SBATCH --gpus-per-task=%d\n", j.GPUs)
	}
	if j.Queue != "" {
		fmt.Fprintf(&b, "#SBATCH --partition=%s\n", j.Queue)
	}
	fmt.Fprintf(&b, "#SBATCH --output=\"%s\"\n", strings.ReplaceAll(log, "%", "%%"))
	b.WriteString("QUERN_PARALLEL_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \\n')\nexport QUERN_PARALLEL_SECRET\n")
	command := []string{"srun", "--kill-on-bad-exit=1", "--output=0", "--error=all"} // rank 0 prints, and the errors of all
	for _, word := range j.command(notebook, "-o", output) {
		command = append(command, shellQuote(word))
	}
	b.WriteString("exec " + strings.Join(command, " ") + "\n")
	return b.String(), nil
}

// slurmLog returns the path of the log of a job, in the folder of the executed notebook.
func slurmLog(j *Job, output string) string {
	return filepath.Join(filepath.Dir(output), j.Name+".log")
}

// harmless are words without a meaning for a shell.
var harmless = regexp.MustCompile(`^[A-Za-z0-9._/=:,@+-]+$`)

// shellQuote returns a word of a shell command.
func shellQuote(word string) string {
	if harmless.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (e slurm) Run(ctx context.Context, j *Job, s Streams) error {
	script, err := e.Manifest(j)
	if err != nil {
		return err
	}
	sbatch, err := client("sbatch")
	if err != nil {
		return err
	}
	output, err := filepath.Abs(j.Output)
	if err != nil {
		return err
	}
	log := slurmLog(j, output)
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an earlier job with this name
		return err
	}
	c := exec.CommandContext(ctx, sbatch, "--wait")
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(script), s.Messages, s.Messages
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	err = tail(log, s.Log, ended)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w; the job goes on: scancel --name=%s ends it", ctx.Err(), j.Name)
	case errors.As(err, &exit):
		return &CellError{fmt.Sprintf("the job %s failed with %v; its log is %s", j.Name, exit, slurmLog(j, j.Output))}
	case err != nil:
		return err
	}
	if _, err := os.Stat(output); err != nil {
		return fmt.Errorf("the job succeeded, but the executed notebook is not here; do the nodes share this folder? %w", err)
	}
	return nil
}

// tail copies a growing file until ended delivers how its writer ended.
func tail(path string, to io.Writer, ended <-chan error) (err error) {
	var file *os.File
	for over := false; !over; {
		select {
		case err = <-ended:
			over = true
		case <-time.After(slurmPoll):
		}
		if file == nil {
			var missing error
			if file, missing = os.Open(path); missing != nil {
				continue // the job has not started
			}
			defer file.Close()
		}
		if _, failed := io.Copy(to, file); failed != nil {
			return errors.Join(err, failed)
		}
	}
	return err
}

const slurmPoll = 300 * time.Millisecond
