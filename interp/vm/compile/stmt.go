package compile

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/vm"
)

// target is a statement that break or continue can refer to.
type target struct {
	label string
	plain bool   // only a break with its label refers to it
	exit  *label // where break goes
	next  *label // where continue goes; nil if it is not a loop
	// through is where fallthrough goes; nil outside of a switch and in its last clause.
	through *label
}

// block compiles statements in a scope of their own.
func (c *compiler) block(list []ast.Stmt) {
	m := c.mark()
	c.list(list)
	c.release(m)
}

func (c *compiler) list(list []ast.Stmt) {
	recorded := c.recorded
	for i, s := range list {
		c.recorded = c.isRecordAt(list, i+1) || recorded && i == len(list)-1
		c.stmt(s, "")
	}
	c.recorded = recorded
	if !recorded {
		c.beforeNext(nil)
	}
}

// topLevel compiles the statements of a cell. What a statement leaves in registers does not keep anything alive while the next one runs:
// people collect garbage there, and look what is gone.
func (c *compiler) topLevel(list []ast.Stmt) {
	for i, s := range list {
		c.recorded = c.isRecordAt(list, i+1)
		c.stmt(s, "")
		if c.hasCalls(s) {
			c.clearUnused()
		}
	}
	c.beforeNext(nil)
}

// clearUnused clears the slots that are not in use.
func (c *code) clearUnused() {
	used := uintptr(c.slotsInUse) * vm.SlotSize
	c.native("clear unused slots", &vm.Native{Run: func(t *vm.Thread, _, sb unsafe.Pointer) { t.ClearSlots(sb, used) }})
}

// stmt compiles a statement. name is its label, or "".
func (c *compiler) stmt(s ast.Stmt, name string) {
	c.beforeNext(s)
	c.setPosition(s)
	c.hooksBefore(s)
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		c.breakable(name, func() { c.block(s.List) })
	case *ast.ExprStmt:
		m := c.mark()
		c.effect(s.X)
		c.release(m)
		c.afterWait(s.X)
	case *ast.AssignStmt:
		c.assign(s)
		c.afterWait(s)
	case *ast.IncDecStmt:
		m := c.mark()
		o := token.ADD
		if s.Tok == token.DEC {
			o = token.SUB
		}
		c.increment(s.X, o)
		c.release(m)
	case *ast.DeclStmt:
		c.declaration(s)
		c.afterWait(s)
	case *ast.IfStmt:
		c.breakable(name, func() { c.ifStmt(s) })
	case *ast.ForStmt:
		c.keep(s, name, func() { c.forStmt(s, name) })
	case *ast.RangeStmt:
		c.keep(s, name, func() { c.rangeStmt(s, name) })
	case *ast.SwitchStmt:
		c.switchStmt(s, name)
	case *ast.TypeSwitchStmt:
		c.typeSwitch(s, name)
	case *ast.ReturnStmt:
		c.returnStmt(s)
	case *ast.BranchStmt:
		c.branch(s)
	case *ast.SendStmt:
		m := c.mark()
		c.send(s)
		c.release(m)
	case *ast.GoStmt:
		c.goStatement(s)
	case *ast.SelectStmt:
		c.selectStmt(s, name)
	case *ast.DeferStmt:
		c.deferStatement(s)
	case *ast.LabeledStmt:
		c.bind(c.labelNamed(s.Label.Name))
		c.stmt(s.Stmt, s.Label.Name)
	default:
		panic(fmt.Sprintf("vm: the statement %T", s))
	}
	if _, head := s.(*ast.RangeStmt); !head {
		c.hooksAfter(s)
	}
}

// breakable compiles a statement that a break with the label name leaves.
func (c *compiler) breakable(name string, compile func()) {
	if name == "" {
		compile()
		return
	}
	t := &target{label: name, plain: true, exit: newLabel()}
	c.targets = append(c.targets, t)
	compile()
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

func (c *compiler) labelNamed(name string) *label {
	l, ok := c.labels[name]
	if !ok {
		l = newLabel()
		c.labels[name] = l
	}
	return l
}

// effect compiles an expression whose value is not used.
func (c *compiler) effect(e ast.Expr) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		if tv := c.source.Info.Types[call.Fun]; !tv.IsType() && !tv.IsBuiltin() {
			c.compileCall(call)
			return
		}
	}
	c.expr(e, nil)
}

