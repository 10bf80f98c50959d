package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// kubernetes is an engine of Kubernetes. kubectl knows the cluster and the credentials.
type kubernetes struct {
	kind    string // of the job, as kubectl names it
	objects func(j *Job) []object
	rank0   string // the selector of the pod with the log of rank 0, up to the name of the job
}

// The largest notebook, in bytes: an object of Kubernetes has at most 1 MiB.
const largestNotebook = 1_000_000

func (k kubernetes) Manifest(j *Job) (string, error) {
	switch {
	case j.Image == "":
		return "", errors.New("--image is missing: pods need a container image that contains quern, such as one built from install/ci/Containerfile")
	case len(j.Text) > largestNotebook:
		return "", fmt.Errorf("%s has %d bytes, and an object of Kubernetes at most 1 MiB: remove its outputs", j.Notebook, len(j.Text))
	case j.Gang && k.kind == "trainjob":
		return "", errors.New("--gang: a runtime of Kubeflow Trainer defines how its pods are scheduled: choose one with spec.podGroupPolicy by --runtime")
	case j.Restarts > 0 && k.kind == "trainjob":
		return "", errors.New("--restarts: a runtime of Kubeflow Trainer defines how often it restarts ranks: choose one with a failurePolicy by --runtime")
	}
	return yaml(k.objects(j)...), nil
}

func (k kubernetes) Run(ctx context.Context, j *Job, s Streams) error {
	manifest, err := k.Manifest(j)
	if err != nil {
		return err
	}
	path, err := client("kubectl")
	if err != nil {
		return err
	}
	c := &cluster{kubernetes: k, job: j, streams: s, kubectl: path, poll: pollInterval}
	if _, err := c.run(ctx, manifest, "create", "-f", "-"); err != nil {
		return errors.Join(err, c.delete(ctx, manifest)) // of some objects, perhaps
	}
	fmt.Fprintf(s.Messages, "quern: submitted %s/%s with %d ranks\n", k.kind, j.Name, j.Ranks)
	err = c.follow(ctx)
	if c.saved {
		return errors.Join(err, c.delete(ctx, manifest))
	}
	namespace := strings.Join(append([]string{""}, c.namespace()...), " ")
	return fmt.Errorf("%w\nthe job is still there: kubectl describe %s/%s%[4]s shows its state, and kubectl delete %[2]s/%[3]s configmap/%[3]s-notebook secret/%[3]s-secret%[4]s ends it", err, k.kind, j.Name, namespace)
}

const pollInterval = 2 * time.Second

// cluster is one job on a cluster.
type cluster struct {
	kubernetes
	job     *Job
	streams Streams
	kubectl string
	poll    time.Duration
	waiting string // what the pod of rank 0 waits for, as last reported
	saved   bool   // the executed notebook has come back
}

func (c *cluster) namespace() []string {
	if c.job.Namespace == "" {
		return nil
	}
	return []string{"--namespace=" + c.job.Namespace}
}

func (c *cluster) run(ctx context.Context, stdin string, arguments ...string) (string, error) {
	return run(ctx, stdin, c.kubectl, append(arguments, c.namespace()...)...)
}

// delete deletes all objects of the job.
func (c *cluster) delete(ctx context.Context, manifest string) error {
	_, err := c.run(ctx, manifest, "delete", "--ignore-not-found", "--wait=false", "-f", "-")
	return err
}

// follow copies the log of rank 0 until the job has ended, and saves the executed notebook. A pod that is lost before its notebook
// has ended may be replaced by another one, as the engine decides.
func (c *cluster) follow(ctx context.Context) error {
	log := &resultReader{log: c.streams.Log}
	followed, whole := "", false // the pod whose log has been read, and whether to its end
	for failures := 0; ; failures++ {
		state, message, err := c.state(ctx)
		var p pod
		if err == nil && !log.ended() {
			p, err = c.pod(ctx)
		}
		if err == nil && p.started() && (p.Metadata.UID != followed || p.Status.Phase == "Running" || !whole) {
			if p.Metadata.UID == followed {
				log.again() // the connection was lost
			} else {
				log.anotherLog()
			}
			followed = p.Metadata.UID
			err = c.logs(ctx, p.Metadata.Name, log)
			whole = err == nil
			if log.ended() {
				continue // the state is an old one
			}
		}
		if err == nil {
			failures = 0
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (failures == mostFailures || strings.Contains(err.Error(), "(NotFound)")):
			return err
		case err != nil: // the cluster may answer the next time
		case log.ended() && log.end.Failed != "":
			return c.save(log) // running the notebook again would fail again
		case state == failed:
			return errors.Join(fmt.Errorf("%s/%s failed: %s%s", c.kind, c.job.Name, message, c.tails(ctx)), c.save(log))
		case state == succeeded:
			return c.save(log)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.poll):
		}
	}
}

