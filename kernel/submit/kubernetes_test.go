package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeVariable makes the test program a kubectl, whose answers are in the folder that it names.
const fakeVariable = "SUBMIT_TEST_KUBECTL"

func TestMain(m *testing.M) {
	if folder := os.Getenv(fakeVariable); folder != "" {
		os.Exit(fakeKubectl(folder, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeKubectl prints the next answer for a call. The last one is repeated.
func fakeKubectl(folder string, arguments []string) int {
	kind := arguments[0]
	if kind == "get" {
		kind += " " + arguments[1]
	}
	if kind == "create" || kind == "delete" {
		text, _ := io.ReadAll(os.Stdin)
		_ = os.WriteFile(filepath.Join(folder, kind), text, 0o666)
	}
	calls, err := os.OpenFile(filepath.Join(folder, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err == nil {
		fmt.Fprintln(calls, strings.Join(arguments, " "))
	}
	text, err := os.ReadFile(filepath.Join(folder, "answers"))
	var answers map[string][]string
	if err != nil || json.Unmarshal(text, &answers) != nil {
		return 3
	}
	queue := answers[kind]
	if len(queue) == 0 {
		return 0
	}
	answer := queue[0]
	if len(queue) > 1 {
		answers[kind] = queue[1:]
		text, _ := json.Marshal(answers)
		_ = os.WriteFile(filepath.Join(folder, "answers"), text, 0o666)
	}
	if text, isError := strings.CutPrefix(answer, "error "); isError {
		fmt.Fprintln(os.Stderr, text)
		return 1
	}
	fmt.Print(answer)
	return 0
}

// podsOf is the answer for pods, each of them written as name phase.
func podsOf(pods ...string) string {
	var items []string
	for i, p := range pods {
		name, phase, _ := strings.Cut(p, " ")
		items = append(items, fmt.Sprintf(`{"metadata": {"name": %q, "uid": %[1]q, "creationTimestamp": "2026-01-01T00:00:0%dZ"}, "status": {"phase": %q}}`, name, i, phase))
	}
	return `{"items": [` + strings.Join(items, ", ") + `]}`
}

func conditionOf(kind, message string) string {
	return fmt.Sprintf(`{"status": {"conditions": [{"type": "Suspended", "status": "False"}, {"type": %q, "status": "True", "reason": "R", "message": %q}]}}`, kind, message)
}

func TestFollow(t *testing.T) {
	var good, bad, stopped bytes.Buffer
	if err := errors.Join(WriteResult(&good, []byte("{}"), nil, false), WriteResult(&bad, []byte("{}"), errors.New("cell 1: boom"), false),
		WriteResult(&stopped, []byte("{}"), errors.New("interrupted"), true)); err != nil {
		t.Fatal(err)
	}
	active := `{"status": {}}`
	for _, c := range []struct {
		name            string
		answers         map[string][]string
		log, messages   string
		error           string
		output, cellErr bool // the notebook came back; the error is a CellError
	}{
		{
			name: "success", log: "hi\n\n", output: true,
			answers: map[string][]string{"get jobset": {active, active, conditionOf("Completed", "")}, "get pods": {podsOf("p Running")}, "logs": {"hi\n" + good.String()}},
		},
		{
			name: "a pod that is pending", log: "\n", output: true, messages: "pod p waits: ImagePullBackOff: no such image",
			answers: map[string][]string{
				"get jobset": {active, active, active, active, conditionOf("Completed", "")}, "logs": {good.String()},
				"get pods": {podsOf(), `{"items": [{"metadata": {"name": "p", "uid": "p"}, "status": {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}}]}`, podsOf("p Succeeded")},
			},
		},
		{
			name: "a cell fails, and the job would try again", log: "\n", output: true, error: "cell 1: boom", cellErr: true,
			answers: map[string][]string{"get jobset": {active}, "get pods": {podsOf("p Failed")}, "logs": {bad.String()}},
		},
		{
			name: "the connection is lost", log: "one\ntwo\n\n", output: true,
			answers: map[string][]string{"get jobset": {active, active, conditionOf("Complete", "")}, "get pods": {podsOf("p Running")}, "logs": {"one\n", "one\ntwo\n" + good.String()}},
		},
		{
			name: "a pod is replaced", log: "one\none\n\n", output: true,
			answers: map[string][]string{"get jobset": {active, active, conditionOf("Complete", "")}, "get pods": {podsOf("p Failed"), podsOf("p Failed", "q Running")}, "logs": {"one\n", "one\n" + good.String()}},
		},
		{
			name: "a pod is stopped and replaced", log: "one\n\none\n\n", output: true,
			answers: map[string][]string{"get jobset": {active, active, conditionOf("Complete", "")}, "get pods": {podsOf("p Running"), podsOf("p Failed"), podsOf("p Failed", "q Running")}, "logs": {"one\n" + stopped.String(), "one\n" + good.String()}},
		},
		{
			name: "a pod is stopped at the end", log: "one\n\n", output: true, error: "interrupted", cellErr: true,
			answers: map[string][]string{"get jobset": {active, conditionOf("Failed", "preempted")}, "get pods": {podsOf("p Running")}, "logs": {"one\n" + stopped.String()}},
		},
		{
			name: "the job fails", log: "one\n", error: "R: too many failures",
			answers: map[string][]string{"get jobset": {active, conditionOf("Failed", "too many failures")}, "get pods": {podsOf("p Failed")}, "logs": {"one\n", "[p] one"}},
		},
		{
			name: "another rank fails at the end", log: "\n", output: true, error: "R: rank 3",
			answers: map[string][]string{"get jobset": {active, active, conditionOf("Failed", "rank 3")}, "get pods": {podsOf("p Succeeded")}, "logs": {good.String(), "[q] panic"}},
		},
		{
			name: "no log", error: "kubectl logs p: exit status 1",
			answers: map[string][]string{"get jobset": {conditionOf("Completed", "")}, "get pods": {podsOf("p Succeeded")}, "logs": {"error forbidden"}}, messages: "forbidden",
		},
		{
			name: "the cluster does not answer for a while", log: "\n", output: true,
			answers: map[string][]string{"get jobset": {"error refused", active, active, active, conditionOf("Complete", "")}, "get pods": {podsOf("p Running"), "error refused", podsOf("p Succeeded")}, "logs": {"error refused", "error refused", good.String()}}, messages: "refused",
		},
		{name: "the job is deleted", error: " get: exit status 1: (NotFound)", answers: map[string][]string{"get jobset": {"error (NotFound)", conditionOf("Complete", "")}}},
		{name: "no pods", error: "forbidden", answers: map[string][]string{"get jobset": {active}, "get pods": {"error forbidden"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			text, err := json.Marshal(c.answers)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "answers"), text, 0o666); err != nil {
				t.Fatal(err)
			}
			t.Setenv(fakeVariable, folder)
			var log, messages bytes.Buffer
			j := example(func(j *Job) { j.Output = filepath.Join(folder, "out.ipynb") })
			k := &cluster{kubernetes: Engines["jobset"].(kubernetes), job: j, streams: Streams{&log, &messages}, kubectl: os.Args[0], poll: time.Millisecond}
			k.kubectl, err = os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			err = k.follow(t.Context())
			if c.error == "" && err != nil || c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error)) {
				t.Errorf("got %v, want %q", err, c.error)
			}
			var cell *CellError
			if errors.As(err, &cell) != c.cellErr {
				t.Errorf("a CellError: %v, want %v", !c.cellErr, c.cellErr)
			}
			if _, err := os.Stat(j.Output); (err == nil) != c.output {
				t.Errorf("the executed notebook: %v, want %v", err, c.output)
			}
			if k.saved != c.output {
				t.Errorf("saved %v, want %v", k.saved, c.output)
			}
			if log.String() != c.log || !strings.Contains(messages.String(), c.messages) {
				t.Errorf("log %q, messages %q\nwant %q, %q", log.String(), messages.String(), c.log, c.messages)
			}
		})
	}
}

// TestFollowCanceled ends while nothing happens.
func TestFollowCanceled(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "answers"), []byte(`{"get jobset": ["{}"], "get pods": ["{}"]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeVariable, folder)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	k := &cluster{kubernetes: Engines["jobset"].(kubernetes), job: example(nil), streams: Streams{io.Discard, io.Discard}, kubectl: self, poll: time.Hour}
	if err := k.follow(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