func (c *compiler) branch(s *ast.BranchStmt) {
	name := ""
	if s.Label != nil {
		name = s.Label.Name
	}
	if s.Tok == token.GOTO && (c.iteration == nil || c.iteration.labels[name]) {
		c.jump(c.labelNamed(name), vm.OpLoop, 0, 0, 0)
		return
	}
	for i := len(c.targets) - 1; i >= 0; i-- {
		t := c.targets[i]
		switch {
		case s.Tok == token.FALLTHROUGH:
			if t.through != nil {
				c.jump(t.through, vm.OpJmp, 0, 0, 0)
				return
			}
		case name != "" && t.label != name, name == "" && t.plain:
		case s.Tok == token.BREAK:
			c.jump(t.exit, vm.OpJmp, 0, 0, 0)
			return
		case s.Tok == token.CONTINUE && t.next != nil:
			c.jump(t.next, vm.OpJmp, 0, 0, 0)
			return
		}
	}
	if c.iteration != nil && s.Label != nil {
		c.exitBody(s)
		return
	}
	c.fail(s, "the statement %s in this context", s.Tok)
}

func (c *compiler) ifStmt(s *ast.IfStmt) {
	m := c.mark()
	if s.Init != nil {
		c.initial(s.Init)
	}
	c.setPosition(s)
	otherwise := newLabel()
	c.condition(s.Cond, false, otherwise, false)
	c.afterWait(s.Cond)
	c.block(s.Body.List)
	if s.Else == nil {
		c.bind(otherwise)
		c.afterWait(s.Cond)
		c.release(m)
		return
	}
	end := newLabel()
	c.jump(end, vm.OpJmp, 0, 0, 0)
	c.bind(otherwise)
	c.afterWait(s.Cond)
	c.stmt(s.Else, "")
	c.bind(end)
	c.release(m)
}

// switchStmt compiles a switch over conditions; see package desugar.
func (c *compiler) switchStmt(s *ast.SwitchStmt, name string) {
	if s.Tag != nil {
		c.fail(s, "a switch over values")
	}
	m := c.mark()
	defer c.release(m)
	if s.Init != nil {
		c.initial(s.Init)
		c.setPosition(s)
	}
	t := &target{label: name, exit: newLabel()}
	bodies := make([]*label, len(s.Body.List))
	otherwise := t.exit
	for i, cc := range s.Body.List {
		bodies[i] = newLabel()
		clause := cc.(*ast.CaseClause)
		if clause.List == nil {
			otherwise = bodies[i]
		}
		for _, e := range clause.List {
			c.setPosition(e)
			c.condition(e, true, bodies[i], false)
		}
	}
	c.jump(otherwise, vm.OpJmp, 0, 0, 0)
	c.targets = append(c.targets, t)
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		c.bind(bodies[i])
		if t.through = nil; i+1 < len(bodies) {
			t.through = bodies[i+1]
		}
		c.block(clause.Body)
		c.jump(t.exit, vm.OpJmp, 0, 0, 0)
	}
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

// A Hook runs before or after a statement, with the value of a variable of type error.
type Hook struct {
	Var *types.Var
	Run func(error)
}

// hooksBefore compiles the hooks that run before a statement.
func (c *compiler) hooksBefore(s ast.Stmt) {
	if c.source.HooksBefore == nil {
		return
	}
	for _, n := range c.source.HooksBefore(s) {
		c.hook(s, n)
	}
}

// hooksAfter compiles the hooks that run after a statement.
func (c *compiler) hooksAfter(s ast.Stmt) {
	if c.source.HooksAfter == nil {
		return
	}
	for _, n := range c.source.HooksAfter(s) {
		c.hook(s, n)
	}
}

func (c *compiler) hook(s ast.Stmt, n Hook) {
	m := c.mark()
	var x operand
	if v := c.variables[n.Var]; v != nil {
		x = c.read(v, nil)
	} else {
		x = c.get(c.global(s, n.Var), nil)
	}
	at, run := x.reg, n.Run
	c.native("note "+n.Var.Name(), &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) { run(*vm.ErrorAt(sb, at)) }})
	c.release(m)
}

// Behind a statement that calls compiled code that may wait is a check for an interrupt; see desugar.MayWait. In a cell it is also
// behind the record that the statement has defined variables, because an interrupted call must not lose its results:
//
//	run, err := accel.Fit(ctx, model, train)  ->  run, err = accel.Fit(ctx, model, train); Defined(0, 1); check

// afterWait emits a check behind n if one is needed. If n defines variables for parts of a statement, the check follows the
// assignments of that statement; if a record follows, it follows that.
func (c *compiler) afterWait(n ast.Node) {
	switch s, ok := n.(*ast.AssignStmt); {
	case !desugar.MayWait(c.source.Info, n):
	case ok && (c.recorded || desugar.DefinesAdded(c.source.Info, s)):
		c.owesCheck = true
	default:
		c.interruptible()
	}
}

// beforeNext emits the check that afterWait has left to the statements before s.
func (c *compiler) beforeNext(s ast.Stmt) {
	if c.owesCheck && !desugar.IsPart(c.source.Info, s) && !c.isRecord(s) {
		c.owesCheck = false
		c.interruptible()
	}
}

