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

	"github.com/quernlab/quern/accel/internal/option"
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
