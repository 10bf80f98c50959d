package parallel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/atomicfile"
)

// checkpointFolder is the environment variable with the folder of a task.
const checkpointFolder = "QUERN_TEST_MESH_FOLDER"

// checkpointSteps is after how many steps the trainings of TestCheckpointOnAnotherMesh are saved.
const checkpointSteps = 2

// continued are meshes on which a training continues that was saved on one of dp 2 × tp 2 × pp 1, or, if its weights are tied, of
// dp 2 × tp 1 × pp 2.
var continued = []distributedTraining{
	{name: "ZeRO 3", mesh: MeshShape{4, 1, 1}, options: only(ZeRO(3))},
	{name: "tp × pp", mesh: MeshShape{1, 2, 2}, options: with(tensorParallel, only(MicroBatches(2)))},
	{name: "dp × tp", mesh: MeshShape{2, 2, 1}, options: with(tensorParallel, only(ZeRO(2)))},
	{name: "tied, ZeRO 2", mesh: MeshShape{4, 1, 1}, options: only(ZeRO(2)), model: tiedGPT},
	{name: "tied, pipeline", mesh: MeshShape{1, 1, 4}, options: only(MicroBatches(2)), model: tiedGPT},
}

// folderOf returns the folder of the checkpoint of a training in continued.
func (c distributedTraining) folderOf(folder string) string {
	if c.model != nil {
		return folder + "-tied"
	}
	return folder
}

func init() {
	rankTasks["checkpoint"] = func(ctx context.Context, g *Group) (any, error) {
		folder := os.Getenv(checkpointFolder)
		train := func(c distributedTraining) (trained, error) {
			mesh, err := Mesh(ctx, g, c.mesh.DP, c.mesh.TP, c.mesh.PP)
			if err != nil {
				return trained{}, err
			}
			r, err := c.train(ctx, mesh)
			return r, errors.Join(err, mesh.Close())
		}
		if _, err := train(distributedTraining{mesh: MeshShape{2, 2, 1}, options: with(tensorParallel, only(ZeRO(2))), steps: checkpointSteps, save: folder}); err != nil {
			return nil, err
		}
		tied := distributedTraining{mesh: MeshShape{2, 1, 2}, model: tiedGPT, steps: checkpointSteps}
		tied.save = tied.folderOf(folder)
		if _, err := train(tied); err != nil {
			return nil, err
		}
		all := map[string]trained{}
		for _, c := range continued {
			c.from, c.load = checkpointSteps, c.folderOf(folder)
			r, err := train(c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			all[c.name] = r
		}
		return all, nil
	}
}

// TestCheckpointOnAnotherMesh continues a training on other meshes from a checkpoint, and compares it with
// one in one process that was not interrupted.
func TestCheckpointOnAnotherMesh(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "checkpoint")
	all := onRanks[map[string]trained](t, "checkpoint", 4, checkpointFolder+"="+folder)
	for _, c := range continued {
		want, err := distributedTraining{model: c.model}.train(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want.Losses = want.Losses[len(want.Losses)*checkpointSteps/4:]
		for rank, results := range all {
			compareTrained(t, rank, results[c.name], want, 0)
		}
	}
	t.Run("read as a model", func(t *testing.T) {
		want, err := distributedTraining{steps: checkpointSteps}.train(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		model := distributedTraining{}.newModel(77)
		if err := nn.Load(folder, model); err != nil {
			t.Fatal(err)
		}
		got := trained{State: map[string][]float32{}, Losses: want.Losses}
		for _, p := range nn.State(model) {
			got.State[p.Name] = p.Data()
		}
		compareTrained(t, 0, got, want, 0)
	})
	t.Run("the format", func(t *testing.T) { checkIndex(t, folder, 4) })
}

// checkIndex checks the index as Hugging Face's libraries read it: total_size is the bytes of all tensors,
// and weight_map has the file of each, in which all its tensors are listed.
func checkIndex(t *testing.T, folder string, files int) {
	text, err := os.ReadFile(filepath.Join(folder, "model.safetensors.index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Metadata struct {
			TotalSize int `json:"total_size"`
		} `json:"metadata"`
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	size, listed := 0, map[string]bool{}
	for _, file := range slices.Compact(slices.Sorted(maps.Values(index.WeightMap))) {
		f, err := nn.Open(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		files--
		if f.Metadata()["format"] != "pt" {
			t.Errorf("%s has the metadata %v: PyTorch expects the format pt", file, f.Metadata())
		}
		for _, name := range f.Names() {
			x, err := f.Tensor(name)
			if err != nil || index.WeightMap[name] != file {
				t.Errorf("%s is in %s, in the index in %q: %v", name, file, index.WeightMap[name], err)
				continue
			}
			size += x.Numel() * x.DType().Size()
			listed[name] = true
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if files != 0 || len(listed) != len(index.WeightMap) || size != index.Metadata.TotalSize {
		t.Errorf("%d files too few, %d of %d tensors, %d of %d bytes", files, len(listed), len(index.WeightMap), size, index.Metadata.TotalSize)
	}
}

// TestFullDisk requires a checkpoint to be readable after a later one could not be written on one rank.
func TestFullDisk(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 2, TP: 1, PP: 1})
	folder := t.TempDir()
	x, y := gptTokensOf(0, 0)
	step := func(ctx context.Context, m *DistributedModel, opt *optim.Optimizer) error {
		opt.ZeroGrad()
		_, err := m.Backward(ctx, x, y, nn.CrossEntropy, 0.5)
		if err == nil {
			opt.Step()
		}
		return err
	}
	optimizers := make([]*optim.Optimizer, len(all))
	saved := make([]map[string]*tensor.Tensor, len(all))
	mustEach(t, all, func(ctx context.Context, g *Group) (err error) {
		m := shared[g.Rank()]
		optimizers[g.Rank()] = optim.AdamW(m, 0.01)
		if err := step(ctx, m, optimizers[g.Rank()]); err != nil {
			return err
		}
		if err := m.Save(ctx, folder, optimizers[g.Rank()]); err != nil {
			return err
		}
		saved[g.Rank()], err = m.FullState(ctx)
		return err
	})
	before, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"model", "optimizer"} {
		for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
			m, opt := shared[g.Rank()], optimizers[g.Rank()]
			if err := step(ctx, m, opt); err != nil {
				return err
			}
			full := func(path string, write func(w io.Writer) error) error {
				if g.Rank() == 1 && strings.HasPrefix(filepath.Base(path), kind) {
					write = func(io.Writer) error { return syscall.ENOSPC }
				}
				return atomicfile.Replace(path, write)
			}
			s := &saving{distribution: m.distribution(), ctx: ctx, folder: folder, replace: full}
			return s.save(opt)
		}) {
			if err == nil || !strings.Contains(err.Error(), "rank 1: ") || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
				t.Errorf("%s, rank %d: %v", kind, r, err)
			}
		}
		after, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%s: the folder has %v, before %v", kind, after, before)
		}
	}
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		m := shared[g.Rank()]
		if err := m.Load(ctx, folder, optimizers[g.Rank()]); err != nil {
			return err
		}
		now, err := m.FullState(ctx)
		if err != nil {
			return err
		}
		for name, want := range saved[g.Rank()] {
			if !slices.Equal(now[name].Data(), want.Data()) {
				return fmt.Errorf("%s differs from what was saved", name)
			}
		}
		// A second checkpoint replaces the first.
		if err := step(ctx, m, optimizers[g.Rank()]); err != nil {
			return err
		}
		return m.Save(ctx, folder, optimizers[g.Rank()])
	})
	if after, err := os.ReadDir(folder); err != nil || len(after) != len(before) {
		t.Errorf("the folder has %v, before %v: %v", after, before, err)
	}
}

