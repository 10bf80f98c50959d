package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	_ "github.com/quernlab/quern/accel/simulated" // for -device simulated
)

// part is one part of a command.
type part struct {
	name        string
	description string
	run         func(ctx context.Context, o options, r *report, out io.Writer) error
	// reserve is the time that is kept for the part: earlier parts end before it. A part may use
	// what is left of the time of earlier ones.
	reserve time.Duration
	// opens is true if the part uses the device through package tensor in its process.
	opens bool
}

const machinePart = "machine"

// commands returns tell and compare with their parts, the most important first. The times of the
// parts add up to the limits less gracePeriod.
func commands() []command {
	return []command{
		{"tell", 205 * time.Second, []part{
			{machinePart, "libraries, driver, owners of files, clocks", describeMachine, 12 * time.Second, false},
			{"load", "all kernels: time, registers, occupancy", loadKernels, 25 * time.Second, false},
			{"smoke", "small models against the losses of the CPU", smoke, 45 * time.Second, true},
			{"profile", "one step of each model, kernel by kernel", profileModels, 75 * time.Second, false},
			{"candidates", "the algorithms of libraries and their times", readCandidates, time.Second, false},
			{"ops", "ops against the CPU, results and gradients", checkOps, 25 * time.Second, true},
			{"ranks", "data-parallel training", measureRanks, 8 * time.Second, false},
			{"gpus", "the ops on further GPUs", checkOthers, 2 * time.Second, false},
			{"kernels", "the tests of the kernels, which pass in the simulator", checkKernels, 7 * time.Second, false},
		}},
		{"compare", 325 * time.Second, []part{
			{machinePart, "libraries, driver, owners of files, clocks", describeMachine, 10 * time.Second, false},
			{"models", "training beside PyTorch", compareModels, 130 * time.Second, false},
			{"cubins", "machine code of ptxas beside PTX that the driver compiles: load times", loadCubins, 14 * time.Second, false},
			{"variants", "parts of the back end off and on, interleaved", compareVariants, 105 * time.Second, false},
			{"ncu", "Nsight Compute on the longest kernels", runNCU, 35 * time.Second, false},
			{"sanitizer", "small models under compute-sanitizer", sanitize, 26 * time.Second, false},
		}},
	}
}

// innerParts are the parts that other parts start.
var innerParts = []part{{name: "rank", run: oneRank}}

// The statuses of a part, in the order of how serious they are.
const (
	complete   = "complete"
	missing    = "missing"    // what it needs is missing
	incomplete = "incomplete" // it did not fit into the time
	failed     = "failed"
	wrong      = "wrong" // the device computed a wrong result
)

var statuses = []string{complete, missing, incomplete, failed, wrong}

