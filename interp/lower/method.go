package lower

// Methods:
//
//	x.M(a), pointer receiver    ->  PʹMʹ1(&x, a)
//	x.M(a), promoted            ->  BaseʹMʹ1(x.Base, a)
//	i.M(a), interpreted interface -> callʹMʹ1(i, a), a dispatcher
//	t.Method(i), t a reflect.Type -> rtʹ.TypeMethod(t, i)
//	v.Len(), v a reflect.Value  ->  rtʹ.ValidValue(v, "Len").Len()
//	m.Report(ctx), of a package of Quern -> callʹReportʹ1(m, ctx), a dispatcher
//	t.Execute(w, p), t a template -> rtʹ.TextExecute(t, w, rtʹ.Box(17, p))
//	x.M, as a value             ->  func(r *Pʹ1) func(A) R { return func(a0 A) R { return PʹMʹ1(r, a0) } }(&x)
//	P.M, as a value             ->  func(r Pʹ1, a0 A) R { return PʹMʹ1(r, a0) }
//
// and for calls through interfaces the methods of T and *T, also promoted ones, are registered:
//
//	rtʹ.Register(17, "M", func(x interface{}, a0 A) R { r := x.(Pʹ1); return PʹMʹ1(r, a0) })
//
// yaegi's method values lose their receiver, its embedding promotes methods incorrectly, and its structs
// have no methods that compiled code could see.

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
)

// methodCall returns the call of the method m on x of type t, with the receiver as the only argument so
// far. sig is the signature of m for the receiver's type arguments, own are the arguments of its own type
// parameters. x must be the value that has the method, after all embedded fields.
func (e *emitter) methodCall(x string, t types.Type, m *types.Func, sig *types.Signature, own []types.Type) *call {
	n, pointer := named(t)
	ends := !dynamic(t) && endsWithContext(m)
	if ends && types.NewMethodSet(t).Lookup(m.Pkg(), m.Name()) == nil {
		x = addressOf(x)
	}
	if dynamic(t) || ends {
		return &call{function: e.dispatcher(m, sig), fixed: true, dynamic: origin.MethodKey(m), slices: true,
			arguments: []argument{{x, "interface{}"}}}
	}
	if types.IsInterface(t) || n == nil || !Interpreted(n) {
		if function, ok := replaced[m.FullName()]; ok {
			if _, isPointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); isPointer && !pointer {
				x, t = addressOf(x), types.NewPointer(t)
			}
			return &call{function: e.importAs("quern/rt", "rtʹ") + "." + function, fixed: true, arguments: []argument{{x, e.typ(t)}}}
		}
		if isReflectValue(m.Signature().Recv().Type()) && !rt.WorksOnZero[m.Name()] {
			if pointer {
				x, t = "(*"+x+")", t.Underlying().(*types.Pointer).Elem()
			}
			x = e.rt("ValidValue", x, strconv.Quote(m.Name()))
		}
		c := &call{receiver: x, receiverType: e.typ(t), method: m.Name()}
		if _, isPointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); isPointer && !pointer && !types.IsInterface(t) {
			c.byAddress = true
		}
		return c
	}
	typ := e.typ(n)
	if _, isPointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); isPointer {
		typ = "*" + typ
		if !pointer {
			x = addressOf(x)
		}
	} else if pointer {
		x = "(*" + x + ")"
	}
	return &call{function: e.methodName(n, m, own), fixed: true, arguments: []argument{{x, typ}}}
}

