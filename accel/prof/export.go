package prof

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/quernlab/quern/internal/atomicfile"
)

// traceFile is the format of Kineto, the profiler behind PyTorch's, which ui.perfetto.dev and
// chrome://tracing read: the Trace Event Format with some additional fields.
type traceFile struct {
	SchemaVersion    int            `json:"schemaVersion"`
	DeviceProperties []any          `json:"deviceProperties"`
	DisplayTimeUnit  string         `json:"displayTimeUnit"`
	BaseTimeNanos    int64          `json:"baseTimeNanoseconds"`
	OtherData        map[string]any `json:"otherData"`
	TraceEvents      []traceEvent   `json:"traceEvents"`
}

// traceEvent is one event: X is a duration, M names a row, C is a counter, s and f are the ends
// of an arrow. Times are microseconds since the base time.
type traceEvent struct {
	Phase    string         `json:"ph"`
	Category string         `json:"cat,omitempty"`
	Name     string         `json:"name"`
	PID      int            `json:"pid"`
	TID      int            `json:"tid"`
	Time     json.Number    `json:"ts"`
	Duration json.Number    `json:"dur,omitempty"`
	ID       int            `json:"id,omitempty"` // of an arrow
	Binding  string         `json:"bp,omitempty"` // e: the arrow ends at the event around it
	Args     map[string]any `json:"args,omitempty"`
}

// The rows of the trace.
const (
	hostPID   = 1
	devicePID = 2

	stepTID   = 1 // host and device: steps
	workTID   = 2 // host: work of the program; device: ops
	spanTID   = 3 // host: spans of the user
	kernelTID = 4 // device: kernels
	gapTID    = 5 // device: gaps
	ranksTID  = 6 // host: exchange with other ranks
)

// micros formats a time like Kineto: microseconds with three decimal places.
func micros(d time.Duration) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", d.Nanoseconds()/1000, d.Nanoseconds()%1000))
}

// chrome returns the report as a trace.
func (r *Report) chrome() *traceFile {
	t := &traceFile{SchemaVersion: 1, DeviceProperties: []any{}, DisplayTimeUnit: "ms", BaseTimeNanos: r.Began.UnixNano(), OtherData: map[string]any{"device": r.Device, "steps": len(r.Steps)}}
	if r.Device != "cpu" {
		t.DeviceProperties = append(t.DeviceProperties, map[string]any{"id": 0, "name": r.Device})
	}
	called := func(pid, tid int, kind, name string) {
		t.TraceEvents = append(t.TraceEvents, traceEvent{Phase: "M", Name: kind, PID: pid, TID: tid, Time: "0", Args: map[string]any{"name": name}})
	}
	called(hostPID, 0, "process_name", "host")
	called(hostPID, stepTID, "thread_name", "steps")
	called(hostPID, workTID, "thread_name", "program")
	called(hostPID, spanTID, "thread_name", "spans")
	called(hostPID, ranksTID, "thread_name", "ranks")
	called(devicePID, 0, "process_name", r.Device)
	called(devicePID, workTID, "thread_name", "ops")
	add := func(e traceEvent, begin, end time.Duration) {
		e.Phase, e.Time, e.Duration = "X", micros(begin), micros(max(0, end-begin))
		t.TraceEvents = append(t.TraceEvents, e)
	}
	for k, s := range r.host {
		add(traceEvent{Category: "user_annotation", Name: fmt.Sprintf("ProfilerStep#%d", k), PID: hostPID, TID: stepTID}, s.Begin, s.End)
	}
	for _, h := range r.Host {
		e := traceEvent{Category: "cpu_op", Name: string(h.Kind), PID: hostPID, TID: workTID, Args: map[string]any{"what": h.Name, "bytes": h.Bytes}}
		switch h.Kind {
		case UserSpan:
			e.Category, e.Name, e.TID, e.Args = "user_annotation", h.Name, spanTID, nil
		case Communicating:
			e.Name, e.TID = h.Name, ranksTID
		case Launching, Synchronizing:
			e.Category = "cuda_driver"
		}
		add(e, h.Begin, h.End)
	}
	for _, o := range r.Ops {
		add(traceEvent{Category: "cpu_op", Name: o.title(), PID: devicePID, TID: workTID, Args: map[string]any{
			"op": o.Name, "layer": o.Layer, "phase": string(o.Phase), "FLOPs": o.FLOPs, "bytes": o.Bytes, "Input Dims": o.Shapes,
		}}, o.Begin, o.End)
	}
	if r.asynchronous {
		called(devicePID, stepTID, "thread_name", "steps")
		called(devicePID, kernelTID, "thread_name", "kernels")
		called(devicePID, gapTID, "thread_name", "gaps")
		for k, s := range r.Steps {
			add(traceEvent{Category: "gpu_user_annotation", Name: fmt.Sprintf("ProfilerStep#%d", k), PID: devicePID, TID: stepTID}, s.Begin, s.End)
		}
		for _, g := range r.Gaps() {
			add(traceEvent{Category: "gap", Name: g.Reason, PID: devicePID, TID: gapTID}, g.Begin, g.End)
		}
		t.addKernels(r)
	}
	for _, m := range r.memory {
		args := map[string]any{}
		for _, kind := range memoryKinds {
			args[string(kind)] = m.Bytes[kind]
		}
		t.TraceEvents = append(t.TraceEvents, traceEvent{Phase: "C", Name: "memory, bytes", PID: devicePID, Time: micros(m.At), Args: args})
	}
	return t
}

