package nn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FormatError reports that a file is of another format than safetensors.
type FormatError struct {
	Path   string // of the file
	Format string // what the file is, such as "a GGUF file"
	Hint   string // what to do
	Err    error  // why it is not a safetensors file
}

// Error names the file, its format, and what to do.
func (e *FormatError) Error() string {
	return fmt.Sprintf("nn: load %s: this is %s, but Load reads safetensors files: %s", e.Path, e.Format, e.Hint)
}

// Unwrap returns why the file is not a safetensors file.
func (e *FormatError) Unwrap() error { return e.Err }

// format is a file format that users pass to [Load] by mistake.
type format struct{ name, hint string }

var (
	pyTorchFile = format{"a PyTorch checkpoint", "in Python, call safetensors.torch.save_file(torch.load(path, weights_only=True), \"model.safetensors\"), and load that file"}
	ggufFile    = format{"a GGUF file (llama.cpp)", "download the model's .safetensors files instead"}
	hdf5File    = format{"an HDF5 file, such as Keras writes", "in Python, write the arrays of model.weights with safetensors.numpy.save_file, and load that file"}
	kerasFile   = format{"a Keras archive", hdf5File.hint}
	onnxFile    = format{"an ONNX model", "read the model with onnx.Import, or download its weights as a safetensors file"}
	npyFile     = format{"a NumPy array", "read examples with data.NPY; write weights with safetensors.numpy.save_file in Python"}
	npzFile     = format{"an archive of NumPy arrays", "in Python, call safetensors.numpy.save_file(dict(numpy.load(path)), \"model.safetensors\"), and load that file"}
	zipFile     = format{"a zip archive", "unpack it, and load the .safetensors file in it"}
	gzipFile    = format{"a gzip file", "decompress it first"}
	tableFile   = format{"a table of text", "read it as a data set with data.CSV"}
	jsonFile    = format{"a JSON file", "load the .safetensors file beside it, an index whose name ends in .index.json, or the folder"}
	textFile    = format{"a text file", "load the .safetensors file of the model"}
	webPage     = format{"a web page", "the download returned a page instead of the file: download the file itself, on Hugging Face from /resolve/ instead of /blob/"}
	lfsPointer  = format{"a Git LFS pointer, which only names the file", "run git lfs pull"}
)

// byExtension are the formats of files whose first bytes do not show it.
var byExtension = map[string]format{
	".pt": pyTorchFile, ".pth": pyTorchFile, ".ckpt": pyTorchFile, ".gguf": ggufFile, ".h5": hdf5File, ".hdf5": hdf5File,
	".keras": kerasFile, ".onnx": onnxFile, ".csv": tableFile, ".tsv": tableFile, ".npy": npyFile, ".npz": npzFile,
	".txt": textFile, ".md": textFile,
}

// explainFormat returns a [*FormatError] if a file that is not in safetensors format is of a
// known other format, otherwise err with the path.
func explainFormat(path string, r io.ReaderAt, err error) error {
	start := make([]byte, 4096)
	n, readErr := r.ReadAt(start, 0)
	if readErr != nil && !errors.Is(readErr, io.EOF) {
		return fmt.Errorf("nn: load %s: %w", path, errors.Join(err, readErr))
	}
	f := detectFormat(strings.ToLower(filepath.Ext(path)), start[:n])
	if f == (format{}) {
		return &CorruptFileError{path, err}
	}
	return &FormatError{Path: path, Format: f.name, Hint: f.hint, Err: err}
}

// detectFormat returns the format of a file with these first bytes, the zero format if it is
// not known or may be a damaged safetensors file.
func detectFormat(extension string, start []byte) format {
	if len(start) > 8 && start[8] == '{' && bytes.Equal(start[4:8], make([]byte, 4)) {
		return format{} // a safetensors file with an error in its header
	}
	known := byExtension[extension]
	text := bytes.TrimSpace(start)
	lower := bytes.ToLower(text[:min(len(text), 64)])
	has := func(prefix string) bool { return bytes.HasPrefix(start, []byte(prefix)) }
	switch {
	case has("GGUF"):
		return ggufFile
	case has("\x89HDF\r\n\x1a\n"):
		return hdf5File
	case has("\x93NUMPY"):
		return npyFile
	case has("\x1f\x8b"):
		return gzipFile
	case has("PK\x03\x04"):
		return zipContent(known, start)
	case has("\x80\x02"), has("\x80\x04"): // a pickle
		return pyTorchFile
	case bytes.HasPrefix(text, []byte("version https://git-lfs")):
		return lfsPointer
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")):
		return webPage
	case bytes.HasPrefix(text, []byte("{")) && isText(start):
		return jsonFile
	case known == tableFile && !isText(start):
		return format{}
	}
	return known
}

// zipContent returns the format of a zip archive: known, if such files are archives, else by the
// names of its first files.
func zipContent(known format, start []byte) format {
	switch {
	case known == pyTorchFile || known == kerasFile || known == npzFile:
		return known
	case bytes.Contains(start, []byte("/data.pkl")):
		return pyTorchFile
	case bytes.Contains(start, []byte(".npy")):
		return npzFile
	}
	return zipFile
}

// isText reports whether the start of a file is text in UTF-8.
func isText(start []byte) bool {
	for len(start) > 0 {
		r, n := utf8.DecodeRune(start)
		if r == utf8.RuneError && n == 1 && len(start) >= utf8.UTFMax {
			return false
		}
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return false
		}
		start = start[n:]
	}
	return true
}
