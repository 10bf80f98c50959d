package nn_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

func TestLoadPyTorch(t *testing.T) {
	var g struct{ X, Y []float64 }
	read(t, "weights.json", &g)
	model := nn.Sequential(nn.Dense(3), nn.ReLU(), nn.Dense(2))
	if err := nn.Load("../testdata/weights.safetensors", model); err != nil {
		t.Fatal(err)
	}
	closeTo(t, "y", model.Forward(of(g.X, 5, 4)).Float64s(), g.Y, 1e-6)
	if n := len(nn.Parameters(model)); n != 4 {
		t.Errorf("%d parameters to train", n)
	}
}

func TestSaveAndLoad(t *testing.T) {
	tensors.Seed(5)
	build := func() *nn.SequentialLayer {
		return nn.Sequential(nn.Dense(4), nn.LayerNorm(), nn.Residual(nn.Dense(4, nn.NoBias())), nn.Dense(2))
	}
	model, x := build(), tensor.Randn(nil, 3, 5)
	want := model.Forward(x).Data()
	nn.Freeze(model.Layers()[0])
	path := filepath.Join(t.TempDir(), "model.safetensors")
	for range 2 { // the second replaces the first
		if err := nn.Save(path, model); err != nil {
			t.Fatal(err)
		}
	}
	fresh, used := build(), build()
	used.Forward(x)
	for name, m := range map[string]*nn.SequentialLayer{"fresh": fresh, "used": used} {
		if err := nn.Load(path, m); err != nil {
			t.Fatal(err)
		}
		if got := m.Forward(x).Data(); !slices.Equal(got, want) {
			t.Errorf("%s model: want %v, got %v", name, want, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestLoadConverts loads floats of other sizes, and a module's tensor of integers.
func TestLoadConverts(t *testing.T) {
	type table struct {
		Scale  *nn.Tensor
		Places *nn.Tensor
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	save := func(scale, places *nn.Tensor) {
		if err := nn.SaveTensors(path, map[string]*nn.Tensor{"Scale": scale, "Places": places}, nil); err != nil {
			t.Fatal(err)
		}
	}
	values, places := tensor.New([]float32{1.5, -2}, 2), tensor.FromInts([]int{7, 9}, 2)
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		save(values.Cast(d), places)
		m := &table{tensor.Parameter(tensor.Zeros(2)), tensor.FromInts([]int{0, 0}, 2)}
		if err := nn.Load(path, m); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Scale.Data(), []float32{1.5, -2}) || m.Scale.DType() != tensor.Float32 || !m.Scale.RequiresGrad() || !slices.Equal(m.Places.Ints(), []int{7, 9}) {
			t.Errorf("%v: %v and %v", d, m.Scale, m.Places)
		}
	}
	m := &table{tensor.Parameter(tensor.Zeros(2)), tensor.FromInts([]int{0, 0}, 2)}
	save(places, places)
	if err := nn.Load(path, m); err == nil || !strings.Contains(err.Error(), "Scale is of type int32, the model needs float32") {
		t.Errorf("%v", err)
	}
	save(values, values)
	if err := nn.Load(path, m); err == nil || !strings.Contains(err.Error(), "Places is of type float32, the model needs int32") || !slices.Equal(m.Scale.Data(), []float32{0, 0}) {
		t.Errorf("%v, and Scale is %v", err, m.Scale)
	}
}

func TestLoadRefuses(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.safetensors")
	model := nn.Sequential(nn.Dense(4), nn.Dense(2))
	model.Forward(tensor.Zeros(1, 3))
	if err := nn.Save(path, model); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(folder, "damaged")
	if err := os.WriteFile(damaged, []byte("not a safetensors file"), 0o644); err != nil {
		t.Fatal(err)
	}
	used := func(m *nn.SequentialLayer, in int) *nn.SequentialLayer {
		m.Forward(tensor.Zeros(1, in))
		return m
	}
	tests := []struct {
		name  string
		path  string
		model *nn.SequentialLayer
		want  string
	}{
		{"no file", filepath.Join(folder, "none"), model, "no such file"},
		{"damaged", damaged, model, "nn: load " + damaged + ": the header should have"},
		{"another size", path, used(nn.Sequential(nn.Dense(4), nn.Dense(2)), 7), "0.weight has shape [4 3], the model needs [4 7]"},
		{"another layer", path, nn.Sequential(nn.Dense(5), nn.Dense(2)), "0: Dense(5) cannot have a weight of shape [4 3]"},
		{"a layer more", path, nn.Sequential(nn.Dense(4), nn.Dense(2), nn.Dense(2)), "2.bias is missing; 2.weight is missing"},
		{"a layer less", path, nn.Sequential(nn.Dense(4)), "1.bias is not in the model; 1.weight is not in the model"},
		{"no norm", path, nn.Sequential(nn.LayerNorm(), nn.Dense(2)), "0: LayerNorm() cannot have a weight of shape [4 3]"},
		{"not a layer of files", path, nn.Sequential(nn.Dense(4, nn.NoBias()), nn.Dense(2)), "0.bias is not in the model"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := nn.Load(tt.path, tt.model)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "The system cannot find the file specified.", "no such file"), tt.want) {
				t.Errorf("want an error with %q\n got  %v", tt.want, err)
			}
		})
	}
	if err := nn.Load(filepath.Join(folder, "none"), model); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := nn.Save(path, nn.Sequential(nn.Dense(3))); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("saving a model without parameters: %v", err)
	}
	if err := nn.Save(filepath.Join(folder, "no", "folder"), model); err == nil {
		t.Error("saved into a folder that does not exist")
	}
}