// addKernels adds the kernels, each with an arrow from its launch.
func (t *traceFile) addKernels(r *Report) {
	number := 0
	for _, o := range r.Ops {
		for _, k := range o.Kernels {
			number++
			t.TraceEvents = append(t.TraceEvents,
				traceEvent{Phase: "s", Category: "ac2g", Name: "ac2g", PID: hostPID, TID: workTID, Time: micros(o.launched), ID: number},
				traceEvent{Phase: "X", Category: "kernel", Name: k.Name, PID: devicePID, TID: kernelTID, Time: micros(k.Begin), Duration: micros(k.End - k.Begin), Args: map[string]any{
					"op": o.title(), "correlation": number, "blocks": k.Blocks, "threads": k.Threads,
					"registers per thread": k.Registers, "shared memory": k.SharedBytes, "est. achieved occupancy %": 100 * k.Occupancy,
				}},
				traceEvent{Phase: "f", Category: "ac2g", Name: "ac2g", PID: devicePID, TID: kernelTID, Time: micros(k.Begin), ID: number, Binding: "e"})
		}
	}
}

// WriteTrace writes a JSON trace for ui.perfetto.dev and chrome://tracing.
func (r *Report) WriteTrace(w io.Writer) error {
	if r == nil || len(r.Steps) == 0 {
		return errNoSteps
	}
	return json.NewEncoder(w).Encode(r.chrome())
}

// Save writes a trace to a file whose name ends in .json or .json.gz.
func (r *Report) Save(path string) error {
	if !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, ".json.gz") {
		return fmt.Errorf("prof: save %q: the name of a trace must end in .json or .json.gz", path)
	}
	return r.toFile(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return r.WriteTrace(w)
		}
		zip := gzip.NewWriter(w)
		if err := r.WriteTrace(zip); err != nil {
			return err
		}
		return zip.Close()
	})
}

// toFile writes a file atomically: an existing file is replaced completely or not at all.
func (r *Report) toFile(path string, write func(io.Writer) error) error {
	if r == nil || len(r.Steps) == 0 {
		return errNoSteps
	}
	if err := atomicfile.Replace(path, write); err != nil {
		return fmt.Errorf("prof: save %s: %w", path, err)
	}
	return nil
}

// WritePprof writes a profile for go tool pprof: a sample for each op and each host event,
// below its layer and its phase, with the labels op, layer, phase and shapes.
func (r *Report) WritePprof(w io.Writer) error {
	if r == nil || len(r.Steps) == 0 {
		return errNoSteps
	}
	return r.pprof().Write(w)
}

// SavePprof writes a profile for go tool pprof to a file:
//
//	go tool pprof -top step.pprof
//	go tool pprof -tagroot layer -http :8080 step.pprof
func (r *Report) SavePprof(path string) error { return r.toFile(path, r.WritePprof) }

// pprof returns the report as a profile.
func (r *Report) pprof() *profile.Profile {
	b := pprofBuilder{p: &profile.Profile{
		SampleType: []*profile.ValueType{
			{Type: "calls", Unit: "count"}, {Type: "flops", Unit: "count"}, {Type: "memory", Unit: "bytes"}, {Type: "time", Unit: "nanoseconds"},
		},
		DefaultSampleType: "time",
		PeriodType:        &profile.ValueType{Type: "time", Unit: "nanoseconds"},
		Period:            1,
		TimeNanos:         r.Began.UnixNano(),
		DurationNanos:     r.total().Nanoseconds(),
	}, frames: map[string]*profile.Location{}, samples: map[string]*profile.Sample{}}
	for _, o := range r.Ops {
		stack := []string{o.Name}
		labels := map[string]string{"op": o.Name, "phase": string(o.Phase), "shapes": o.Shapes}
		if o.Layer != "" {
			stack = append(stack, o.Layer)
			labels["layer"] = o.Layer
		}
		b.add(append(stack, string(o.Phase)), labels, []int64{1, int64(o.FLOPs), int64(o.ResultBytes), (o.End - o.Begin).Nanoseconds()})
	}
	for _, h := range r.Host {
		if h.Kind != UserSpan {
			b.add([]string{string(h.Kind), "host"}, map[string]string{"op": string(h.Kind)}, []int64{1, 0, int64(h.Bytes), (h.End - h.Begin).Nanoseconds()})
		}
	}
	if rest := r.program(); rest > 0 {
		b.add([]string{"program", "host"}, map[string]string{"op": "program"}, []int64{int64(len(r.Steps)), 0, 0, rest.Nanoseconds()})
	}
	return b.p
}

// pprofBuilder sums samples with equal stacks and labels.
type pprofBuilder struct {
	p       *profile.Profile
	frames  map[string]*profile.Location
	samples map[string]*profile.Sample
}

// add adds values to the sample of a stack; the innermost frame comes first.
func (b *pprofBuilder) add(stack []string, labels map[string]string, values []int64) {
	key := labels["shapes"]
	for _, name := range stack {
		key += "\x00" + name
	}
	s := b.samples[key]
	if s == nil {
		s = &profile.Sample{Value: make([]int64, len(values)), Label: map[string][]string{}}
		for _, name := range stack {
			s.Location = append(s.Location, b.frame(name))
		}
		for label, value := range labels {
			s.Label[label] = []string{value}
		}
		b.samples[key] = s
		b.p.Sample = append(b.p.Sample, s)
	}
	for i, v := range values {
		s.Value[i] += v
	}
}

func (b *pprofBuilder) frame(name string) *profile.Location {
	if l := b.frames[name]; l != nil {
		return l
	}
	f := &profile.Function{ID: uint64(len(b.frames) + 1), Name: name, SystemName: name}
	l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
	b.p.Function, b.p.Location = append(b.p.Function, f), append(b.p.Location, l)
	b.frames[name] = l
	return l
}
