package complete

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/origin"
)

// maxItems is the maximum number of completions: more than anybody reads, and few enough to describe and
// send at once.
const maxItems = 500

// list collects the completions that begin with a prefix.
type list struct {
	prefix     string
	items      []proposal
	seen       map[string]bool
	member     bool            // the cursor follows a dot
	checked    bool            // the checker knows the operand before the dot
	unimported map[string]bool // names of packages that are not imported yet
	expected   want            // of the expression at the cursor
	declared   []string        // names of the variables whose value is at the cursor
	called     bool            // arguments follow
	methods    bool            // the operand before the dot is a type, whose methods are functions
}

// A proposal is an item whose kind and type are computed only if it is among the best.
type proposal struct {
	text, kind, typ string // of the item

	object types.Object // determines the kind and type of the item; nil if they are set
	pkg    *types.Package
	rank   int // lower ones come first
}

func (l *list) empty() bool { return len(l.items) == 0 }

func (l *list) add(text, kind, typ string) {
	l.propose(proposal{text: text, kind: kind, typ: typ})
}

func (l *list) addObject(s *check.Sketch, o types.Object) {
	l.propose(proposal{text: o.Name(), object: o, pkg: s.Package})
}

func (l *list) propose(p proposal) {
	if !hasPrefixFold(p.text, l.prefix) || l.seen[p.text] || p.text == "_" || strings.Contains(p.text, "ʹ") {
		return
	}
	// Keys of a struct literal come first, then what has the type that is expected. Then names with the case of
	// the prefix come before others, and existing names before packages that are not imported yet.
	if v, ok := p.object.(*types.Var); !l.member && !(ok && v.IsField()) {
		p.rank += 8
	}
	switch path, isPackage := p.importPath(); {
	case isPackage && l.expected.isFrom(path):
		p.rank++ // what makes the value; behind what is one
	case l.expected.fitsWithDots(p.object):
		p.rank++
	case !l.expected.fits(p.object) || slices.Contains(l.declared, p.text):
		p.rank += unfit
	}
	if !strings.HasPrefix(p.text, l.prefix) {
		p.rank += 2
	}
	if l.unimported[p.text] {
		p.rank++
	}
	l.seen[p.text] = true
	if l.items = append(l.items, p); len(l.items) >= 2*maxItems {
		l.keepBest()
	}
}

// importPath returns the path of the package that p proposes.
func (p proposal) importPath() (path string, ok bool) {
	if name, ok := p.object.(*types.PkgName); ok {
		return origin.ImportPath(name.Imported()), true
	}
	return p.typ, p.kind == "module"
}

// unfit is the part of a rank that a proposal of another type than that expected has.
const unfit = 4

// recency orders proposals that fit: what the session has declared last comes first.
func (p proposal) recency() token.Pos {
	if p.rank&unfit != 0 || p.object == nil || p.object.Pkg() != p.pkg {
		return token.NoPos
	}
	return p.object.Pos()
}

// keepBest sorts the proposals and keeps the best maxItems.
func (l *list) keepBest() {
	slices.SortStableFunc(l.items, func(a, b proposal) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.recency(), a.recency()), cmp.Compare(a.text, b.text))
	})
	n := min(len(l.items), maxItems)
	for _, p := range l.items[n:] {
		delete(l.seen, p.text)
	}
	clear(l.items[n:])
	l.items = l.items[:n]
}

// bestItems returns the best proposals with their kinds and types.
func (l *list) bestItems() []Item {
	l.keepBest()
	items := make([]Item, len(l.items))
	for i, p := range l.items {
		if items[i] = (Item{Text: p.text, Kind: p.kind, Type: p.typ}); p.object != nil {
			items[i].Kind, items[i].Type = describe(p.pkg, p.object)
			if !l.called && !l.methods {
				items[i].Snippet = snippet(p.object, l.expected)
			}
		}
	}
	return items
}

// hasPrefixFold is strings.HasPrefix, ignoring case.
func hasPrefixFold(text, prefix string) bool {
	for _, want := range prefix {
		r, size := utf8.DecodeRuneInString(text)
		if size == 0 || r != want && unicode.ToLower(r) != unicode.ToLower(want) {
			return false
		}
		text = text[size:]
	}
	return true
}

// describe returns the kind and type of an object.
func describe(pkg *types.Package, o types.Object) (kind, typ string) {
	qualifier := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	switch o := o.(type) {
	case *types.Func:
		return "function", types.TypeString(o.Type(), qualifier)
	case *types.Builtin:
		return "function", ""
	case *types.TypeName:
		if types.Universe.Lookup(o.Name()) == o {
			return "type", ""
		}
		if _, ok := o.Type().Underlying().(*types.Struct); ok && o.Pkg() != pkg {
			return "type", "struct" // most of the fields of a compiled struct are unexported
		}
		if parameter, ok := o.Type().(*types.TypeParam); ok {
			return "type", types.TypeString(parameter.Constraint(), qualifier)
		}
		return "type", types.TypeString(o.Type().Underlying(), qualifier)
	case *types.Const:
		return "const", types.TypeString(o.Type(), qualifier)
	case *types.PkgName:
		return "module", origin.ImportPath(o.Imported())
	case *types.Var:
		if o.IsField() {
			return "field", types.TypeString(o.Type(), qualifier)
		}
		if _, ok := o.Type().Underlying().(*types.Signature); ok {
			return "function", types.TypeString(o.Type(), qualifier)
		}
		return "instance", types.TypeString(o.Type(), qualifier)
	}
	return "instance", ""
}
