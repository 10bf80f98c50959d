package lower

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Reach is the set of objects that later cells can still mention; see check.Reach.
type Reach interface {
	Object(types.Object) bool
	Type(types.Type) bool
}

// Roots returns objects that a later cell may replace although no cell can mention them: the latest functions of their
// names.
func (p *Program) Roots() []types.Object {
	var roots []types.Object
	for d, v := range p.versions {
		if d.receiver == nil {
			roots = append(roots, v.object)
		}
	}
	return roots
}

// Sweep removes definitions that later cells have replaced. Compiled code itself keeps alive what it uses. dead are the
// identifiers of types that no later cell can mention. No unit may be pending.
func (p *Program) Sweep(reach Reach, dead map[int]bool) {
	names := map[string]bool{} // of removed definitions
	gone := func(o types.Object) bool { return !reach.Object(o) }
	maps.DeleteFunc(p.names, func(o types.Object, name string) bool {
		if gone(o) {
			names[name] = true
			return true
		}
		return false
	})
	for key, args := range p.arguments {
		if reach.Object(key.object) && !slices.ContainsFunc(args, func(t types.Type) bool { return !reach.Type(t) }) {
			continue
		}
		if name, ok := p.instances[key]; ok {
			names[name] = true
			delete(p.instances, key)
		}
		delete(p.arguments, key)
		if p.fast != nil {
			p.fast.Forget(key)
		}
	}
	for {
		n := len(names)
		maps.DeleteFunc(p.helpers, func(key, name string) bool {
			if mentions(key, names, dead) {
				names[name] = true
				return true
			}
			return false
		})
		if len(names) == n {
			break
		}
	}
	maps.DeleteFunc(p.generics, func(o types.Object, _ *ast.FuncDecl) bool { return gone(o) })
	maps.DeleteFunc(p.recovering, func(o types.Object, _ bool) bool { return gone(o) })
	maps.DeleteFunc(p.methods, func(o *types.TypeName, _ *methods) bool { return gone(o) })
	maps.DeleteFunc(p.versions, func(d declaration, v version) bool { return d.receiver != nil && gone(d.receiver) })
	for o, list := range p.existing {
		list = slices.DeleteFunc(slices.Clone(list), func(n *types.Named) bool { return !reach.Type(n) })
		if gone(o) || len(list) == 0 {
			delete(p.existing, o)
		} else {
			p.existing[o] = list
		}
	}
	p.layout.Sweep(reach.Type)
	if p.fast != nil {
		p.fast.Sweep(func(key any) bool {
			o, ok := key.(types.Object)
			return ok && gone(o)
		}, names, dead)
	}
}

// mentions reports whether the key of a helper contains one of the names, or the identifier of a dead type after a #.
func mentions(key string, names map[string]bool, dead map[int]bool) bool {
	for _, word := range words(key) {
		if names[word] {
			return true
		}
		if text, ok := strings.CutPrefix(word, "#"); ok {
			if n, err := strconv.Atoi(text); err == nil && dead[n] {
				return true
			}
		}
	}
	return false
}

// noteMentions records the names in code that may run after the cell has ended: all code except the statements of the cell
// outside of function literals. A variable that only such statements mention is not needed once its name is not.
func (e *emitter) noteMentions(declarations, body string) {
	called := map[string]bool{} // by the body itself
	for _, name := range e.functions {
		called[name] = true
	}
	for line := range strings.Lines(declarations) {
		for i, word := range words(line) {
			if strings.Contains(word, "ʹ") && !called[word] && !(i == 1 && strings.HasPrefix(line, "var ")) {
				e.mentioned[word] = true
			}
		}
	}
	if _, statements, _ := strings.Cut(body, "\n"); strings.Contains(statements, "func(") {
		e.noteLiterals(statements)
	}
}

// noteLiterals records the names in the function literals of a text. It treats the rest of a statement after a function type
// as part of a literal.
func (e *emitter) noteLiterals(text string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), nil, 0)
	inside, depth := false, 0
	for {
		_, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return
		case token.FUNC:
			if !inside {
				inside, depth = true, 0
			}
		case token.LBRACE:
			if inside {
				depth++
			}
		case token.RBRACE:
			if inside && depth > 0 {
				depth--
			}
		case token.SEMICOLON:
			inside = depth > 0
		case token.IDENT:
			if inside && strings.Contains(literal, "ʹ") {
				e.mentioned[literal] = true
			}
		}
	}
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r != '#' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Groups returns the groups of functions that a later cell may declare again.
func (p *Program) Groups() map[string]bool {
	groups := map[string]bool{}
	for _, v := range p.versions {
		groups[v.group] = true
	}
	return groups
}

// Names returns the names that later lowered code can mention. Of the other names, mentioned has those of variables that code
// mentions which may still run.
func (p *Program) Names() (known, mentioned map[string]bool) {
	known, mentioned = map[string]bool{}, p.mentioned
	for _, names := range []iter.Seq[string]{maps.Values(p.names), maps.Values(p.instances), maps.Values(p.helpers)} {
		for name := range names {
			known[name] = true
			known[strings.TrimPrefix(name, compiledTypes+".")] = true
		}
	}
	for _, v := range p.versions {
		known[v.name] = true
	}
	p.mentioned = maps.Clone(mentioned)
	maps.DeleteFunc(p.mentioned, func(name string, _ bool) bool { return !known[strings.TrimSuffix(name, "ʹm")] })
	return known, mentioned
}