// partResult is how a part ended.
type partResult struct {
	Name    string  `json:"name"`
	Status  string  `json:"status"`
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// worse sets a status if it is more serious than that before.
func (p *partResult) worse(status, why string) {
	if slices.Index(statuses, status) > slices.Index(statuses, p.Status) {
		p.Status = status
	}
	if why != "" && !strings.Contains(p.Why, why) {
		p.Why = strings.TrimPrefix(p.Why+"; "+why, "; ")
	}
}

// missingError is the error of a part, or of a piece, that needs something that is not there.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

// statusOf returns the status for an error of a part.
func statusOf(ctx context.Context, err error) string {
	var absent *missingError
	switch {
	case err == nil:
		return complete
	case errors.As(err, &absent):
		return missing
	case ctx.Err() != nil:
		return incomplete
	}
	return failed
}

// process runs the part in this process, writes its report and returns the exit status.
func (p part) process(ctx context.Context, o options, out, errs io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	r := &report{progress: progress{Part: &partResult{Name: p.name, Status: complete}}}
	if err := p.here(ctx, o, r, out); err != nil {
		r.Part.worse(statusOf(ctx, err), err.Error())
	}
	if err := r.write(o.result); err != nil {
		fmt.Fprintf(errs, "gpu-check: %v\n", err)
		return exitIncomplete
	}
	return 0
}

// here runs a part in this process. It returns panics of package tensor as errors.
func (p part) here(ctx context.Context, o options, r *report, out io.Writer) (err error) {
	defer nn.Catch(&err)
	if p.opens {
		if err := accel.SetDevice(o.device); err != nil {
			return err
		}
	}
	return p.run(ctx, o, r, out)
}

// gracePeriod is the time that a part has to end after an interrupt.
const gracePeriod = 5 * time.Second

// apart runs a part in its own process, or in several if they end early, and merges their
// reports. Files in the folder cache remain for later parts.
func (r *report) apart(ctx context.Context, o options, p part, cache string, out io.Writer) (result partResult) {
	result = partResult{Name: p.name, Status: complete}
	for {
		own, err := once(ctx, o, p, cache, out)
		if err != nil {
			status := failed
			if ctx.Err() != nil {
				status = incomplete
			}
			result.worse(status, err.Error())
			fmt.Fprintf(out, "note: %v\n", err)
		}
		if own == nil {
			return result
		}
		r.take(*own)
		if own.Part != nil {
			result.worse(own.Part.Status, own.Part.Why)
		}
		if err != nil && own.Running != "" && ctx.Err() == nil { // the piece ended its process
			switch p.name {
			case "ops":
				r.add(checked{Op: own.Running, Error: err.Error()}, out)
			case "smoke":
				r.addSmoked(smoked{Model: own.Running, Error: err.Error()}, out)
			}
		}
		if own.Next <= o.from || ctx.Err() != nil {
			return result
		}
		o.from = own.Next // after the piece that ended the process
	}
}

// once runs a part in one process and returns its report, or nil if there is none. It returns
// an error if the process did not complete.
func once(ctx context.Context, o options, p part, cache string, out io.Writer) (own *report, err error) {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	result := filepath.Join(folder, "part.json")
	command, said, err := o.process(ctx, p.name, result)
	if err != nil {
		return nil, err
	}
	ownGroup(command)
	command.Env = append(os.Environ(), cacheVariable+"="+cache)
	command.Stdout = out
	failed := command.Run()
	if ctx.Err() != nil {
		failed = fmt.Errorf("its time was up (%w)", ctx.Err())
	}
	if failed == nil {
		failed = errors.New("it wrote no report")
	}
	if said.String() != "" {
		failed = fmt.Errorf("%w: %s", failed, said)
	}
	read, err := readReport(result)
	if err != nil { // it ended before it wrote a report
		return nil, failed
	}
	if read.Running != "" {
		return &read, fmt.Errorf("%s: %w", read.Running, failed)
	}
	return &read, nil
}

// cacheVariable is the variable of the folder in which the device keeps the times of algorithms.
const cacheVariable = "XDG_CACHE_HOME"

// process returns the command that runs this program for one part and writes its report to a
// file, and the end of its standard error.
func (o options) process(ctx context.Context, name, result string) (*exec.Cmd, *tail, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := []string{"part", name, "-device", o.device, "-result", result, "-python", o.python, "-out", o.out, "-programs", o.programs, "-from", strconv.Itoa(o.from), "-models", o.models}
	if o.pieceLimit > 0 {
		args = append(args, "-patience", o.pieceLimit.String())
	}
	if o.quick {
		args = append(args, "-quick")
	}
	if o.chown {
		args = append(args, "-chown")
	}
	left := time.Hour
	if deadline, ok := ctx.Deadline(); ok { // leave time for the report
		left = max(time.Second, time.Until(deadline)-time.Second)
	}
	command, said := external(ctx, self, append(args, "-limit", left.String())...)
	return command, said, nil
}

// external returns a command that is interrupted when ctx ends and killed gracePeriod later, and the
// end of its standard error.
func external(ctx context.Context, program string, args ...string) (*exec.Cmd, *tail) {
	command := exec.CommandContext(ctx, program, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = gracePeriod
	said := &tail{}
	command.Stderr = said
	return command, said
}

func readReport(path string) (own report, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return own, err
	}
	return own, json.Unmarshal(text, &own)
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	const limit = 600
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-limit):]
	return len(b), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.text)) }

// hung is the exit status of a process whose piece did not terminate.
const hung = 4

// pieceLimitOf returns the time limit of one piece. It is long for the simulated GPU, whose speed
// depends on the load of the machine.
func (o options) pieceLimitOf() time.Duration {
	pieceLimit := o.pieceLimit
	if pieceLimit == 0 {
		pieceLimit = defaultPatience
	}
	if o.simulated() {
		pieceLimit *= 10
	}
	return pieceLimit
}

const defaultPatience = 90 * time.Second

// each runs the pieces of a part one after the other. In a process of its own it writes the
// report before each piece, so that the parent process knows how far it came. A piece that
// exceeds its time limit, such as a kernel that never returns, ends the process, and so does
// one that makes the GPU unusable; another process then continues with the next piece.
func (r *report) each(ctx context.Context, o options, pieces []string, do func(i int) error) error {
	var failed error
	pieceLimit := o.pieceLimitOf()
	for i := o.from; i < len(pieces); i++ {
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
		if o.result == "" {
			failed = errors.Join(failed, do(i))
			continue
		}
		r.Next, r.Running = i+1, pieces[i]
		if err := r.write(o.result); err != nil {
			return err
		}
		watch := time.AfterFunc(pieceLimit, func() {
			fmt.Fprintf(os.Stderr, "no result in %v: a kernel may never return\n", pieceLimit)
			os.Exit(hung)
		})
		failed = errors.Join(failed, do(i))
		watch.Stop()
		r.Running = ""
		if err := accel.DeviceLost(); err != nil && i+1 < len(pieces) {
			return failed // Next is the piece to continue with
		}
	}
	r.Next = 0
	return failed
}
