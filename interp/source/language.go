package source

import (
	"go/ast"
	"go/token"
	"go/version"
	"runtime"
	"strings"
)

// ownLanguage is the language version of the files that the loader adds to packages.
var ownLanguage = version.Lang(strings.Fields(runtime.Version())[0])

// sharesLoopVariables returns a function that reports whether a position is in a file in a language before Go 1.22, whose
// loops have one variable for all iterations; nil if the package has no such file. The language of a file is that of its
// module, unless its build constraints name another one.
func (p *loadedPackage) sharesLoopVariables() func(token.Pos) bool {
	var old []*ast.File
	for _, f := range p.files {
		if v := p.info.FileVersions[f]; v != "" && version.Compare(v, "go1.22") < 0 {
			old = append(old, f)
		}
	}
	if len(old) == 0 {
		return nil
	}
	return func(pos token.Pos) bool {
		for _, f := range old {
			if f.FileStart <= pos && pos < f.FileEnd {
				return true
			}
		}
		return false
	}
}