// isRecordAt reports whether list[i] exists and is a record.
func (c *compiler) isRecordAt(list []ast.Stmt, i int) bool {
	return i < len(list) && c.isRecord(list[i])
}

// isRecord reports whether s tells the session that variables of a cell are defined.
func (c *compiler) isRecord(s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok || !c.cellBody {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := c.calledFunction(call)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "quern/session" && f.Name() == "Defined"
}

// initial compiles the init statement of another one.
func (c *compiler) initial(init ast.Stmt) {
	c.stmt(init, "")
	c.beforeNext(nil)
}

// interruptible emits a check for an interrupt.
func (c *code) interruptible() {
	c.native("check for an interrupt", &vm.Native{Run: func(t *vm.Thread, _, _ unsafe.Pointer) { t.CheckInterrupt() }})
}

// returnStmt compiles a return statement. The results go to the first registers, where the parameters were.
func (c *compiler) returnStmt(s *ast.ReturnStmt) {
	m := c.mark()
	defer c.release(m)
	types, variables := c.fn.Results, c.defers
	if c.iteration != nil {
		types, variables = nil, true
		for _, v := range c.results {
			types = append(types, v.Shape)
		}
	}
	switch {
	case len(s.Results) == 0:
		c.returnResults()
		return
	case len(s.Results) == 1 && len(types) == 1 && variables:
		c.setResults([]operand{c.exprTo(s.Results[0], c.resultType(0), nil)})
		c.returnResults()
		return
	case len(s.Results) == 1 && len(types) == 1:
		t, e := c.resultType(0), s.Results[0]
		want := operand{Shape: types[0], reg: vm.FrameRegisters(types)[0]}
		if types[0].File == vm.Memory {
			x := c.exprTo(e, t, nil)
			x.owned = x.owned || c.isOwnVariable(e)
			c.own(x, &want)
		} else {
			c.exprTo(e, t, &want)
		}
		c.do(vm.OpRet, 0, 0, 0)
		return
	}
	var values []operand
	if len(s.Results) == 1 {
		call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
		if !ok {
			c.fail(s, "several values in a return statement")
		}
		from := c.source.Info.Types[s.Results[0]].Type
		values = c.compileCall(call)
		values = c.convertResults(s, values, from)
	} else {
		for i, e := range s.Results {
			values = append(values, c.value(e, c.resultType(i)))
		}
	}
	if variables {
		c.setResults(values)
		c.returnResults()
		return
	}
	for i, at := range vm.FrameRegisters(types) {
		if types[i].File == vm.Memory {
			c.own(values[i], &operand{Shape: types[i], reg: at})
		} else {
			c.move(operand{Shape: types[i], reg: at}, values[i])
		}
	}
	c.do(vm.OpRet, 0, 0, 0)
}

func (c *compiler) convertResults(n ast.Node, values []operand, from types.Type) []operand {
	tuple, ok := from.(*types.Tuple)
	if !ok || tuple.Len() != c.signature.Results().Len() {
		c.fail(n, "several values in a return statement")
	}
	// The compiled call goes on using its own list of results: it says where package reflect puts them.
	converted := make([]operand, len(values))
	for i, v := range values {
		converted[i] = c.converted(n, v, c.subst(tuple.At(i).Type()), c.resultType(i), nil)
	}
	return converted
}

func (c *compiler) resultType(i int) types.Type {
	return c.subst(c.signature.Results().At(i).Type())
}

// isOwnVariable reports whether e is a local variable in memory to which nothing else refers, so that its memory may become a result.
func (c *compiler) isOwnVariable(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v := c.variable(c.source.Info.ObjectOf(id))
	return v != nil && v.owned && v.File == vm.Memory
}

// returnResults runs the deferred calls and returns the result variables.
func (c *compiler) returnResults() {
	if c.iteration != nil {
		c.iteration.returns = true
		c.leaveBody(vm.StateReturned)
		return
	}
	if c.defers {
		c.runDeferred()
	}
	if len(c.results) > 0 {
		var values []operand
		for _, v := range c.results {
			x := c.read(v, nil)
			x.owned = v.owned && v.File == vm.Memory
			if len(c.results) > 1 && x.File != vm.Memory {
				x = c.snapshot(x)
			}
			values = append(values, x)
		}
		for i, at := range vm.FrameRegisters(c.fn.Results) {
			if c.fn.Results[i].File == vm.Memory {
				c.own(values[i], &operand{Shape: values[i].Shape, reg: at})
			} else {
				c.move(operand{Shape: c.fn.Results[i], reg: at}, values[i])
			}
		}
	}
	c.do(vm.OpRet, 0, 0, 0)
}
