package lower

// A function type that mentions itself has interface{} in place of itself, because yaegi never finishes such a type:
//
//	type State func(*M) State     ->  type Stateʹ1 func(*Mʹ1) interface{}
//	s = s(m)                      ->  s = unpackʹ1(s(m))
//	var s State = start           ->  var s Stateʹ1 = wrapʹ1(startʹ1), which packs the result of start
//	return next, in a func(*M) State -> return wrapʹ1(nextʹ1)

import (
	"fmt"
	"go/types"

	"github.com/quernlab/quern/interp/lower/layout"
)

// selfReferring returns t as a function type that refers to itself, if layout.Packed holds for it. Package layout
// creates the other types that refer to themselves.
func selfReferring(t types.Type) (*types.Named, *types.Signature) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !Interpreted(n) {
		return nil, nil
	}
	if !layout.Packed(n) {
		return nil, nil
	}
	return n, n.Underlying().(*types.Signature)
}

// convertFunction converts between a self-referring function type and a function type literal.
func (e *emitter) convertFunction(x string, from, to types.Type) string {
	toNamed, _ := selfReferring(to)
	fromNamed, _ := selfReferring(from)
	_, fromWritten := from.(*types.Signature)
	_, toWritten := to.(*types.Signature)
	switch {
	case toNamed != nil && fromWritten:
		return e.wrapSelf(toNamed, true) + "(" + x + ")"
	case fromNamed != nil && toWritten:
		return e.wrapSelf(fromNamed, false) + "(" + x + ")"
	}
	return x
}

// wrapSelf returns the name of a function that converts a function to the self-referring type t or, if pack is false,
// the other way round.
func (e *emitter) wrapSelf(t *types.Named, pack bool) string {
	return e.helper("wrap", fmt.Sprintf("wrap #%d %t", e.Registry.ID(t), pack), func(name string) {
		sig := t.Underlying().(*types.Signature)
		self := func(v *types.Var) bool { return types.Identical(v.Type(), t) }
		typ := func(v *types.Var) string {
			if pack && self(v) {
				return "interface{}"
			}
			return e.typ(v.Type())
		}
		from, to := "func"+e.signature(sig, nil), e.typ(t)
		in, out := e.unpackSelf(t), e.packSelf(t)
		if !pack {
			from, to, in, out = to, from, out, in
		}
		var parameters, arguments, resultTypes, temps, results []string
		for i := range sig.Params().Len() {
			v, a := sig.Params().At(i), fmt.Sprintf("a%d", i)
			parameters = append(parameters, a+" "+typ(v))
			if self(v) {
				a = in + "(" + a + ")"
			}
			arguments = append(arguments, a)
		}
		for i := range sig.Results().Len() {
			v, r := sig.Results().At(i), fmt.Sprintf("r%d", i)
			resultTypes, temps = append(resultTypes, typ(v)), append(temps, r)
			if self(v) {
				r = out + "(" + r + ")"
			}
			results = append(results, r)
		}
		w := &e.out
		w.open("func %s(f %s) %s {", name, from, to)
		w.open("if f == nil {")
		w.line("return nil")
		w.close("}")
		w.open("return func(%s) (%s) {", list(parameters), list(resultTypes))
		if len(results) > 0 {
			w.line("%s := f(%s)", list(temps), list(arguments))
			w.line("return %s", list(results))
		} else {
			w.line("f(%s)", list(arguments))
		}
		w.close("}")
		w.close("}")
	})
}

// packSelf returns the name of the conversion of a value of t to its representation inside t.
func (e *emitter) packSelf(t *types.Named) string {
	return e.helper("pack", fmt.Sprintf("pack #%d", e.Registry.ID(t)), func(name string) {
		e.out.open("func %s(f %s) interface{} {", name, e.typ(t))
		e.out.open("if f == nil {")
		e.out.line("return nil")
		e.out.close("}")
		e.out.line("return f")
		e.out.close("}")
	})
}

// unpackSelf returns the name of the inverse of packSelf.
func (e *emitter) unpackSelf(t *types.Named) string {
	return e.helper("unpack", fmt.Sprintf("unpack #%d", e.Registry.ID(t)), func(name string) {
		e.out.open("func %s(x interface{}) %s {", name, e.typ(t))
		e.out.open("if x == nil {")
		e.out.line("return nil")
		e.out.close("}")
		e.out.line("return x.(%s)", e.typ(t))
		e.out.close("}")
	})
}
