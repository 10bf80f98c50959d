package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// tritonTypes are the types of Triton's model configuration that its onnxruntime backend accepts.
var tritonTypes = map[elementType]string{
	elementFloat: "TYPE_FP32", elementDouble: "TYPE_FP64", elementFloat16: "TYPE_FP16",
	elementInt32: "TYPE_INT32", elementInt64: "TYPE_INT64", elementUint8: "TYPE_UINT8", elementBool: "TYPE_BOOL",
	elementString: "TYPE_STRING",
}

// defaultMaxBatch is Triton's own default for models that it configures itself (default-max-batch-size).
const defaultMaxBatch = 4

// tritonConfig returns a ModelConfig of Triton (model_config.proto) in the text format of protocol buffers.
func (m *Model) tritonConfig(name string, s *serving) (string, error) {
	notBatched := m.notBatched()
	switch {
	case s.maxBatch == unset && notBatched == "":
		s.maxBatch = defaultMaxBatch
	case s.maxBatch == unset:
		s.maxBatch = 0
	case s.maxBatch > 0 && notBatched != "":
		return "", notServable("MaxBatchSize(%d): %s; use MaxBatchSize(0)", s.maxBatch, notBatched)
	}
	if err := s.checkBatching(notBatched); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\nbackend: \"onnxruntime\"\nmax_batch_size: %d\n", name, s.maxBatch)
	for _, side := range []struct {
		name  string
		ports []port
	}{{"input", m.inputs}, {"output", m.outputs}} {
		entries := make([]string, len(side.ports))
		for i, p := range side.ports {
			var err error
			if entries[i], err = p.triton(side.name, s.maxBatch > 0); err != nil {
				return "", err
			}
		}
		writeList(&b, side.name, entries)
	}
	s.write(&b)
	return b.String(), nil
}

// notBatched says why Triton cannot put several requests into one batch; "" means that it can.
func (m *Model) notBatched() string {
	batch := ""
	if len(m.inputs) > 0 && len(m.inputs[0].shape) > 0 {
		batch = m.inputs[0].shape[0].name
	}
	for _, p := range slices.Concat(m.inputs, m.outputs) {
		if batch == "" || len(p.shape) == 0 || p.shape[0].name != batch {
			return fmt.Sprintf("the first axis of %q, %s, is not the batch", p.name, shapeText(p.shape))
		}
		for i, d := range p.shape[1:] {
			if slices.Contains(d.of, batch) {
				return fmt.Sprintf("axis %d of %q, %s, depends on the size of the batch", i+1, p.name, shapeText(p.shape))
			}
		}
	}
	return ""
}

// triton returns the configuration of an input or output. Triton takes the batch as known.
func (p port) triton(side string, batched bool) (string, error) {
	element, ok := tritonTypes[p.element]
	if !ok {
		return "", notServable("%s %q has the type %s; Cast it to another one in the model", side, p.name, p.element)
	}
	shape := p.shape
	if batched {
		shape = shape[1:]
	}
	reshape := ""
	var sizes []int
	for i, d := range shape {
		switch {
		case !d.known:
			sizes = append(sizes, -1)
		case d.size == 0:
			return "", notServable("axis %d of %s %q, %s, has size 0", i+len(p.shape)-len(shape), side, p.name, shapeText(p.shape))
		default:
			sizes = append(sizes, d.size)
		}
	}
	if len(shape) == 0 {
		if !batched {
			return "", notServable("%s %q has no axes; Reshape it to (1)", side, p.name)
		}
		// Triton's own shapes have at least one axis.
		sizes, reshape = []int{1}, "    reshape { shape: [ ] }\n"
	}
	return fmt.Sprintf("    name: %q\n    data_type: %s\n    dims: %s\n%s", p.name, element, tritonInts(sizes), reshape), nil
}

// write appends the settings that the user has made.
func (s *serving) write(b *strings.Builder) {
	if d := s.batching; d != nil {
		b.WriteString("dynamic_batching {\n")
		if len(d.preferred) > 0 {
			fmt.Fprintf(b, "  preferred_batch_size: %s\n", tritonInts(d.preferred))
		}
		fmt.Fprintf(b, "  max_queue_delay_microseconds: %d\n}\n", d.delay.Microseconds())
	}
	entries := make([]string, len(s.groups))
	for i, g := range s.groups {
		entries[i] = fmt.Sprintf("    count: %d\n    kind: %s\n", g.count, g.kind)
		if len(g.gpus) > 0 {
			entries[i] += "    gpus: " + tritonInts(g.gpus) + "\n"
		}
	}
	writeList(b, "instance_group", entries)
	if s.policy != "" {
		fmt.Fprintf(b, "version_policy { %s }\n", s.policy)
	}
}

// writeList appends a list of messages, or nothing for an empty one.
func writeList(b *strings.Builder, field string, entries []string) {
	if len(entries) == 0 {
		return
	}
	for i, entry := range entries {
		entries[i] = "  {\n" + entry + "  }"
	}
	fmt.Fprintf(b, "%s [\n%s\n]\n", field, strings.Join(entries, ",\n"))
}

// tritonInts formats a list of integers.
func tritonInts[N int | int64](all []N) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = fmt.Sprint(n)
	}
	return "[ " + strings.Join(texts, ", ") + " ]"
}

// notServable returns an error about what Triton cannot serve.
func notServable(format string, arguments ...any) error {
	return &Error{Err: fmt.Errorf("%w: "+format, append([]any{ErrNotServable}, arguments...)...)}
}