// shards writes a model in two files with an index, as Hugging Face does, and returns the folder.
func shards(t *testing.T, m nn.Module) string {
	t.Helper()
	folder, index := t.TempDir(), map[string]string{}
	parts := []map[string]*nn.Tensor{{}, {}}
	names := []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}
	for i, p := range nn.State(m) {
		parts[i%2]["model."+p.Name] = p.Tensor
		index["model."+p.Name] = names[i%2]
	}
	for i, part := range parts {
		if err := nn.SaveTensors(filepath.Join(folder, names[i]), part, nil); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]int{"total_size": 1}, "weight_map": index})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "model.safetensors.index.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func threeLayers(out int) *nn.SequentialLayer {
	return nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(out))
}

func TestLoadShards(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3)
	m := threeLayers(2)
	want := m.Forward(x).Float64s()
	folder := shards(t, m)
	loaded := threeLayers(2)
	if err := nn.Load(folder, loaded, nn.Rename(`^model\.`, "")); err != nil {
		t.Fatal(err)
	}
	closeTo(t, "loaded", loaded.Forward(x).Float64s(), want, 0)

	second := filepath.Join(folder, "model-00002-of-00002.safetensors")
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(second, b[:len(b)-2], 0o600); err != nil {
		t.Fatal(err)
	}
	before := loaded.Forward(x).Float64s()
	var corrupt *nn.CorruptFileError
	if err := nn.Load(folder, loaded, nn.Rename(`^model\.`, "")); !errors.As(err, &corrupt) || corrupt.Path != second {
		t.Errorf("a truncated file: %v", err)
	}
	closeTo(t, "after the error", loaded.Forward(x).Float64s(), before, 0)
	for _, c := range []struct{ index, want string }{
		{`{"weight_map": {"a": "model-00001-of-00002.safetensors"}}`, `tensor "a" is missing`},
		{`{"weight_map": {"a": "../x.safetensors"}}`, "not a file beside the index"},
		{`{}`, "no weight_map"}, {`[`, "not JSON"},
	} {
		path := filepath.Join(folder, "model.safetensors.index.json")
		if err := os.WriteFile(path, []byte(c.index), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := nn.Load(path, loaded); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.index, err)
		}
	}
	if err := nn.Load(t.TempDir(), loaded); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestLoadPartially(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3)
	m := nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(2), nn.Tanh(), nn.Tanh(), nn.Dense(5))
	m.Forward(x)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := nn.Save(path, m); err != nil {
		t.Fatal(err)
	}
	for _, used := range []bool{false, true} {
		to := nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(3), nn.LayerNorm(), nn.Embedding(2, 2))
		if used {
			to.Layers()[0].Forward(x)
			to.Layers()[2].Forward(tensor.Zeros(1, 4))
		}
		var r nn.LoadReport
		if err := nn.Load(path, to, nn.Report(&r)); err == nil || r.Complete() {
			t.Errorf("a file of another model: %v, %v", err, &r)
		}
		if err := nn.Load(path, to, nn.Partial(), nn.Report(&r)); err != nil {
			t.Fatal(err)
		}
		different := 1 // an unused layer is one entry
		if used {
			different = 2
		}
		if !slices.Equal(r.Loaded, []string{"0.bias", "0.weight"}) || len(r.Different) != different ||
			!slices.Contains(r.Missing, "4.weight") {
			t.Errorf("used %v: %v\n%+v", used, &r, r)
		}
		closeTo(t, "first layer", to.Layers()[0].Forward(x).Float64s(), m.Layers()[0].Forward(x).Float64s(), 0)
	}
	if err := nn.Load(path, nn.Embedding(3, 3), nn.Partial()); err == nil || !strings.Contains(err.Error(), "no tensor fits") {
		t.Errorf("nothing in common: %v", err)
	}
	if err := nn.Load(path, m, nn.Rename("[", "")); err == nil {
		t.Error("a malformed pattern is no error")
	}
	if err := nn.Load(path, m, nn.Rename(`^\d`, "0")); err == nil || !strings.Contains(err.Error(), "the same name") {
		t.Errorf("equal names: %v", err)
	}
}

