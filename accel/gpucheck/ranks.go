package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
)

// trained is a training on one or several ranks.
type trained struct {
	Words     string    `json:"words"`
	Samples   int       `json:"samples"` // per epoch
	Seconds   float64   `json:"seconds"` // of the last epoch
	FirstLoss float64   `json:"first_loss"`
	LastLoss  float64   `json:"last_loss"`
	Losses    []float64 `json:"losses"` // per step
}

// measureRanks runs data-parallel training on one GPU and, if there are several, on all.
func measureRanks(ctx context.Context, o options, r *report, out io.Writer) error {
	counts := []int{1}
	if gpus := accel.Devices().GPUs; len(gpus) > 1 && o.device == "cuda" {
		counts = append(counts, len(gpus))
	}
	if o.quick {
		counts = []int{1, 2} // both can share the simulated GPU
	}
	if len(counts) == 1 {
		fmt.Fprintf(out, "one GPU: nothing to compare with\n")
	}
	var failed error
	var one trained
	for _, n := range counts {
		m, err := together(ctx, o, n)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%d ranks: %w", n, err))
			continue
		}
		fmt.Fprintf(out, "%d ranks: %.0f examples/s\n", n, float64(m.Samples)/m.Seconds)
		r.Ranks = append(r.Ranks, m)
		if n == 1 {
			one = m
			continue
		}
		if one.Losses != nil {
			failed = errors.Join(failed, compareLosses(one, m))
		}
	}
	return failed
}

// together starts ranks like torchrun, and returns what rank 0 trained.
func together(ctx context.Context, o options, n int) (m trained, err error) {
	port, err := freePort()
	if err != nil {
		return m, err
	}
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(folder)
	result := folder + "/rank.json"
	errs := make([]error, n)
	var all sync.WaitGroup
	for rank := range n {
		own := result
		if rank > 0 {
			own = os.DevNull
		}
		command, said, err := o.process(ctx, "rank", own)
		if err != nil {
			return m, err
		}
		number := strconv.Itoa(rank)
		command.Env = append(os.Environ(), "RANK="+number, "LOCAL_RANK="+number, "WORLD_SIZE="+strconv.Itoa(n), "LOCAL_WORLD_SIZE="+strconv.Itoa(n),
			"MASTER_ADDR=127.0.0.1", "MASTER_PORT="+strconv.Itoa(port))
		all.Go(func() {
			if err := command.Run(); err != nil {
				errs[rank] = fmt.Errorf("rank %d: %w: %s", rank, err, said.String())
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return m, err
	}
	own, err := readReport(result)
	if err != nil || len(own.Ranks) != 1 {
		return m, errors.Join(errors.New("rank 0 reported no training"), err, own.failure())
	}
	return own.Ranks[0], nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// oneRank runs one rank of measureRanks in this process.
func oneRank(ctx context.Context, o options, r *report, out io.Writer) (err error) {
	group, err := parallel.Join(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	device, batch, epochs, width := o.device, 512, 6, 512
	if device == "cuda" && group.Size() > 1 {
		device = fmt.Sprintf("cuda:%d", group.LocalRank())
	}
	train, _, err := data.Digits()
	if err != nil {
		return err
	}
	if o.quick {
		train, batch, epochs, width = train.First(64), 16, 1, 16
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(width), nn.ReLU(), nn.Dense(width), nn.ReLU(), nn.Dense(10))
	run, err := accel.Fit(ctx, model, train, accel.Epochs(epochs), accel.BatchSize(batch), accel.Quiet(), accel.On(device), accel.DataParallel(group))
	if err != nil {
		return err
	}
	last := run.Epochs[len(run.Epochs)-1]
	m := trained{
		Words: fmt.Sprintf("MLP of digits, batch %d, on %d", batch, group.Size()), Samples: train.Len(),
		FirstLoss: run.Steps[0].Loss, LastLoss: last.Loss, Seconds: last.Seconds,
	}
	for _, s := range run.Steps {
		m.Losses = append(m.Losses, s.Loss)
	}
	if !(m.LastLoss < m.FirstLoss) && !o.quick {
		return fmt.Errorf("%s does not learn: the loss changes from %g to %g", m.Words, m.FirstLoss, m.LastLoss)
	}
	r.Ranks = append(r.Ranks, m)
	return nil
}

// checkOthers compares the ops on the other GPUs of the machine, which may be of another model,
// each in its own process.
func checkOthers(ctx context.Context, o options, r *report, out io.Writer) error {
	if o.device != "cuda" {
		fmt.Fprintf(out, "\nother GPUs: skipped, because -device is %s\n", o.device)
		return nil
	}
	devices := accel.Devices()
	if devices.Missing != "" {
		return errors.New(devices.Missing)
	}
	gpus := devices.GPUs
	if len(gpus) < 2 {
		fmt.Fprintf(out, "\nother GPUs: this machine has only one\n")
		return nil
	}
	for _, g := range gpus[1:] {
		fmt.Fprintf(out, "\n%s, %s", g.Device, g.Name)
		further := o
		further.device, further.from = g.Device, 0
		own := &report{}
		result := own.apart(ctx, further, part{name: "ops"}, os.Getenv(cacheVariable), out)
		r.Part.worse(result.Status, result.Why)
		for i := range own.Ops {
			own.Ops[i].Device = g.Device
		}
		r.take(*own)
	}
	return nil
}

// closeLosses is the relative difference allowed between the losses of a training on several
// ranks and on one: gradients are summed in parts, and each step continues from the rounding
// errors of earlier ones.
const closeLosses = 1e-4

// compareLosses returns an error that names the first step at which the losses differ.
func compareLosses(one, many trained) error {
	if len(one.Losses) == 0 || len(one.Losses) != len(many.Losses) {
		return fmt.Errorf("%s: %d steps, %s: %d steps", one.Words, len(one.Losses), many.Words, len(many.Losses))
	}
	for i, want := range one.Losses {
		if got := many.Losses[i]; !(max(got-want, want-got) <= closeLosses*max(want, 1)) {
			return fmt.Errorf("%s: the loss of step %d is %g, but %g on one rank", many.Words, i, got, want)
		}
	}
	return nil
}
