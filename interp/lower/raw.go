package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// shims are functions that the compiled run time replaces:
//
//	errors.As(err, &t)     ->  rtʹ.ErrorsAs(err, rtʹ.Box(20, &t), 20)
//	reflect.TypeOf(p)      ->  rtʹ.TypeOf(rtʹ.Box(17, p))
//	fmt.Printf("%T", p)    ->  rtʹ.Printf("%T", rtʹ.Box(17, p))
//	log.Printf("%T", p)    ->  log.Printf("%s", rtʹ.Sprintf("%T", rtʹ.Box(17, p)))
var shims = map[string]string{
	"reflect.TypeOf":    "TypeOf",
	"reflect.DeepEqual": "DeepEqual",
}

// waits are methods that may wait forever. The compiled run time replaces them, to end the wait on
// an interrupt:
//
//	mu.Lock()    ->  rtʹ.Lock(&mu)
//	wg.Wait()    ->  rtʹ.WaitGroupWait(&wg)
var waits = map[string]string{
	"(*sync.Mutex).Lock":     "Lock",
	"(*sync.RWMutex).Lock":   "LockRW",
	"(*sync.RWMutex).RLock":  "RLock",
	"(*sync.WaitGroup).Wait": "WaitGroupWait",
}

// starts are methods that start a child process, for which the session provides the standard input:
//
//	out, err := cmd.Output()  ->  out, err := rtʹ.CommandOutput(cmd)
var starts = map[string]string{
	"(*os/exec.Cmd).Start":          "CommandStart",
	"(*os/exec.Cmd).Run":            "CommandRun",
	"(*os/exec.Cmd).Output":         "CommandOutput",
	"(*os/exec.Cmd).CombinedOutput": "CommandCombinedOutput",
}

// files are methods of files that the session replaces for the standard streams:
//
//	os.Stdout.Write(p)  ->  rtʹ.FileWrite(os.Stdout, p)
var files = map[string]string{
	"(*os.File).Read":        "FileRead",
	"(*os.File).Write":       "FileWrite",
	"(*os.File).WriteString": "FileWriteString",
}

// shim lowers the call of such a function.
func (f *function) shim(e *ast.CallExpr) (string, bool) {
	id := calleeIdent(e.Fun)
	if id == nil {
		return "", false
	}
	o, ok := f.Info.Uses[id].(*types.Func)
	if !ok || o.Pkg() == nil {
		return "", false
	}
	full := o.FullName()
	if full == "reflect.TypeFor" {
		args, _ := f.arguments(id)
		if len(args) == 1 {
			return f.rt("TypeFor", f.descriptor(args[0]), "(*"+f.typ(args[0])+")(nil)"), true
		}
	}
	if name, ok := files[full]; ok {
		if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && f.Info.Selections[sel] != nil && f.Info.Selections[sel].Kind() == types.MethodVal && len(e.Args) == 1 {
			c := f.selectMethod(sel, f.expr(sel.X), f.typeOf(sel.X), f.Info.Selections[sel])
			x, _ := c.bindReceiver("")
			return f.rt(name, x, f.exprTo(e.Args[0], o.Signature().Params().At(0).Type())), true
		}
	}
	name, ok := waits[full]
	if !ok {
		name, ok = starts[full]
	}
	if ok {
		if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && f.Info.Selections[sel] != nil && f.Info.Selections[sel].Kind() == types.MethodVal {
			c := f.selectMethod(sel, f.expr(sel.X), f.typeOf(sel.X), f.Info.Selections[sel])
			x, _ := c.bindReceiver("")
			return f.rt(name, x), true
		}
	}
	if len(e.Args) == 0 || e.Ellipsis.IsValid() && !strings.HasSuffix(full, "f") {
		return "", false
	}
	if _, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok {
		return "", false
	}
	if full == "errors.As" {
		target := f.typeOf(e.Args[1])
		id := "nil"
		if !types.IsInterface(target) {
			id = f.descriptor(target)
		}
		return f.rt("ErrorsAs", f.exprTo(e.Args[0], types.Universe.Lookup("error").Type()), f.exprTo(e.Args[1], anyType), id), true
	}
	if name, ok := shims[full]; ok {
		var arguments []string
		if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && f.Info.Selections[sel] != nil {
			c := f.selectMethod(sel, f.expr(sel.X), f.typeOf(sel.X), f.Info.Selections[sel])
			x, _ := c.bindReceiver("")
			arguments = append(arguments, x)
		}
		for i, x := range e.Args {
			arguments = append(arguments, f.exprTo(x, o.Signature().Params().At(i).Type()))
		}
		return f.rt(name, arguments...), true
	}
	return f.printShim(e, o)
}

// printShim lowers calls with a format string, if the format contains %T or %p or is not constant.
func (f *function) printShim(e *ast.CallExpr, o *types.Func) (string, bool) {
	sig := o.Signature()
	n := sig.Params().Len()
	if !strings.HasSuffix(o.Name(), "f") || !sig.Variadic() || n < 2 || origin.Interpreted(o.Pkg()) {
		return "", false
	}
	last := sig.Params().At(n - 1).Type().(*types.Slice).Elem()
	if !types.IsInterface(last) || !isEmptyInterface(last) || !types.Identical(sig.Params().At(n-2).Type(), types.Typ[types.String]) || len(e.Args) < n-1 {
		return "", false
	}
	if v := f.Info.Types[e.Args[n-2]].Value; v != nil && !asksForType(constant.StringVal(v)) {
		return "", false
	}
	var rest []string
	for _, x := range e.Args[n-2:] {
		rest = append(rest, f.exprTo(x, nil))
	}
	for i, x := range e.Args[n-1:] {
		if !e.Ellipsis.IsValid() {
			rest[i+1] = f.exprTo(x, anyType)
		}
	}
	if e.Ellipsis.IsValid() {
		rest[len(rest)-1] += "..."
	}
	if o.Pkg().Path() == "fmt" {
		switch o.Name() {
		case "Printf", "Sprintf", "Errorf":
			return f.rt(o.Name(), rest...), true
		case "Fprintf", "Appendf":
			return f.rt(o.Name(), append([]string{f.exprTo(e.Args[0], sig.Params().At(0).Type())}, rest...)...), true
		}
		return "", false
	}
	c := f.callee(e)
	for i, x := range e.Args[:n-2] {
		t := sig.Params().At(i).Type()
		c.arguments = append(c.arguments, argument{f.exprTo(x, t), f.typ(t)})
	}
	c.arguments = append(c.arguments, argument{text: `"%s"`}, argument{text: f.rt("Sprintf", rest...)})
	return c.text(), true
}

// asksForType reports whether a format has a verb T or p.
func asksForType(format string) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0; i++ {
		}
		if i < len(format) && (format[i] == 'T' || format[i] == 'p') {
			return true
		}
	}
	return false
}
