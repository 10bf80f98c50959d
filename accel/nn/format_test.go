package nn_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func TestLoadNamesOtherFormats(t *testing.T) {
	header := func(text string) string {
		return string(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) + text
	}
	tests := []struct{ file, content, format, hint string }{
		{"model.pt", "PK\x03\x04\x00\x00model/data.pkl", "a PyTorch checkpoint", "safetensors.torch.save_file"},
		{"renamed.safetensors", "PK\x03\x04\x00\x00archive/data.pkl", "a PyTorch checkpoint", "safetensors.torch.save_file"},
		{"old.bin", "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "a PyTorch checkpoint", "weights_only=True"},
		{"model.gguf", "GGUF\x03\x00\x00\x00\x00\x00\x00\x00", "a GGUF file", ".safetensors files"},
		{"model.h5", "\x89HDF\r\n\x1a\n\x00\x00\x00", "an HDF5 file", "safetensors.numpy"},
		{"model.keras", "PK\x03\x04\x00\x00metadata.json", "a Keras archive", "safetensors.numpy"},
		{"model.onnx", "\x08\x08\x12\x07pytorch\x1a\x06", "an ONNX model", "weights"},
		{"iris.csv", "length,width,class\n5.1,3.5,setosa\n", "a table of text", "data.CSV"},
		{"notes.txt", "weights of the model", "a text file", ".safetensors file"},
		{"x.npy", "\x93NUMPY\x01\x00v\x00", "a NumPy array", "data.NPY"},
		{"x.npz", "PK\x03\x04\x00\x00arr_0.npy", "an archive of NumPy arrays", "numpy.load"},
		{"a.zip", "PK\x03\x04\x00\x00readme.txt", "a zip archive", "unpack"},
		{"model.safetensors.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00", "a gzip file", "decompress"},
		{"index.json", `{"weight_map": {}}`, "a JSON file", "index"},
		{"page.safetensors", "<!DOCTYPE html>\n<html><body>", "a web page", "/resolve/"},
		{"lfs.safetensors", "version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer", "git lfs pull"},
		{"short.pt", "", "a PyTorch checkpoint", "safetensors.torch"},
		{"damaged.safetensors", "no safetensors file", "", "the header should have"},
		{"broken.pt", header(`{"a": 1}`), "", `tensor "a"`},                                            // in safetensors format, whatever its name
		{"size.safetensors", header(`{` + strings.Repeat(" ", 0x280-1)), "", "the header is not JSON"}, // begins like a pickle
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(path, []byte(tt.content), 0o644); err != nil {
				t.Fatal(err)
			}
			err := nn.Load(path, nn.Dense(2))
			var format *nn.FormatError
			if found := errors.As(err, &format); found != (tt.format != "") {
				t.Fatalf("%v", err)
			}
			for _, want := range []string{"nn: load " + path + ": ", tt.format, tt.hint} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

func TestLoadIgnoresTheExtension(t *testing.T) {
	model := nn.Dense(2)
	model.Forward(tensor.Zeros(1, 3))
	path := filepath.Join(t.TempDir(), "model.pt")
	if err := nn.Save(path, model); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, nn.Dense(2)); err != nil {
		t.Error(err)
	}
}

func ExampleFormatError() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.gguf")
	if err := os.WriteFile(path, []byte("GGUF\x03\x00\x00\x00"), 0o644); err != nil {
		panic(err)
	}
	err = nn.Load(path, nn.Dense(10))
	var format *nn.FormatError
	if errors.As(err, &format) {
		fmt.Println(format.Format)
		fmt.Println(format.Hint)
	}
	// Output:
	// a GGUF file (llama.cpp)
	// download the model's .safetensors files instead
}
