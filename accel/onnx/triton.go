package onnx

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/internal/atomicfile"
)

// SaveTriton adds the model to a model repository of Triton Inference Server, whose backend onnxruntime serves
// it, and returns its version:
//
//	repository/name/config.pbtxt
//	repository/name/1/model.onnx
//
// If the repository has versions of the model, this one gets the next number and the others stay as they are, but
// config.pbtxt is replaced and holds for all of them: a model with other inputs or outputs needs a name of its own. A
// version and the configuration are each written completely or not at all, the version first. Missing folders
// are created.
//
// The configuration has the names, types and sizes of the inputs and outputs, with -1 for variable sizes. If the
// batch is the first axis of all of them and no other size depends on it, Triton may compute the examples of several
// requests together, see [MaxBatchSize]; the model must treat each example by itself, as for accel.Predict.
//
// An [*Error] that wraps [ErrNotServable] says what Triton cannot serve: bfloat16, an axis of size 0, and, without
// a batch, an input or output without axes.
func (m *Model) SaveTriton(repository, name string, given ...Option) (version int64, err error) {
	o := options{serving: serving{maxBatch: unset}}
	takes := []string{"MaxBatchSize", "DynamicBatching", "GPUInstances", "CPUInstances", "ServeLatest", "ServeAll", "ServeVersions"}
	if err := option.Apply("onnx.SaveTriton", &o, given, takes...); err != nil {
		return 0, err
	}
	s := &o.serving
	if err := checkTritonName(name); err != nil {
		return 0, err
	}
	config, err := m.tritonConfig(name, s)
	if err != nil {
		return 0, err
	}
	folder := filepath.Join(repository, name)
	defer func() {
		if err != nil {
			os.Remove(folder) // only if it is empty
			err = fmt.Errorf("onnx: save %s: %w", folder, err)
		}
	}()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	versions, err := tritonVersions(folder)
	if err != nil {
		return 0, err
	}
	if err := s.checkVersions(versions); err != nil {
		return 0, err
	}
	if version, err = m.saveVersion(folder, versions); err != nil {
		return 0, err
	}
	return version, atomicfile.Replace(filepath.Join(folder, "config.pbtxt"), func(w io.Writer) error {
		_, err := io.WriteString(w, config)
		return err
	})
}

// checkTritonName fails if a model cannot have the name, which is also that of its folder.
func checkTritonName(name string) error {
	if name == "" || strings.ContainsAny(name, `/\`) || !filepath.IsLocal(name) || name == "." {
		return fmt.Errorf("onnx: SaveTriton: the model cannot have the name %q: it is the name of a folder, without slashes", name)
	}
	for _, r := range name {
		if r == '"' || r == '\'' || r == utf8.RuneError || !unicode.IsPrint(r) {
			return fmt.Errorf("onnx: SaveTriton: the model cannot have the name %q: use letters, digits, - and _", name)
		}
	}
	return nil
}

// tritonVersions returns the versions of a model in ascending order. Like Triton, it ignores names that are no
// numbers or begin with 0.
func tritonVersions(folder string) ([]int64, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var versions []int64
	for _, entry := range entries {
		if n, err := strconv.ParseInt(entry.Name(), 10, 64); err == nil && n > 0 && strconv.FormatInt(n, 10) == entry.Name() {
			versions = append(versions, n)
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// saveVersion writes the model as the version after those that there are.
func (m *Model) saveVersion(folder string, versions []int64) (int64, error) {
	for {
		version := next(versions)
		if version < 0 {
			return 0, errors.New("there is no number after version 9223372036854775807: choose another name for the model")
		}
		path := filepath.Join(folder, strconv.FormatInt(version, 10))
		var own os.FileInfo
		err := atomicfile.CreateFolder(path, func(_, content string) (err error) {
			if err := os.Mkdir(content, 0o777); err != nil {
				return err
			}
			if err := m.Save(filepath.Join(content, "model.onnx")); err != nil {
				return err
			}
			own, err = os.Stat(content)
			return err
		})
		if err != nil {
			return 0, err
		}
		saved, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		if os.SameFile(own, saved) {
			return version, nil
		}
		versions = append(versions, version) // another process has saved it meanwhile
	}
}

// next returns the number of the next version, or -1 if there is none.
func next(versions []int64) int64 {
	switch last := slices.Max(append(versions, 0)); last {
	case math.MaxInt64:
		return -1
	default:
		return last + 1
	}
}

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
