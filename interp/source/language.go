package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
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

// omitDead empties the blocks of if statements whose condition is the constant false, as in
//
//	if runtime.GOOS == "windows" { … }
//	if trace { … }
//
// so that nothing is reached through them. It leaves those with an else, which may have to end in a terminating statement, and
// those with labels.
func omitDead(n ast.Node, info *types.Info) {
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || s.Else != nil || len(s.Body.List) == 0 {
			return true
		}
		if v := info.Types[s.Cond].Value; v != nil && !constant.BoolVal(v) && !hasLabel(s.Body) {
			s.Body.List = nil
		}
		return true
	})
}

func hasLabel(block *ast.BlockStmt) (found bool) {
	ast.Inspect(block, func(n ast.Node) bool {
		_, label := n.(*ast.LabeledStmt)
		found = found || label
		return !found
	})
	return found
}
