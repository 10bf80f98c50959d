package onnx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/internal/testenv"
)

// repositories are models with options, by the name under which Triton has them.
var repositories = []struct {
	name    string
	build   func() (*onnx.Model, error)
	options []onnx.Option
	saves   int // how often it is saved
}{
	{"digits", func() (*onnx.Model, error) {
		return onnx.Build(nn.Sequential(nn.Flatten(), nn.Dense(10)), steps(1, 8, 8))
	}, nil, 1},
	{"two_inputs", func() (*onnx.Model, error) {
		return onnx.BuildFunc(func(in []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{in[0].Mul(in[1].Cast(tensor.Float32)), in[0].Sum(1, 2), in[0].Greater(in[1].Cast(tensor.Float32))}
		}, []*tensor.Tensor{steps(2, 6, 4), tokens(3, 2, 6, 4)}, onnx.Axes(0, "batch", "time"), onnx.Axes(1, "batch", "time"),
			onnx.Inputs("x", "weights"), onnx.Outputs("products", "sums", `"positive"`))
	}, []onnx.Option{
		onnx.MaxBatchSize(64), onnx.DynamicBatching(2*time.Millisecond, 8, 32),
		onnx.GPUInstances(2, 0, 1), onnx.CPUInstances(1), onnx.ServeLatest(2),
	}, 2},
	{"mean", func() (*onnx.Model, error) {
		return onnx.Build(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Mean(0).Cast(tensor.Float64) }), steps(2, 3))
	}, []onnx.Option{onnx.ServeAll()}, 1},
	{"unbatched", func() (*onnx.Model, error) {
		return onnx.Build(nn.ReLU(), steps(2, 3).Cast(tensor.Float16))
	}, []onnx.Option{onnx.MaxBatchSize(0), onnx.ServeVersions(1, 3), onnx.GPUInstances(1)}, 3},
	{"waits_for_nobody", func() (*onnx.Model, error) {
		return onnx.Build(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.ArgMax(1) }), steps(2, 3))
	}, []onnx.Option{onnx.DynamicBatching(0)}, 1},
}

// saveRepositories saves the models in a folder.
func saveRepositories(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "models")
	for _, r := range repositories {
		m, err := r.build()
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.saves {
			options := r.options
			if i < r.saves-1 {
				options = nil // ServeVersions of a later version
			}
			if version, err := m.SaveTriton(folder, r.name, options...); err != nil || version != int64(i+1) {
				t.Fatalf("%s: version %d, %v", r.name, version, err)
			}
		}
	}
	return folder
}

// TestTriton compares configurations with those that Triton's own schema has accepted (see TestTritonSchema).
func TestTriton(t *testing.T) {
	folder := saveRepositories(t)
	for _, r := range repositories {
		config, err := os.ReadFile(filepath.Join(folder, r.name, "config.pbtxt"))
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "triton/"+r.name+".pbtxt", config)
	}
}

// TestTritonSchema parses configurations with the messages of Triton's client for Python, and compares them with the
// files as onnxruntime reads them:
//
//	pip install tritonclient[grpc] onnxruntime
func TestTritonSchema(t *testing.T) {
	interpreter := testenv.OptionalPython(t, "tritonclient.grpc", "onnxruntime")
	command := exec.CommandContext(t.Context(), interpreter, "testdata/triton.py", saveRepositories(t))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var got map[string]map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string]any{
		"digits":     {"max_batch_size": 4., "version_policy": nil, "dynamic_batching": nil, "instance_group": nil},
		"two_inputs": {"max_batch_size": 64., "version_policy": `{"latest":{"num_versions":2}}`, "dynamic_batching": `{"max_queue_delay_microseconds":"2000","preferred_batch_size":[8,32]}`, "instance_group": `[{"count":2,"gpus":[0,1],"kind":"KIND_GPU"},{"count":1,"kind":"KIND_CPU"}]`},
		"mean":       {"max_batch_size": nil, "version_policy": `{"all":{}}`},
		"unbatched":  {"max_batch_size": nil, "version_policy": `{"specific":{"versions":["1","3"]}}`, "instance_group": `[{"count":1,"kind":"KIND_GPU"}]`},

		"waits_for_nobody": {"dynamic_batching": `{}`},
	} {
		for field, value := range want {
			found := got[name][field]
			if _, text := value.(string); text {
				b, _ := json.Marshal(found)
				found = string(b)
			}
			if found != value {
				t.Errorf("%s: %s is %v, want %v", name, field, found, value)
			}
		}
	}
}