// mostFailures is how often in a row kubectl may fail, as while the network is down.
const mostFailures = 30

// save saves the executed notebook.
func (c *cluster) save(log *resultReader) error {
	err := log.save(c.job.Output)
	var cell *CellError
	c.saved = err == nil || errors.As(err, &cell)
	return err
}

type state int

const (
	active state = iota
	succeeded
	failed
)

// state reads the conditions of the job.
func (c *cluster) state(ctx context.Context) (s state, message string, err error) {
	text, err := c.run(ctx, "", "get", c.kind, c.job.Name, "-o", "json")
	if err != nil {
		return active, "", err
	}
	var o struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return active, "", fmt.Errorf("kubectl get %s: %w", c.kind, err)
	}
	for _, condition := range o.Status.Conditions {
		switch {
		case condition.Status != "True":
		case condition.Type == "Failed":
			return failed, strings.TrimSpace(condition.Reason + ": " + condition.Message), nil
		case slices.Contains([]string{"Complete", "Completed", "Succeeded"}, condition.Type):
			s = succeeded
		}
	}
	return s, "", nil
}

// pod is what is known about the pod of rank 0.
type pod struct {
	Metadata struct {
		Name, UID         string
		CreationTimestamp time.Time
	}
	Status struct {
		Phase             string
		ContainerStatuses []struct {
			State struct {
				Waiting struct{ Reason, Message string }
			}
		}
		Conditions []struct{ Type, Status, Reason, Message string }
	}
}

func (p pod) started() bool {
	return slices.Contains([]string{"Running", "Succeeded", "Failed"}, p.Status.Phase)
}

// pod returns the newest pod with the log of rank 0, and reports what it waits for.
func (c *cluster) pod(ctx context.Context) (newest pod, err error) {
	text, err := c.run(ctx, "", "get", "pods", "-l", c.rank0+c.job.Name, "-o", "json")
	if err != nil {
		return newest, err
	}
	var pods struct{ Items []pod }
	if err := json.Unmarshal([]byte(text), &pods); err != nil {
		return newest, fmt.Errorf("kubectl get pods: %w", err)
	}
	for _, p := range pods.Items {
		if !p.Metadata.CreationTimestamp.Before(newest.Metadata.CreationTimestamp) {
			newest = p
		}
	}
	waiting := ""
	for _, s := range newest.Status.ContainerStatuses {
		if w := s.State.Waiting; w.Reason != "" {
			waiting = strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
	}
	for _, condition := range newest.Status.Conditions {
		if waiting == "" && newest.Status.Phase == "Pending" && condition.Type == "PodScheduled" && condition.Status == "False" {
			waiting = condition.Reason + ": " + condition.Message
		}
	}
	if waiting != "" && waiting != c.waiting {
		fmt.Fprintf(c.streams.Messages, "quern: pod %s waits: %s\n", newest.Metadata.Name, waiting)
	}
	c.waiting = waiting
	return newest, nil
}

// logs copies the log of a pod until its container ends. kubectl reports an error itself.
func (c *cluster) logs(ctx context.Context, name string, to *resultReader) error {
	k := exec.CommandContext(ctx, c.kubectl, append([]string{"logs", "--follow", name}, c.namespace()...)...)
	k.Stdout, k.Stderr = to, c.streams.Messages
	if err := k.Run(); err != nil {
		return fmt.Errorf("kubectl logs %s: %w", name, err)
	}
	return nil
}

// tails returns the ends of the logs of all ranks, among which is why the job failed.
func (c *cluster) tails(ctx context.Context) string {
	_, selector, _ := strings.Cut(c.rank0, "=0,")
	if c.kind == "mpijob" {
		selector = "training.kubeflow.org/job-name="
	}
	text, err := c.run(ctx, "", "logs", "--prefix", "--tail=10", "--max-log-requests=1000", "-l", selector+c.job.Name)
	if err != nil || text == "" {
		return ""
	}
	return "\nthe logs of the ranks end with:\n" + strings.TrimSpace(text)
}