// TestAdapterFile saves adapters alone and loads them into the model they were trained with, and rejects
// other models and files, without a change.
func TestAdapterFile(t *testing.T) {
	folder := t.TempDir()
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3, 8)
	newModel := func() nn.Module {
		m := nn.Sequential(nn.Dense(8), nn.SelfAttention(2), nn.Dense(4))
		m.Forward(x)
		return m
	}
	model := newModel()
	base, adapters := filepath.Join(folder, "base.safetensors"), filepath.Join(folder, "adapters.safetensors")
	if err := nn.Save(base, model); err != nil {
		t.Fatal(err)
	}
	layers, err := nn.LoRA(model, 2, 3, "0", "1")
	if err != nil {
		t.Fatal(err)
	}
	opt := optim.SGD(model, 0.5)
	for range 3 {
		opt.ZeroGrad()
		model.Forward(x).Square().Mean().Backward()
		opt.Step()
	}
	if err := layers.Save(adapters); err != nil {
		t.Fatal(err)
	}
	want := model.Forward(x).Float64s()

	again := newModel()
	if err := nn.Load(base, again); err != nil {
		t.Fatal(err)
	}
	loaded, err := nn.LoadLoRA(adapters, again)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "loaded", again.Forward(x).Float64s(), want, 0)
	if got := len(nn.NamedParameters(again)); got != 4 {
		t.Errorf("%d trained parameters, want the 4 of the adapters", got)
	}
	loaded.Merge()
	closeTo(t, "merged", again.Forward(x).Float64s(), want, 1e-6)

	other := newModel()
	if err := nn.Load(base, other); err != nil {
		t.Fatal(err)
	}
	tensor.NoGrad(func() {
		w := other.(*nn.SequentialLayer).Layers()[0].(*nn.DenseLayer).Weight
		w.Assign(w.AddScalar(1e-3))
	})
	whole, err := os.ReadFile(adapters)
	if err != nil {
		t.Fatal(err)
	}
	truncated := filepath.Join(folder, "truncated.safetensors")
	if err := os.WriteFile(truncated, whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	small := nn.Sequential(nn.Dense(8))
	small.Forward(x)
	for _, tt := range []struct {
		model nn.Module
		path  string
		want  string
	}{
		{other, adapters, "the weights of 0 differ from those that the adapters were trained with"},
		{small, adapters, "the model has no layer 1 that can be adapted"},
		{model, adapters, "0 is adapted already"},
		{newModel(), base, "use nn.Load"},
		{newModel(), truncated, "truncated.safetensors"},
		{nn.Sequential(nn.Dense(8)), adapters, "0 has no weight yet"},
	} {
		before := tt.model.Forward(x)
		if tt.want == "0 has no weight yet" {
			tt.model = nn.Sequential(nn.Dense(8))
		}
		parameters := len(nn.NamedParameters(tt.model))
		if _, err := nn.LoadLoRA(tt.path, tt.model); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
		if got := len(nn.NamedParameters(tt.model)); got != parameters {
			t.Errorf("%q: %d parameters, want %d", tt.want, got, parameters)
		}
		if tt.want != "0 has no weight yet" {
			closeTo(t, tt.want, tt.model.Forward(x).Float64s(), before.Float64s(), 0)
		}
	}
	var state *tensor.StateError
	if err := loaded.Save(adapters); !errors.As(err, &state) {
		t.Errorf("Save after Merge: %v", err)
	}
}

