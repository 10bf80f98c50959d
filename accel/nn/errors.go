package nn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/tensor"
)

// LayerError reports which layer of a model could not take its input.
type LayerError struct {
	Path  string // index of the layer in its Sequential; "1.0.2" if they are nested
	Layer string // the layer as Go code
	Err   error  // usually a *tensor.ShapeError
}

// Error names the layer and the reason.
func (e *LayerError) Error() string {
	return fmt.Sprintf("layer %s, %s: %v", e.Path, e.Layer, e.Err)
}

// Unwrap returns the reason.
func (e *LayerError) Unwrap() error { return e.Err }

// LengthError reports a sequence that is longer than the positions of a layer, such as
// [PositionEmbedding].
type LengthError struct {
	Layer   string // the layer as Go code
	Length  int    // of the sequence
	Longest int    // number of positions
}

// Error names the layer, the lengths, and what to do.
func (e *LengthError) Error() string {
	return fmt.Sprintf("the sequence has %d positions, but %s has only %d: cut longer sequences, or create the layer with more positions", e.Length, e.Layer, e.Longest)
}

// Catch recovers a panic with an error of package tensor, in a [*LayerError] or not, or with the
// error of a context that is done, and stores it in *err. It is meant to be deferred. Any other
// panic is a bug, for instance in a model's Forward, and continues.
//
// What a failed computation has recorded before runs now, also if the panic continues, so that its own errors, such as an
// index that is out of range, are in *err too, and not in what is computed next. It does not run after an interruption, which
// is not to wait for it, nor after the failure of a device or of another rank, without which it cannot run.
func Catch(err *error) {
	p := recover()
	if p == nil {
		return
	}
	failed, ok := p.(error)
	if !ok || !fromTensors(failed) && !interrupt.Is(failed) {
		_ = flush() // p comes first
		panic(p)
	}
	*err = failed
	if interrupt.Is(failed) || fromDevice(failed) {
		return
	}
	if later := flush(); later != nil {
		*err = errors.Join(failed, later)
	}
}

// flush runs all recorded ops.
func flush() (err error) {
	defer Catch(&err)
	tensor.Flush()
	return nil
}

// fromTensors reports whether an error has one of the types with which package tensor panics.
func fromTensors(err error) bool {
	return is[*tensor.ShapeError](err) || is[*tensor.DTypeError](err) || is[*tensor.IndexError](err) || is[*tensor.StateError](err) ||
		is[*tensor.OutOfMemoryError](err) || is[*tensor.NonFiniteError](err) || is[*tensor.TraceError](err) || is[*LengthError](err) || fromDevice(err)
}

// fromDevice reports whether an error is the failure of a device or of another rank.
func fromDevice(err error) bool {
	return is[*tensor.DeviceError](err) || is[*tensor.AllReduceError](err)
}

// is reports whether an error is or wraps one of a type.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// forward runs the layer with this index. If the layer panics with an error of package tensor,
// forward adds the index and the name of the layer, unless an op of an earlier layer may be the cause.
func forward(number string, layer Module, x *Tensor) *Tensor {
	if isNil(layer) {
		panic(&LayerError{number, describe(layer), &tensor.StateError{Op: "Forward", Hint: "the layer is nil: create it before the model, or leave it out"}})
	}
	var y *Tensor
	if c := trace.Active(); c != nil {
		defer c.Enter(trace.Scope{Number: number, Name: func() string { return describe(layer) }})()
	}
	err := func() (err error) {
		defer Catch(&err)
		tensors.NameScope(func() (string, string) { return number, describe(layer) }, func() { y = layer.Forward(x) })
		return nil
	}()
	switch {
	case err == nil:
		return y
	case interrupt.Is(err):
		panic(err)
	}
	if index, ok := err.(*tensor.IndexError); ok && tensortype.IsLate(index) && !tensors.FlushesScopes() { //nolint:errorlint // another error that this one was joined to is one of the layer
		panic(err) // the op may be one of an earlier layer
	}
	if inner := (*LayerError)(nil); errors.As(err, &inner) {
		panic(&LayerError{number + "." + inner.Path, inner.Layer, inner.Err})
	}
	panic(&LayerError{number, describe(layer), err})
}

// isNil reports whether a layer is nil, or a nil pointer to a layer of this package. A nil
// pointer to another type may have a Forward that works.
func isNil(layer Module) bool {
	if layer == nil {
		return true
	}
	v := reflect.ValueOf(layer)
	return v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().PkgPath() == reflect.TypeFor[LayerError]().PkgPath()
}

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
