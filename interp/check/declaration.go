package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/facts"
)

// A declaration is a function, a method, or a group of types or constants of a committed
// cell. It is stored as text so that it can be checked again when a name that it uses is
// redefined.
type declaration struct {
	keys         []string // names, or "T.M" for a method
	cell         int
	program      bool // the cell has a package clause
	line, column int
	text         string                    // without doc comment
	body         int                       // offset of the opening brace of a function in text, or -1
	doc          string                    // text of the preceding comment
	uses         map[string]bool           // keys of the declarations of the session that it mentions
	packages     map[string]*types.Package // packages of modules that it mentions, by import path
	qualifiers   map[string]string         // packages that it mentions: name to import path
	isType       bool
	changes      []bool // which parameters a function may change, see effects.go; the first is the receiver
}

// receiver returns the type that a method belongs to, or "".
func (d *declaration) receiver() string {
	if t, _, ok := strings.Cut(d.keys[0], "."); ok {
		return t
	}
	return ""
}

// describe sets the fields that follow from the syntax.
func (d *declaration) describe(fset *token.FileSet, decl ast.Decl) {
	d.body = -1
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		key := decl.Name.Name
		if decl.Recv != nil {
			base, _ := facts.ReceiverBase(decl)
			key = base + "." + key
		}
		d.keys = []string{key}
		if decl.Body != nil {
			d.body = fset.PositionFor(decl.Body.Lbrace, false).Offset - fset.PositionFor(decl.Pos(), false).Offset
		}
	case *ast.GenDecl:
		d.isType = decl.Tok == token.TYPE
		for _, s := range decl.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				d.keys = append(d.keys, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					d.keys = append(d.keys, n.Name)
				}
			}
		}
	}
}

// mentions returns the package-level names and the methods of the session that decl uses.
func (c *Checker) mentions(decl ast.Node, info *types.Info) map[string]bool {
	uses := map[string]bool{}
	ast.Inspect(decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := info.Uses[id]
		if o == nil || o.Pkg() != c.pkg {
			return true
		}
		if t := c.hidden[o.Name()]; t != nil && o == t {
			uses[o.Name()+hiddenSuffix] = true
		} else if o.Parent() == c.pkg.Scope() {
			uses[o.Name()] = true
		} else if f, ok := o.(*types.Func); ok {
			if key := methodKey(f); key != "" {
				uses[key] = true
			}
		}
		return true
	})
	return uses
}

// methodKey returns "T.M" for a method of a named type, or "".
func methodKey(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return ""
}
