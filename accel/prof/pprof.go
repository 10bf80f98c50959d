package prof

import (
	"io"

	"github.com/google/pprof/profile"
)

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
