package describe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// Listed is a package in the output of go list.
type Listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string // path of the compiled package
	GoFiles    []string
	CgoFiles   []string
	Incomplete bool
	Error      *struct{ Err string }
	DepsErrors []struct{ Err string }
}

// Problem returns why a package is not compiled; "" if it is.
func (p Listed) Problem() string {
	switch {
	case p.Error != nil:
		return p.Error.Err
	case len(p.DepsErrors) > 0:
		return p.DepsErrors[0].Err
	case p.Export == "" && p.ImportPath != "unsafe":
		return "does not compile"
	}
	return ""
}

// A Build says where and how the go command compiles packages.
type Build struct {
	Dir         string   // working directory; empty for the current one
	Environment []string // the complete environment
	Flags       []string // of go list
}

// List compiles the packages of the patterns and returns them in the order of their paths, including packages that
// do not compile.
func (b Build) List(ctx context.Context, patterns ...string) ([]Listed, error) {
	arguments := slices.Concat([]string{"list", "-e", "-export",
		"-json=ImportPath,Name,Dir,Export,GoFiles,CgoFiles,Incomplete,Error,DepsErrors"}, b.Flags, patterns)
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir, command.Env = b.Dir, b.Environment
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var packages []Listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// Importable reports whether other modules may import the package.
func Importable(path string) bool {
	for element := range strings.SplitSeq(path, "/") {
		if element == "internal" || element == "vendor" || element == "testdata" {
			return false
		}
	}
	return true
}

// Read returns the types of a compiled package.
func Read(p Listed) (*types.Package, error) {
	if p.ImportPath == "unsafe" {
		return types.Unsafe, nil
	}
	f, err := os.Open(p.Export)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", p.ImportPath, err)
	}
	defer f.Close()
	in, err := gcexportdata.NewReader(f) //nolint:staticcheck // go list -export names archives up to Go 1.28
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", p.ImportPath, err)
	}
	pkg, err := gcexportdata.Read(in, token.NewFileSet(), make(map[string]*types.Package), p.ImportPath)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", p.ImportPath, err)
	}
	return pkg, nil
}

// export returns the types of a package in indexed export format, without positions: they are not needed,
// and they change with every edit of the source.
func export(pkg *types.Package) ([]byte, error) {
	if pkg == types.Unsafe {
		return nil, nil
	}
	var b bytes.Buffer
	if err := gcexportdata.Write(&b, nil, pkg); err != nil {
		return nil, fmt.Errorf("types of %s: %w", pkg.Path(), err)
	}
	return b.Bytes(), nil
}
