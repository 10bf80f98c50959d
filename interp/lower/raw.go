package lower

import (
	"go/ast"
	"go/types"
)

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

// replacement returns the symbol of the compiled run time that code of cells calls instead of a compiled function or method, and
// whether there is one.
func replacement(o *types.Func) (symbol string, ok bool) {
	full := o.FullName()
	for _, table := range []map[string]string{replaced, waits, starts, files} {
		if symbol, ok = table[full]; ok {
			return symbol, true
		}
	}
	return "", false
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
	return "", false
}
