package submit

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// ray is a cluster of Ray, which RAY_ADDRESS names.
type ray struct{}

// rayLauncher starts an actor for each rank.
//
//go:embed ray_launcher.py
var rayLauncher string

// Manifest returns the program that Ray runs, below how it is run.
func (r ray) Manifest(j *Job) (string, error) {
	if j.Gang || j.Restarts > 0 {
		return "", errors.New("--gang and --restarts are for Kubernetes: on Ray, all ranks start or none, and no rank is restarted")
	}
	if j.Queue != "" {
		return "", errors.New("--queue: Ray has no queues")
	}
	arguments, err := r.arguments(j, "FOLDER")
	if err != nil {
		return "", err
	}
	text := "# ray"
	for _, a := range arguments {
		text += " " + shellQuote(a)
	}
	return text + "\n# in FOLDER: notebook.ipynb and launcher.py, which is:\n" + rayLauncher, nil
}

// arguments of the ray program.
func (ray) arguments(j *Job, folder string) ([]string, error) {
	command, err := json.Marshal(j.command("notebook.ipynb", "--log-notebook"))
	return []string{"job", "submit", "--submission-id", j.Name, "--working-dir", folder, "--",
		"python", "launcher.py", strconv.Itoa(j.Ranks), strconv.Itoa(j.GPUs), string(command)}, err
}

func (r ray) Run(ctx context.Context, j *Job, s Streams) error {
	if _, err := r.Manifest(j); err != nil {
		return err
	}
	path, err := client("ray")
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "quern-submit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) // Ray has uploaded it
	for name, content := range map[string]string{"notebook.ipynb": string(j.Text), "launcher.py": rayLauncher} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			return err
		}
	}
	arguments, err := r.arguments(j, folder)
	if err != nil {
		return err
	}
	log := &resultReader{log: s.Log}
	c := exec.CommandContext(ctx, path, arguments...)
	c.Stdout, c.Stderr = log, s.Messages
	err = c.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("%w; the job goes on: ray job stop %s ends it", ctx.Err(), j.Name)
	}
	if saved := log.save(j.Output); saved != nil {
		return errors.Join(saved, err)
	}
	if err != nil {
		return fmt.Errorf("the job %s failed: ray job submit: %w", j.Name, err)
	}
	return nil
}
