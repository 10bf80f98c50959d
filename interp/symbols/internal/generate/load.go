package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// listed is a package in the output of go list.
type listed struct {
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

// problem returns why a package is not compiled; "" if it is.
func (p listed) problem() string {
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

// target is a platform. cgo is always off; it does not change exported names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// archive returns the name of the file with the differences from home.
func (t target) archive() string { return "std_" + t.os + "_" + t.arch + ".zip" }

// list compiles the packages of the patterns for a platform and returns them in the order of their paths,
// including packages that do not compile.
func list(t target, patterns ...string) ([]listed, error) {
	arguments := append([]string{"list", "-e", "-export", "-trimpath",
		"-json=ImportPath,Name,Dir,Export,GoFiles,CgoFiles,Incomplete,Error,DepsErrors"}, patterns...)
	command := exec.Command("go", arguments...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w\n%s", t, err, stderr.Bytes())
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", t, err)
		}
		packages = append(packages, p)
	}
}

// importable reports whether other modules may import the package.
func importable(path string) bool {
	for element := range strings.SplitSeq(path, "/") {
		if element == "internal" || element == "vendor" || element == "testdata" {
			return false
		}
	}
	return true
}

// read returns the types of a compiled package.
func read(p listed) (*types.Package, error) {
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
