package prof

import (
	"strings"
	"testing"
	"time"
)

// testReport returns a report of one step of 100 ms in which ops of the given time run.
func testReport(op time.Duration, host ...HostEvent) *Report {
	r := &Report{Device: "cpu", Steps: []Interval{{0, 100 * time.Millisecond}}, ceilings: &Ceilings{FLOPs: 100e9, Bytes: 10e9}}
	r.Ops = []Op{{Name: "Linear", Layer: "1 Dense(64)", Phase: Forward, Begin: 100*time.Millisecond - op, End: 100 * time.Millisecond, FLOPs: op.Seconds() * 50e9, Bytes: 1}}
	r.Host = host
	r.Counts.Launches, r.Counts.Recorded = 1, 10
	return r
}

func TestHints(t *testing.T) {
	ms := func(from, to int) (a, b time.Duration) {
		return time.Duration(from) * time.Millisecond, time.Duration(to) * time.Millisecond
	}
	event := func(kind HostKind, from, to int) HostEvent {
		a, b := ms(from, to)
		return HostEvent{Kind: kind, Begin: a, End: b}
	}
	for _, row := range []struct {
		name   string
		report *Report
		want   []string
	}{
		{"nothing", func() *Report { r := testReport(1); r.Ops = nil; return r }(), []string{"No op was run"}},
		{"all is well", testReport(95 * time.Millisecond), []string{"Nothing stands out: 95 %"}},
		{"waits", testReport(60*time.Millisecond, event(Waiting, 0, 40)), []string{"40 % of a step (40 ms of 100 ms) waits for data", "Workers"}},
		{"ranks", func() *Report {
			wait := event(CommunicationWait, 0, 30)
			wait.Bytes = 2048
			return testReport(70*time.Millisecond, wait, event(Communicating, 20, 60))
		}(), []string{"30 % of a step (30 ms of 100 ms) waits for other ranks, with 50 % of the exchange overlapping", "each exchange of 2 KiB", "Accumulate"}},
		{"plans", testReport(90*time.Millisecond, event(Planning, 0, 10)), []string{"10 % of a step", "compiles plans", "DropLast"}},
		{"the profile itself", testReport(90*time.Millisecond, event(Profiling, 0, 10)), []string{"Nothing stands out: 90 %"}},
		{"host", testReport(50 * time.Millisecond), []string{"50 % of a step", "recording of 10 operations", "50 ms on average", "larger batch"}},
		{"copies", testReport(80*time.Millisecond, event(Writing, 0, 20)), []string{"20 % of a step", "copies"}},
		{"reads", func() *Report { r := testReport(95 * time.Millisecond); r.Counts.Syncs = 3; return r }(), []string{"waits 3 times per step", "Item"}},
		{"slow op", func() *Report { r := testReport(95 * time.Millisecond); r.Ops[0].FLOPs /= 10; return r }(), []string{`"1 Dense(64): Linear" takes 95 % of a step at 5 % of the peak of cpu's arithmetic`}},
		{"slow memory", func() *Report {
			r := testReport(95 * time.Millisecond)
			r.Ops[0].FLOPs, r.Ops[0].Bytes = 1, 0.095*2e9
			return r
		}(), []string{"at 20 % of the peak of cpu's memory"}},
		{"random numbers", func() *Report {
			r := testReport(95 * time.Millisecond)
			r.Ops[0] = Op{Name: "Bernoulli", Layer: "1 Dropout(0.1)", Phase: Forward, End: 95 * time.Millisecond, FLOPs: 1e4, Bytes: 4e4, random: true}
			return r
		}(), []string{`"1 Dropout(0.1): Bernoulli" takes 95 % of a step to draw a random number`}},
		{"fast op", func() *Report { r := testReport(95 * time.Millisecond); r.Ops[0].FLOPs *= 1.8; return r }(), []string{"reaches 90 % of the peak of cpu's arithmetic"}},
		{"update", func() *Report { r := testReport(95 * time.Millisecond); r.Ops[0].Phase = Update; return r }(), []string{"updates parameters", "larger batch"}},
		{"memory", func() *Report {
			r := testReport(95 * time.Millisecond)
			r.memory = []MemoryPoint{{Bytes: map[MemoryKind]int{Activations: 800 << 20, Parameters: 200 << 20}}}
			return r
		}(), []string{"800 MiB of 0.977 GiB", "nn.Recompute"}},
	} {
		hints := row.report.Hints()
		if len(hints) != 1 {
			t.Errorf("%s: %d hints: %q", row.name, len(hints), hints)
		}
		for _, want := range row.want {
			if !strings.Contains(strings.Join(hints, "\n"), want) {
				t.Errorf("%s: %q is not in %q", row.name, want, hints)
			}
		}
	}
}

// The table has columns for a device other than the CPU.
func TestTableOfADevice(t *testing.T) {
	r := testReport(60 * time.Millisecond)
	r.Device = "cuda:0"
	table := r.Table(SelfCUDA, 0)
	text := table.String()
	for _, want := range []string{"Self CUDA %", "Self CUDA", "CUDA total", "CUDA time avg", "60.0 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if row := table.Rows[0]; row.Name != "1 Dense(64): Linear" || row.Self != 0 || row.SelfCUDA != 60*time.Millisecond {
		t.Errorf("%+v", row)
	}
}

func TestReasons(t *testing.T) {
	r := testReport(40*time.Millisecond, HostEvent{Kind: Waiting, Begin: 10 * time.Millisecond, End: 30 * time.Millisecond}, HostEvent{Kind: UserSpan, Name: "all", Begin: 0, End: 100 * time.Millisecond})
	want := []Gap{
		{0, 0, 10 * time.Millisecond, "host"}, {0, 10 * time.Millisecond, 30 * time.Millisecond, "waiting for data"}, {0, 30 * time.Millisecond, 60 * time.Millisecond, "host"},
	}
	got := r.Gaps()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
