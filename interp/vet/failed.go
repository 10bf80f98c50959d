package vet

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/format"
)

// failed has what cells with errors would have defined. Later cells that use it have errors which say nothing new.
type failed struct {
	names   map[string]bool
	modules []string // paths of modules that %get could not provide
}

// cell notes the names that a cell with errors defines.
func (f *failed) cell(src string) {
	if f.names == nil {
		f.names = map[string]bool{}
	}
	for _, name := range format.Defined(src) {
		f.names[name] = true
	}
}

// defined notes that a cell without errors defines names.
func (f *failed) defined(src string) {
	if len(f.names) == 0 {
		return
	}
	for _, name := range format.Defined(src) {
		delete(f.names, name)
	}
}

// module notes a module that is not available.
func (f *failed) module(path string) { f.modules = append(f.modules, path) }

// The errors of the checker about names and packages.
var (
	undefined   = regexp.MustCompile(`^undefined: ([\pL_][\pL\pN_]*)`)
	unavailable = regexp.MustCompile(`package "([^"]+)" cannot be imported`)
)

// findBelow adds to the findings about undefined names where a cell below defines them.
func (s *Session) findBelow() {
	for i := range s.findings {
		f := &s.findings[i]
		m := undefined.FindStringSubmatch(f.Message)
		if m == nil || f.Below > 0 {
			continue
		}
		for _, c := range s.texts {
			if c.Number > f.Cell && slices.Contains(format.Defined(c.Source), m[1]) {
				f.Below = c.Number
				f.Message += fmt.Sprintf("; cell %d, below, defines it", c.Number)
				break
			}
		}
	}
}

// independent returns the errors that do not only follow from those of an earlier cell.
func (f *failed) independent(errs check.ErrorList) check.ErrorList {
	var list check.ErrorList
	for _, e := range errs {
		if m := undefined.FindStringSubmatch(e.Msg); m != nil && f.names[m[1]] {
			continue
		}
		if m := unavailable.FindStringSubmatch(e.Msg); m != nil && f.isOf(m[1]) {
			continue
		}
		list = append(list, e)
	}
	return list
}

func (f *failed) isOf(importPath string) bool {
	for _, path := range f.modules {
		if importPath == path || strings.HasPrefix(importPath, path+"/") || strings.HasPrefix(path, importPath+"/") {
			return true
		}
	}
	return false
}