// savedFile returns a file that SaveTensors writes, with tensors of several types and sizes.
func savedFile(t testing.TB, path string) []byte {
	t.Helper()
	err := nn.SaveTensors(path, map[string]*tensor.Tensor{
		"weight": tensor.New([]float32{1, -2, 3.5, 0, 1e-9, 7}, 2, 3), "mask": tensor.FromInts([]int{1, 0, 1}, 3).Cast(tensor.Bool),
		"half": tensor.New([]float32{1, 2}, 2).Cast(tensor.BFloat16), "empty": tensor.Zeros(0, 3), "scalar": tensor.Full(5),
		"norm.num_batches_tracked": tensor.FromInts([]int{3}), `odd "name"`: tensor.FromInts([]int{1 << 20}),
	}, map[string]string{"note": `text with "quotes", \ and ü`, "other": `{"quern.checksum":"00000000"}`})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEveryFlippedBitIsFound flips each bit of a file, cuts it everywhere, and appends to it.
func TestEveryFlippedBitIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	good := savedFile(t, path)
	check := func(what string, at int, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := nn.LoadTensors(path)
		var corrupt *nn.CorruptFileError
		var format *nn.FormatError
		if !errors.As(err, &corrupt) && !(at < 9 && errors.As(err, &format)) { // other first bytes are another format
			t.Fatalf("%s at %d of %d: %v", what, at, len(good), err)
		}
	}
	every := 1
	if testing.Short() {
		every = 7
	}
	for i := 0; i < 8*len(good); i += every {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		check("a flipped bit", i/8, b)
	}
	for n := 0; n < len(good); n += every {
		check("cut", n, good[:n])
		if n > 8 {
			check("a byte is missing", n, slices.Delete(slices.Clone(good), n, n+1))
			check("a byte too many", n, slices.Insert(slices.Clone(good), n, good[n]))
		}
	}
	for _, more := range []string{"\x00", " ", "\n", strings.Repeat("\x00", 4096), string(good)} {
		check("appended", len(good), append(slices.Clone(good), more...))
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	tensors, notes, err := nn.LoadTensors(path)
	if err != nil || len(tensors) != 6 || notes["note"] != `text with "quotes", \ and ü` || slices.ContainsFunc(slices.Collect(maps.Keys(notes)), func(k string) bool { return strings.HasPrefix(k, "quern.") }) {
		t.Errorf("%d tensors, notes %v: %v", len(tensors), notes, err)
	}
}

// TestFilesWithoutChecksums reads a file as other programs, and earlier versions, write it; a model keeps its
// weights when a damaged one is loaded.
func TestFilesWithoutChecksums(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	good := savedFile(t, path)
	n := binary.LittleEndian.Uint64(good)
	var header map[string]any
	if err := json.Unmarshal(good[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	metadata := header["__metadata__"].(map[string]any)
	for _, key := range []string{"quern.checksum", "quern.checksums"} {
		if metadata[key] == nil {
			t.Fatalf("the file has no %s", key)
		}
		delete(metadata, key)
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	old := slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, good[8+n:])
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	tensors, _, err := nn.LoadTensors(path)
	if err != nil || !slices.Equal(tensors["weight"].Data(), []float32{1, -2, 3.5, 0, 1e-9, 7}) {
		t.Errorf("a file without checksums: %v", err)
	}

	model, other := nn.Sequential(nn.Dense(3)), nn.Sequential(nn.Dense(3))
	x := tensor.Ones(1, 4)
	before := model.Forward(x).Data()
	other.Forward(x)
	if err := nn.Save(path, other); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-2] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var corrupt *nn.CorruptFileError
	if err := nn.Load(path, model); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "damaged") || strings.Count(err.Error(), path) != 1 {
		t.Errorf("a damaged model: %v", err)
	}
	if !slices.Equal(model.Forward(x).Data(), before) {
		t.Error("a damaged file has changed the model")
	}
}

// TestWriteTensorsIsStable writes the same bytes to any writer, also of tensors that are not in memory as a file
// has them.
func TestWriteTensorsIsStable(t *testing.T) {
	x := tensor.Arange(0, 12, 1, tensor.Float32).Reshape(3, 4)
	var files [2]bytes.Buffer
	for i, y := range []*tensor.Tensor{x.T(), tensor.New(x.T().Data(), 4, 3)} {
		if err := nn.WriteTensors(&files[i], map[string]*tensor.Tensor{"y": y}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("a transposed tensor is written differently")
	}
}

func BenchmarkSave(b *testing.B) {
	path := filepath.Join(b.TempDir(), "file")
	tensors := map[string]*tensor.Tensor{"x": tensor.Zeros(16 << 20)}
	tensors["x"].Data()
	b.SetBytes(64 << 20)
	for b.Loop() {
		if err := nn.SaveTensors(path, tensors, nil); err != nil {
			b.Fatal(err)
		}
	}
}
