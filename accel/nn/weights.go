package nn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CorruptFileError reports a file of weights that is truncated or otherwise damaged, or an index
// that does not fit its files.
type CorruptFileError struct {
	Path string // of the file
	Err  error  // what is wrong with it
}

// Error names the file and what is wrong with it.
func (e *CorruptFileError) Error() string { return fmt.Sprintf("nn: load %s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong.
func (e *CorruptFileError) Unwrap() error { return e.Err }

// weightFiles are the tensors of one or several files.
type weightFiles struct {
	files map[string]*File // by path
	in    map[string]*File // by name of a tensor
}

func (w *weightFiles) names() []string                     { return slices.Sorted(maps.Keys(w.in)) }
func (w *weightFiles) shape(name string) []int             { return w.in[name].Shape(name) }
func (w *weightFiles) tensor(name string) (*Tensor, error) { return w.in[name].Tensor(name) }

func (w *weightFiles) close() error {
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

const (
	weightsName = "model.safetensors"
	indexName   = "model.safetensors.index.json"
)

// openWeights opens a file, all files of an index, or those of a folder.
func openWeights(path string) (*weightFiles, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		folder := path
		path = filepath.Join(folder, weightsName)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = filepath.Join(folder, indexName)
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("nn: load %s: the folder has neither %s nor %s: %w", folder, weightsName, indexName, fs.ErrNotExist)
			}
		}
	}
	if strings.HasSuffix(path, ".index.json") {
		return openShards(path)
	}
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	w := &weightFiles{map[string]*File{path: f}, map[string]*File{}}
	for _, name := range f.Names() {
		w.in[name] = f
	}
	return w, nil
}

// openShards opens the files of an index, as Hugging Face writes it.
func openShards(path string) (w *weightFiles, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("nn: load: %w", err)
	}
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, &CorruptFileError{path, fmt.Errorf("the index is not JSON: %w", err)}
	}
	if len(index.Map) == 0 {
		return nil, &CorruptFileError{path, errors.New("the index has no weight_map with the file of each tensor")}
	}
	w = &weightFiles{map[string]*File{}, map[string]*File{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(index.Map)) {
		shard := index.Map[name]
		if shard != filepath.Base(shard) || shard == ".." || shard == "." {
			return w, &CorruptFileError{path, fmt.Errorf("tensor %q is in %q, which is not a file beside the index", name, shard)}
		}
		at := filepath.Join(filepath.Dir(path), shard)
		f := w.files[at]
		if f == nil {
			if f, err = Open(at); err != nil {
				return w, err
			}
			w.files[at] = f
		}
		if _, ok := f.header.tensors[name]; !ok {
			return w, &CorruptFileError{at, fmt.Errorf("tensor %q is missing, but %s says that it is here", name, path)}
		}
		w.in[name] = f
	}
	return w, nil
}