func TestTritonRejects(t *testing.T) {
	dense, err := onnx.Build(nn.Dense(3), steps(1, 4))
	if err != nil {
		t.Fatal(err)
	}
	of := func(f func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor, options ...onnx.Option) *onnx.Model {
		m, err := onnx.BuildFunc(func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f(in[0])} }, one(x), options...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	mean := of(func(x *tensor.Tensor) *tensor.Tensor { return x.Mean(0) }, steps(2, 3))
	pairs := of(func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(x.T()) }, steps(2, 3))
	for _, tt := range []struct {
		name    string
		model   *onnx.Model
		options []onnx.Option
		want    string
		kind    error
	}{
		{"", dense, nil, `SaveTriton: the model cannot have the name ""`, nil},
		{"a/b", dense, nil, "without slashes", nil},
		{`a\b`, dense, nil, "without slashes", nil},
		{"..", dense, nil, `the name ".."`, nil},
		{".", dense, nil, `the name "."`, nil},
		{"a\nb", dense, nil, `the name "a\nb": use letters`, nil},
		{`a"b`, dense, nil, "use letters", nil},
		{"m", dense, []onnx.Option{onnx.MaxBatchSize(-1)}, "onnx: MaxBatchSize(-1): the maximum batch size is -1, but must be from 0 to 2147483647", nil},
		{"m", dense, []onnx.Option{onnx.MaxBatchSize(math.MaxInt)}, "must be from 0 to 2147483647", nil},
		{"m", dense, []onnx.Option{onnx.DynamicBatching(-time.Second)}, "onnx: DynamicBatching(-1s): the delay must be whole microseconds", nil},
		{"m", dense, []onnx.Option{onnx.DynamicBatching(time.Nanosecond)}, "whole microseconds", nil},
		{"m", dense, []onnx.Option{onnx.DynamicBatching(0, 0)}, "onnx: DynamicBatching(0s, 0): a preferred batch size is 0, but must be from 1", nil},
		{"m", dense, []onnx.Option{onnx.DynamicBatching(0, 2, 8)}, "the preferred batch size 8 is larger than the maximum batch size 4: raise it with MaxBatchSize", nil},
		{"m", dense, []onnx.Option{onnx.DynamicBatching(0), onnx.MaxBatchSize(0)}, "DynamicBatching: MaxBatchSize must be at least 1", nil},
		{"m", dense, []onnx.Option{onnx.GPUInstances(0)}, "onnx: GPUInstances(0): the number of instances is 0", nil},
		{"m", dense, []onnx.Option{onnx.GPUInstances(1, -1)}, "onnx: GPUInstances(1, -1): the number of a GPU is -1", nil},
		{"m", dense, []onnx.Option{onnx.GPUInstances(1, 2, 2)}, "GPU 2 is listed twice", nil},
		{"m", dense, []onnx.Option{onnx.CPUInstances(-1)}, "onnx: CPUInstances(-1): the number of instances is -1", nil},
		{"m", dense, []onnx.Option{onnx.ServeLatest(0)}, "onnx: ServeLatest(0): the number of versions is 0", nil},
		{"m", dense, []onnx.Option{onnx.ServeVersions()}, "onnx: ServeVersions(): there is no version", nil},
		{"m", dense, []onnx.Option{onnx.ServeVersions(2)}, "there is no version 2 among [], and this one gets the number 1", nil},
		{"m", mean, []onnx.Option{onnx.MaxBatchSize(8)}, `MaxBatchSize(8): the first axis of "output", [3], is not the batch`, onnx.ErrNotServable},
		{"m", mean, []onnx.Option{onnx.DynamicBatching(0)}, `DynamicBatching: the first axis of "output", [3], is not the batch`, onnx.ErrNotServable},
		{"m", pairs, []onnx.Option{onnx.MaxBatchSize(8)}, `axis 1 of "output", [batch batch], depends on the size of the batch`, onnx.ErrNotServable},
		{"m", of((*tensor.Tensor).Neg, steps(2, 3), onnx.Axes(0)), []onnx.Option{onnx.MaxBatchSize(8)}, `the first axis of "input", [2 3], is not the batch`, onnx.ErrNotServable},
		{"m", of(func(x *tensor.Tensor) *tensor.Tensor { return x.Sum() }, steps(2, 3)), nil, `output "output" has no axes; Reshape it to (1)`, onnx.ErrNotServable},
		{"m", of((*tensor.Tensor).Neg, steps(2, 3).Cast(tensor.BFloat16)), nil, `input "input" has the type bfloat16; Cast it`, onnx.ErrNotServable},
		{"m", of(func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 1, 1) }, steps(2, 3)), nil, `axis 1 of output "output", [batch 0], has size 0`, onnx.ErrNotServable},
	} {
		folder := t.TempDir()
		_, err := tt.model.SaveTriton(folder, tt.name, tt.options...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.kind != nil && !errors.Is(err, tt.kind) {
			t.Errorf("%q, %v: want %q\n got  %v", tt.name, tt.options, tt.want, err)
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("%q, %v: left %v", tt.name, tt.options, left)
		}
	}
}

// TestTritonVersions saves beside versions that are there, and several times at once.
func TestTritonVersions(t *testing.T) {
	m, err := onnx.Build(nn.Dense(3), steps(1, 4), onnx.ExternalData())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range []string{"7", "08", "notes", "9x"} { // Triton takes only the first one for a version
		if err := os.MkdirAll(filepath.Join(folder, "m", name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(folder, "m", "7", "model.onnx")
	if err := os.WriteFile(old, []byte("seven"), 0o600); err != nil {
		t.Fatal(err)
	}
	var saving sync.WaitGroup
	versions := make([]int64, 8)
	for i := range versions {
		saving.Go(func() {
			var err error
			if versions[i], err = m.SaveTriton(folder, "m"); err != nil {
				t.Error(err)
			}
		})
	}
	saving.Wait()
	slices.Sort(versions)
	if want := []int64{8, 9, 10, 11, 12, 13, 14, 15}; !slices.Equal(versions, want) {
		t.Errorf("versions %d, want %d", versions, want)
	}
	for _, v := range versions {
		if _, err := onnx.Import(filepath.Join(folder, "m", fmt.Sprint(v), "model.onnx")); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "seven" {
		t.Errorf("version 7 has %q, %v", text, err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "m", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := os.Mkdir(filepath.Join(folder, "m", fmt.Sprint(int64(math.MaxInt64))), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := m.SaveTriton(folder, "m"); err == nil || !strings.Contains(err.Error(), "no number after version") {
		t.Error(err)
	}
}
