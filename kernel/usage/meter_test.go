package usage

import (
	"context"
	"errors"
	"math"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/kernel/wire"
)

// work uses CPU time.
func work(t *testing.T, seconds float64) {
	self := family(t.Context())[0]
	begin, _ := measure(t.Context(), self)
	for now := begin; now < begin+seconds; now, _ = measure(t.Context(), self) {
	}
}

func TestMeasureIsAboutTheTimeSince(t *testing.T) {
	m := New(nil)
	m.Measure(t.Context())
	began := time.Now()
	work(t, 0.3)
	u := m.Measure(t.Context())
	if u.KernelCPU <= 0 || u.KernelCPU > 100*float64(runtime.NumCPU()) {
		t.Errorf("%v percent of a core while it worked for %v", u.KernelCPU, time.Since(began))
	}
	if runtime.GOOS == "linux" && (u.KernelMemory < 1<<20 || u.HostMemory.Total == 0 || u.KernelMemory > u.HostMemory.Total) {
		t.Errorf("%+v", u)
	}
	before := m.at
	again := m.Measure(t.Context())
	if spent := again.KernelCPU / 100 * m.at.Sub(before).Seconds(); spent > 0.25 { // that of work
		t.Errorf("%v seconds of CPU time", spent)
	}
}

func TestChildrenCount(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a shell")
	}
	m := New(nil)
	alone := m.Measure(t.Context()).KernelMemory
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo; read x")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	m.Measure(t.Context())
	if _, known := m.busy[int32(command.Process.Pid)]; !known {
		t.Errorf("the child is not measured; %d bytes before", alone)
	}
	stdin.Close()
	_ = command.Wait() // its exit status does not matter
}

// fakeGPU returns samples when the test sends them.
type fakeGPU struct{ answer chan gpu.Sample }

func (f fakeGPU) Name() string       { return "fake" }
func (f fakeGPU) Sample() gpu.Sample { return <-f.answer }
func (f fakeGPU) Close() error       { return nil }

func TestGPUsAreNotWaitedFor(t *testing.T) {
	device := fakeGPU{make(chan gpu.Sample)}
	m := New(func() ([]gpu.Device, error) { return []gpu.Device{device}, nil })
	for range 3 { // the driver hangs
		if u := m.Measure(t.Context()); u.GPUs != nil {
			t.Fatalf("%+v", u.GPUs)
		}
	}
	device.answer <- gpu.Sample{Busy: 40, MemUsed: 1 << 30, MemTotal: math.NaN()}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for {
		u := m.Measure(t.Context())
		if len(u.GPUs) == 1 {
			if want := (wire.GPUUsage{Index: 0, Name: "fake", Percent: 40, MemoryUsed: 1 << 30}); u.GPUs[0] != want {
				t.Errorf("%+v", u.GPUs[0])
			}
			break
		}
		if ctx.Err() != nil {
			t.Fatal("no GPU")
		}
		runtime.Gosched()
	}
	device.answer <- gpu.Sample{} // the last Measure has started another query
}

func TestWithoutGPUsDevicesAreOpenedOnce(t *testing.T) {
	asked := make(chan struct{}, 10)
	m := New(func() ([]gpu.Device, error) { asked <- struct{}{}; return nil, errors.New("no driver") })
	m.Measure(t.Context())
	<-asked
	for range 10 {
		if u := m.Measure(t.Context()); u.GPUs != nil {
			t.Errorf("%+v", u.GPUs)
		}
	}
}
