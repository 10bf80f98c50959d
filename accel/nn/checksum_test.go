package nn_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

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
	if err := nn.Load(path, model); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "damaged") {
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