func TestLoadErrors(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 1, TP: 1, PP: 2})
	for _, c := range []struct {
		name  string
		make  func(folder string) error
		state bool
		want  string
	}{
		{"nothing", func(string) error { return nil }, false, "no such file"},
		{"no JSON", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "model.safetensors.index.json"), []byte("{"), 0o600)
		}, false, "the index is not JSON"},
		{"a file elsewhere", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "model.safetensors.index.json"), []byte(`{"weight_map": {"0.weight": "../a.safetensors"}}`), 0o600)
		}, false, "which is not a file beside the index"},
		{"another model", func(folder string) error {
			return nn.SaveTensors(filepath.Join(folder, "model.safetensors"), map[string]*tensor.Tensor{"0.weight": tensor.Ones(2)}, nil)
		}, false, "the checkpoint has no tensor"},
		{"another shape", func(folder string) error {
			tensors := map[string]*tensor.Tensor{}
			for _, p := range nn.State(distributedTraining{}.newModel(0)) {
				tensors[p.Name] = tensor.Ones(2)
			}
			return nn.SaveTensors(filepath.Join(folder, "model.safetensors"), tensors, nil)
		}, false, "has shape [2] in the checkpoint, but"},
		{"no optimizer", func(folder string) error {
			return nn.Save(filepath.Join(folder, "model.safetensors"), distributedTraining{}.newModel(0))
		}, true, "the checkpoint has no state of an optimizer"},
	} {
		folder := t.TempDir()
		if err := c.make(folder); err != nil {
			t.Fatal(err)
		}
		for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
			var opt *optim.Optimizer
			if c.state {
				opt = optim.AdamW(shared[g.Rank()], 0.1)
			}
			return shared[g.Rank()].Load(ctx, folder, opt)
		}) {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, rank %d: %v, want %q", c.name, r, err, c.want)
			}
		}
	}
}
