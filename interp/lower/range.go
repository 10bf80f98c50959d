package lower

// Range loops, except over functions. Each iteration begins with a check for an interrupt.
//
//	for i := range 10                ->  for i := 0; i < 10; i++
//	for i := range n                 ->  for i, t1 := 0, n; i < t1; i++
//	for i := range p, *[3]T          ->  for i := 0; i < 3; i++
//	for k, x = range m               ->  for t1, t2 := range m { k = t1; x = t2 }
//	for i := range s { i++ }         ->  for t1 := range s { i := t1; i++ }
//	for i, c := range s, a string    ->  for i, t1 := 0, 0; i < len(s); i += t1 {
//	                                         c := rune(s[i]); t1 = 1
//	                                         if c >= 128 { c, t1 = utf8.DecodeRuneInString(s[i:]) }; ...
//	for _, c := range s, a []chan T  ->  for t1 := range s { c := s[t1]; ... }
//	for i, x := range p, *[3]T       ->  for i := range *p { x := (*p)[i]; ... }
//
// yaegi cannot range over an int. For a string, its indices are wrong after invalid UTF-8, and it copies
// the string in each iteration. It mistakes elements that are channels for the operand of the range. It
// uses the user's variable as its counter, and stores an array where there was a pointer to it.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

func (f *function) rangeLoop(w *writer, s *ast.RangeStmt, label string) {
	f.store(w, s.X, false)
	switch u := f.coreOf(s.X).(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			f.rangeInt(w, s, label)
		} else {
			f.rangeString(w, s, label)
		}
		return
	case *types.Signature:
		f.rangeFunc(w, s, label, u)
		return
	case *types.Chan:
		f.rangeChannel(w, s, label)
		return
	}
	if n, ok := f.rangesOverLength(w, s); ok {
		f.count(w, s, label, types.Typ[types.Int], strconv.FormatInt(n, 10), true)
		return
	}
	x := operand(f.expr(s.X))
	_, pointer := f.coreOf(s.X).(*types.Pointer)
	elements := pointer || f.yieldsChannels(s)
	switch {
	case elements:
		t := f.temp()
		w.line("var %s %s = %s", t, f.typ(f.typeOf(s.X)), x)
		x = t
		if pointer {
			x = "(*" + t + ")"
		}
	default:
		if _, ok := ast.Unparen(s.X).(*ast.CompositeLit); ok {
			x = "(" + x + ")"
		}
	}
	names := [2]string{"_", "_"}
	bind := [2]bool{}
	made := f.inMade(s.X)
	for i, e := range []ast.Expr{s.Key, s.Value} {
		raw := made && e != nil && f.losesName(f.elementType(s, i)) // see isRaw
		switch v := f.defined(e); {
		case e == nil || isBlank(e):
		case v != nil && !raw && !f.facts.Shared(v) && !f.globals[v] && (i == 1 || !f.facts.Changes(v)):
			names[i] = f.declare(v)
		default:
			names[i], bind[i] = f.temp(), true
		}
	}
	head := ""
	switch {
	case elements:
		if names[0] == "_" {
			names[0] = f.temp()
		}
		head = names[0] + " := "
	case names[1] != "_":
		head = names[0] + ", " + names[1] + " := "
	case names[0] != "_":
		head = names[0] + " := "
	}
	f.loop(w, label, "for "+head+"range "+x, func() {
		if elements {
			w.line("var %s %s = %s[%s]", names[1], f.typ(f.elementType(s, 1)), x, names[0])
		}
		f.bindYielded(w, s, names, bind)
	}, s.Body)
}