// endsWithContext reports whether m is a method of a compiled package of Quern that uses a context only until it returns.
// Calls of it are dynamic: the run time then makes it end when its cell is interrupted, like such functions.
func endsWithContext(m *types.Func) bool {
	if m.Pkg() == nil || !strings.HasPrefix(m.Pkg().Path(), stack.Module) || isSource(m.Pkg()) {
		return false
	}
	in, out := m.Signature().Params(), m.Signature().Results()
	return in.Len() > 0 && out.Len() > 0 && isContext(in.At(0).Type()) && isError(out.At(out.Len()-1).Type())
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Context" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}

// replaced maps methods of compiled types to their replacements in the run time. Those of package reflect must
// know the methods of interfaces of cells, those of loggers and tests the stack.
var replaced = map[string]string{
	"(reflect.Type).AssignableTo":     "TypeAssignableTo",
	"(reflect.Type).ConvertibleTo":    "TypeConvertibleTo",
	"(reflect.Type).Implements":       "TypeImplements",
	"(reflect.Type).Method":           "TypeMethod",
	"(reflect.Type).MethodByName":     "TypeMethodByName",
	"(reflect.Type).Methods":          "TypeMethods",
	"(reflect.Type).NumMethod":        "TypeNumMethod",
	"(reflect.Value).Set":             "ValueSet",
	"(reflect.Value).SetMapIndex":     "ValueSetMapIndex",
	"(reflect.Value).Send":            "ValueSend",
	"(reflect.Value).TrySend":         "ValueTrySend",
	"(reflect.Value).Convert":         "ValueConvert",
	"(reflect.Value).CanConvert":      "ValueCanConvert",
	"(reflect.Value).NumMethod":       "ValueNumMethod",
	"(reflect.Value).Method":          "ValueMethod",
	"(reflect.Value).MethodByName":    "ValueMethodByName",
	"(reflect.Value).Methods":         "ValueMethods",
	"(reflect.Value).Pointer":         "ValuePointer",
	"(reflect.Value).Index":           "ValueIndex",
	"(reflect.Value).Slice":           "ValueSlice",
	"(reflect.Value).Slice3":          "ValueSlice3",
	"(reflect.Value).Call":            "ValueCall",
	"(reflect.Value).CallSlice":       "ValueCallSlice",
	"(*log.Logger).Output":            "LogOutput",
	"(*log.Logger).SetOutput":         "SetLogOutput",
	"(*log.Logger).Fatal":             "LogFatal",
	"(*log.Logger).Fatalf":            "LogFatalf",
	"(*log.Logger).Fatalln":           "LogFatalln",
	"(*flag.FlagSet).Parse":           "FlagParse",
	"(*flag.FlagSet).Bool":            "FlagBool",
	"(*flag.FlagSet).BoolFunc":        "FlagBoolFunc",
	"(*flag.FlagSet).BoolVar":         "FlagBoolVar",
	"(*flag.FlagSet).Duration":        "FlagDuration",
	"(*flag.FlagSet).DurationVar":     "FlagDurationVar",
	"(*flag.FlagSet).Float64":         "FlagFloat64",
	"(*flag.FlagSet).Float64Var":      "FlagFloat64Var",
	"(*flag.FlagSet).Func":            "FlagFunc",
	"(*flag.FlagSet).Int":             "FlagInt",
	"(*flag.FlagSet).IntVar":          "FlagIntVar",
	"(*flag.FlagSet).Int64":           "FlagInt64",
	"(*flag.FlagSet).Int64Var":        "FlagInt64Var",
	"(*flag.FlagSet).String":          "FlagString",
	"(*flag.FlagSet).StringVar":       "FlagStringVar",
	"(*encoding/json.Decoder).Decode": "JSONDecode",
	"(*encoding/gob.Decoder).Decode":  "DecodeGob",
	"(*flag.FlagSet).TextVar":         "FlagTextVar",
	"(*flag.FlagSet).Var":             "FlagVar",
	"(*flag.FlagSet).Uint":            "FlagUint",
	"(*flag.FlagSet).UintVar":         "FlagUintVar",
	"(*flag.FlagSet).Uint64":          "FlagUint64",
	"(*flag.FlagSet).Uint64Var":       "FlagUint64Var",

	"(*net/http.Server).ListenAndServe":    "ListenAndServe",
	"(*net/http.Server).ListenAndServeTLS": "ListenAndServeTLS",
	"(*net/http.Server).Serve":             "Serve",
	"(*net/http.Server).ServeTLS":          "ServeTLS",

	"(*net/http.ServeMux).Handle":     "MuxHandle",
	"(*net/http.ServeMux).HandleFunc": "MuxHandleFunc",
	"(*net/http.ServeMux).Handler":    "MuxHandler",

	"(*testing.B).Run":          "BenchmarkRun",
	"(*testing.B).RunParallel":  "BenchmarkParallel",
	"(*testing.F).Fuzz":         "FuzzRun",
	"(*testing.M).Run":          "TestsRun",
	"(*testing.T).Parallel":     "TestParallel",
	"(*testing.T).Run":          "TestRun",
	"(*testing.common).Cleanup": "TestCleanup",
	"(testing.TB).Cleanup":      "TestCleanup",

	"(*testing.common).Error":  "TestError",
	"(*testing.common).Errorf": "TestErrorf",
	"(*testing.common).Fatal":  "TestFatal",
	"(*testing.common).Fatalf": "TestFatalf",
	"(*testing.common).Helper": "TestHelper",
	"(*testing.common).Log":    "TestLog",
	"(*testing.common).Logf":   "TestLogf",
	"(*testing.common).Skip":   "TestSkip",
	"(*testing.common).Skipf":  "TestSkipf",
	"(testing.TB).Error":       "TestError",
	"(testing.TB).Errorf":      "TestErrorf",
	"(testing.TB).Fatal":       "TestFatal",
	"(testing.TB).Fatalf":      "TestFatalf",
	"(testing.TB).Helper":      "TestHelper",
	"(testing.TB).Log":         "TestLog",
	"(testing.TB).Logf":        "TestLogf",
	"(testing.TB).Skip":        "TestSkip",
	"(testing.TB).Skipf":       "TestSkipf",

	"(*strings.Builder).Grow": "GrowBuilder",
	"(*bytes.Buffer).Grow":    "GrowBuffer",
}

// methodName returns the name of the function that a method of an interpreted type is lowered to.
func (e *emitter) methodName(n *types.Named, m *types.Func, own []types.Type) string {
	if n.TypeArgs().Len() > 0 || len(own) > 0 {
		return e.methodInstance(n, m.Name(), own)
	}
	if name, ok := e.names[m.Origin()]; ok {
		return name
	}
	if declared := e.methods[n.Obj()]; declared != nil {
		if decl := declared.byName[m.Name()]; decl != nil {
			o := e.Info.Defs[decl.Name]
			if name, ok := e.names[o]; ok {
				return name
			}
			// It is a method of a type of a generic source.
			name := e.fresh(n.Obj().Name() + "ʹ" + m.Name())
			set(e.Program, e.names, o, name)
			e.queue = append(e.queue, func() { e.functionDeclaration(decl, name, nil) })
			return name
		}
	}
	panic("the method " + m.FullName() + " has no declaration")
}

func addressOf(x string) string {
	if inner, ok := strings.CutPrefix(x, "(*"); ok && strings.HasSuffix(inner, ")") {
		inner = inner[:len(inner)-1]
		depth := 0
		for _, r := range inner {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth < 0 {
				return "&" + x
			}
		}
		return inner
	}
	return "&" + x
}

// embedded adds the selectors of the embedded fields on the way to a member of x, up to a compiled type.
// yaegi knows the promoted members of a compiled type, whose embedded fields may be unexported.
func (e *emitter) embedded(x string, t types.Type, path []int) (string, types.Type) {
	for _, i := range path {
		if isCompiled(t) {
			break
		}
		s := under(t).(*types.Struct)
		x += "." + layout.FieldName(s, i)
		t = s.Field(i).Type()
	}
	return x, t
}

// isCompiled reports whether t, or its pointer target, is a compiled named type.
func isCompiled(t types.Type) bool {
	n, _ := named(t)
	return n != nil && !Interpreted(n)
}

// field returns the selector expression for the field at the end of path.
func (e *emitter) field(x string, t types.Type, path []int) string {
	last := len(path) - 1
	for i := range path {
		if isCompiled(t) {
			for _, j := range path[i:last] {
				t = under(t).(*types.Struct).Field(j).Type()
			}
			return x + "." + under(t).(*types.Struct).Field(path[last]).Name()
		}
		x, t = e.embedded(x, t, path[i:i+1])
	}
	return x
}

// selectMethod returns the call of the method that e, with the selection sel, selects on x.
func (f *functionTypes) selectMethod(e *ast.SelectorExpr, x string, t types.Type, sel *types.Selection) *call {
	own, _ := f.arguments(e.Sel)
	m, path := sel.Obj().(*types.Func), sel.Index()
	if f.env != nil {
		// The type checker recorded a type parameter, or a type that contains one.
		o, index, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
		if found, ok := o.(*types.Func); ok {
			m, path = found, index
		}
	}
	x, t = f.embedded(x, t, path[:len(path)-1])
	if n, _ := named(t); own != nil && (n == nil || !Interpreted(n)) {
		f.unsupported(e, "the generic method "+m.FullName(), "package reflect does not have it, and its source is not part of the kernel")
	}
	return f.methodCall(x, t, m, m.Signature(), own)
}

func tail(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for i := 1; i < t.Len(); i++ {
		vars = append(vars, t.At(i))
	}
	return types.NewTuple(vars...)
}

// methodValue lowers x.M that is not called.
func (f *function) methodValue(e *ast.SelectorExpr, sel *types.Selection) string {
	c := f.selectMethod(e, f.expr(e.X), f.typeOf(e.X), sel)
	sig := f.selected(e, sel)
	identity := ""
	if c.fixed && len(sel.Index()) == 1 {
		identity = fmt.Sprintf("const %s = %q; ", Identity, c.function)
	}
	x, typ := c.bindReceiver("r")
	if typ == "interface{}" {
		// Go panics when it creates the method value of a nil interface.
		check := f.rt("Method", "r", strconv.Quote(origin.MethodKey(sel.Obj())))
		return fmt.Sprintf("func(r %s) func%s { %s; return %s }(%s)", typ, f.signature(sig), check, f.forward(c, sig, nil, sel.Obj().(*types.Func), identity), x)
	}
	return fmt.Sprintf("func(r %s) func%s { return %s }(%s)", typ, f.signature(sig), f.forward(c, sig, nil, sel.Obj().(*types.Func), identity), x)
}

// methodExpression lowers T.M.
func (f *functionTypes) methodExpression(e *ast.SelectorExpr, sel *types.Selection) string {
	sig := f.selected(e, sel)
	recv := f.subst(sel.Recv())
	c := f.selectMethod(e, "r", recv, sel)
	parameters := sig.Params()
	if _, ok := f.Info.Instances[e.Sel]; !ok { // the signature of an instance does not include the receiver
		parameters = tail(parameters)
	}
	rest := types.NewSignatureType(nil, nil, nil, parameters, sig.Results(), sig.Variadic())
	return f.forward(c, rest, []string{"r " + f.typ(recv)}, sel.Obj().(*types.Func), "")
}

// selected returns the signature of the method that e selects, with its type arguments.
func (f *functionTypes) selected(e *ast.SelectorExpr, sel *types.Selection) *types.Signature {
	if in, ok := f.Info.Instances[e.Sel]; ok {
		return f.subst(in.Type).(*types.Signature)
	}
	return f.subst(sel.Type()).(*types.Signature)
}

// forward renders a function literal with the parameters first, followed by those of sig. It makes the call
// c of the method m with the latter. The literal begins with the text begin.
func (e *emitter) forward(c *call, sig *types.Signature, first []string, m *types.Func, begin string) string {
	parameters := first
	for i := range sig.Params().Len() {
		a := fmt.Sprintf("a%d", i)
		t := sig.Params().At(i).Type()
		text := e.typ(t)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			parameters = append(parameters, a+" ..."+e.typ(t.Underlying().(*types.Slice).Elem()))
		} else {
			parameters = append(parameters, a+" "+text)
		}
		c.arguments = append(c.arguments, argument{a, text})
	}
	c.spread = sig.Variadic() && !c.slices
	return "func(" + list(parameters) + ") (" + list(e.typeTexts(sig.Results())) + ") { " + begin + e.forwards(c, m) + returning(sig) + c.text() + " }"
}

func returning(sig *types.Signature) string {
	if sig.Results().Len() > 0 {
		return "return "
	}
	return ""
}

func (e *emitter) typeTexts(t *types.Tuple) []string {
	out := make([]string, t.Len())
	for i := range out {
		out[i] = e.typ(t.At(i).Type())
	}
	return out
}
