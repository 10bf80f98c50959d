package lower

// Calls through interfaces find methods in tables, which lowered code fills when a type is declared, or when the method of a
// package is called for the first time; see method.go.

import (
	"fmt"
	"go/types"
	"slices"
	"strconv"

	"github.com/quernlab/quern/interp/origin"
)

// methodTables registers the methods of a declared type and of its pointer type.
func (e *emitter) methodTables(t *types.Named) {
	e.methodTable(t)
	e.methodTable(types.NewPointer(t))
}

// unnamedMethods registers the promoted methods of an unnamed type such as struct{ T }.
func (e *emitter) unnamedMethods(t types.Type) {
	if n, _ := named(t); n != nil && (Interpreted(n) || types.IsInterface(n)) {
		return
	}
	if types.NewMethodSet(t).Len() == 0 {
		return
	}
	e.helper("methods", fmt.Sprintf("methods #%d", e.Registry.ID(t)), func(string) { e.methodTable(t) })
}

// methodEntry registers a method of a package for its type and for pointers to that.
func (e *emitter) methodEntry(m *types.Func) {
	t := receiver(m.Signature())
	for _, t := range []types.Type{t, types.NewPointer(t)} {
		if sel := types.NewMethodSet(t).Lookup(m.Pkg(), m.Name()); sel != nil {
			e.methodEntries(t, sel)
		}
	}
}

// methodTable registers the methods of a type, apart from methods of packages that are compiled when they are called for
// the first time.
func (e *emitter) methodTable(t types.Type) {
	e.methodEntries(t, slices.Collect(types.NewMethodSet(t).Methods())...)
}

func (e *emitter) methodEntries(t types.Type, selections ...*types.Selection) {
	for _, sel := range selections {
		m, sig := sel.Obj().(*types.Func), sel.Type().(*types.Signature)
		if !m.Exported() && !origin.Interpreted(m.Pkg()) && !isSource(m.Pkg()) || m.Name() == "_" {
			continue
		}
		if sig.TypeParams() != nil { // no interface has this method
			continue
		}
		x, at := e.embedded("r", t, sel.Index()[:len(sel.Index())-1])
		if !e.hasDeclaration(at, m) {
			continue
		}
		c := e.methodCall(x, at, m, sig, nil)
		parameters := []string{"x interface{}"}
		for j := range sig.Params().Len() {
			a := fmt.Sprintf("a%d", j)
			parameters = append(parameters, a+" "+e.typ(sig.Params().At(j).Type()))
			c.arguments = append(c.arguments, argument{text: a})
		}
		c.spread = sig.Variadic() && !c.slices
		recv := "r := x.(" + e.typ(t) + ")"
		if isEmptyStruct(t) {
			recv = "var r " + e.typ(t)
		}
		if _, pointer := t.(*types.Pointer); pointer && len(sel.Index()) == 1 {
			if _, pointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); !pointer {
				name := types.TypeString(t.(*types.Pointer).Elem(), (*types.Package).Name) + "." + m.Name()
				recv += "; if r == nil { panic(" + e.rt("NilReceiver", strconv.Quote(name)) + ") }"
			}
		}
		literal := fmt.Sprintf("func(%s) (%s) { %s%s; %s%s }", list(parameters), list(e.typeTexts(sig.Results())), e.forwards(c, m), recv, returning(sig), c.text())
		e.registers = append(e.registers, e.rt("Register", strconv.Itoa(e.Registry.ID(t)), strconv.Quote(origin.MethodKey(m)), literal))
	}
}

// hasDeclaration reports whether the method m of t has been lowered, or will be when it is called.
func (e *emitter) hasDeclaration(t types.Type, m *types.Func) bool {
	n, _ := named(t)
	if n == nil || types.IsInterface(t) || !Interpreted(n) || n.TypeArgs().Len() > 0 || e.names[m.Origin()] != "" && !e.later[m.Origin()] {
		return true
	}
	declared := e.methods[n.Obj()]
	return declared != nil && declared.byName[m.Name()] != nil
}

// isEmptyStruct reports whether t is a struct without fields. yaegi panics on an assertion to such a type.
func isEmptyStruct(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}