// losesName reports whether yaegi does not know the name of t, or of what t points to, for a value that is in a type created by
// package layout, or of the fields of such a value.
func (f *functionTypes) losesName(t types.Type) bool {
	if ofBasicKind(t) {
		return true
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !Interpreted(n) {
		return false
	}
	_, isStruct := n.Underlying().(*types.Struct)
	return isStruct && !isMade(f.typ(n))
}

// loop emits a loop whose body starts with the output of begin.
func (f *function) loop(w *writer, label, head string, begin func(), body *ast.BlockStmt) {
	t := f.push(&target{label: label, loop: true})
	f.frame.loops++
	f.label(w, t)
	w.open("%s {", head)
	f.interruptible(w)
	begin()
	f.statements(w, body.List)
	w.close("}")
	f.frame.loops--
	f.pop()
}

// bindYielded assigns the values of the variables names to the user's variables, where bind is set.
func (f *function) bindYielded(w *writer, s *ast.RangeStmt, names [2]string, bind [2]bool) {
	var targets []string
	if s.Tok == token.ASSIGN && bind[0] && bind[1] {
		targets = f.lvalues(w, []ast.Expr{s.Key, s.Value}) // before the first one is assigned
	}
	for i, e := range []ast.Expr{s.Key, s.Value} {
		if !bind[i] {
			continue
		}
		t := f.targetType(e)
		value := f.convert(names[i], f.elementType(s, i), t)
		switch v := f.defined(e); {
		case v != nil:
			f.defineFrom(w, v, t, value)
		case targets != nil:
			w.line("%s = %s", targets[i], value)
		default:
			w.line("%s = %s", f.target(w, e), value)
		}
	}
}

// yieldsChannels reports whether the loop uses the elements of a slice, array or map and these are
// channels.
func (f *functionTypes) yieldsChannels(s *ast.RangeStmt) bool {
	if s.Value == nil || isBlank(s.Value) {
		return false
	}
	c, ok := f.elementType(s, 1).Underlying().(*types.Chan)
	return ok && c.Dir() != types.SendOnly
}

// rangeString lowers a range over a string.
func (f *function) rangeString(w *writer, s *ast.RangeStmt, label string) {
	text, width := f.temp(), f.temp()
	w.line("var %s string = string(%s)", text, f.expr(s.X))
	names, bind := [2]string{}, [2]bool{}
	for i, e := range []ast.Expr{s.Key, s.Value} {
		v := f.defined(e)
		if e == nil || isBlank(e) || v == nil || f.facts.Shared(v) || f.globals[v] || i == 0 && f.facts.Changes(v) {
			names[i], bind[i] = f.temp(), e != nil && !isBlank(e)
		} else {
			names[i] = f.declare(v)
		}
	}
	decode := f.alias(types.NewPackage("unicode/utf8", "utf8")) + ".DecodeRuneInString"
	head := "for " + names[0] + ", " + width + " := 0, 0; " + names[0] + " < len(" + text + "); " + names[0] + " += " + width
	f.loop(w, label, head, func() {
		w.line("%s := rune(%s[%s])", names[1], text, names[0])
		w.line("%s = 1", width)
		w.line("if %s >= 128 { %[1]s, %s = %s(%s[%s:]) }", names[1], width, decode, text, names[0])
		f.bindYielded(w, s, names, bind)
	}, s.Body)
}

// elementType returns the type of the key (0) or value (1) that a range yields.
func (f *functionTypes) elementType(s *ast.RangeStmt, i int) types.Type {
	u := f.coreOf(s.X)
	if p, ok := u.(*types.Pointer); ok {
		u = p.Elem().Underlying()
	}
	switch u := u.(type) {
	case *types.Map:
		if i == 0 {
			return u.Key()
		}
		return u.Elem()
	case *types.Chan:
		return u.Elem()
	case *types.Slice:
		if i == 1 {
			return u.Elem()
		}
	case *types.Array:
		if i == 1 {
			return u.Elem()
		}
	case *types.Basic:
		if i == 1 {
			return types.Typ[types.Rune]
		}
	}
	return types.Typ[types.Int]
}

// rangesOverLength reports whether the loop only uses the length of an array, which is known even for a nil
// pointer. It emits a call in the operand.
func (f *function) rangesOverLength(w *writer, s *ast.RangeStmt) (int64, bool) {
	if s.Value != nil && !isBlank(s.Value) {
		return 0, false
	}
	x := ast.Unparen(s.X)
	star, ok := x.(*ast.StarExpr)
	if ok && !f.calls(s.X) {
		x = star.X // the pointer is not dereferenced
	}
	p, ok := f.coreOf(x).(*types.Pointer)
	if !ok {
		return 0, false
	}
	array, ok := p.Elem().Underlying().(*types.Array)
	if !ok {
		return 0, false
	}
	if f.calls(x) {
		f.discard(w, x)
	}
	return array.Len(), true
}

// calls reports whether e contains a call of a function or a receive.
func (f *functionTypes) calls(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			tv := f.Info.Types[n.Fun]
			found = !tv.IsType() && !tv.IsBuiltin()
		case *ast.UnaryExpr:
			found = n.Op == token.ARROW
		}
		return !found
	})
	return found
}

func (f *function) rangeInt(w *writer, s *ast.RangeStmt, label string) {
	t := types.Default(f.typeOf(s.X))
	if s.Key != nil && !isBlank(s.Key) {
		if v := f.defined(s.Key); v != nil {
			t = f.subst(v.Type())
		} else {
			t = f.typeOf(s.Key)
		}
	}
	if tv := f.Info.Types[s.X]; tv.Value != nil {
		f.count(w, s, label, t, f.constant(tv.Value, t), true)
	} else {
		f.count(w, s, label, t, f.ofNamedType(s.X, f.expr(s.X)), false)
	}
}

// count lowers a loop from 0 to a limit of type t.
func (f *function) count(w *writer, s *ast.RangeStmt, label string, t types.Type, limit string, constant bool) {
	v := f.defined(s.Key)
	typ := f.typ(t)
	zero := "0"
	if typ != "int" {
		zero = typ + "(0)"
	}
	own := v != nil && !f.facts.Shared(v) && !f.facts.Changes(v) && !f.globals[v]
	i := ""
	if own {
		i = f.declare(v)
	} else {
		i = f.temp()
	}
	head := i + " := " + zero
	if !constant {
		n := f.temp()
		head = i + ", " + n + " := " + zero + ", " + limit
		limit = n
	}
	f.loop(w, label, fmt.Sprintf("for %s; %s < %s; %[2]s++", head, i, limit), func() {
		switch {
		case own:
		case v != nil:
			f.defineFrom(w, v, t, i)
		case s.Key != nil && !isBlank(s.Key):
			w.line("%s = %s", f.expr(s.Key), i)
		}
	}, s.Body)
}
