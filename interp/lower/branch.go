package lower

// Labels and branches.
//
//	break, continue, in the body of a range over a function  ->  return, after setting the state of the loop
//	continue, in a loop with copied variables                ->  i1 = i; continue
//	L: for {}, goto L                                        ->  Jʹ1: _ = stopʹ; Lʹ2: for {}
//
// yaegi stores labels and variables in one scope, so each label gets a unique name.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// target is a statement that break or continue can leave.
type target struct {
	label          string // as the user wrote it
	loop           bool   // continue is possible
	frame          *frame // the frame in which break and continue are plain statements
	emitted        string // label in lowered code
	beforeContinue func(w *writer)
	iteration      *iteration // for a range over a function
}

func (f *function) push(t *target) *target {
	t.frame = f.frame
	f.targets = append(f.targets, t)
	return t
}

func (f *function) pop() { f.targets = f.targets[:len(f.targets)-1] }

// label emits the label of the following statement.
func (f *function) label(w *writer, t *target) {
	if t.label == "" {
		return
	}
	f.temps++
	t.emitted = "Lʹ" + t.label + strconv.Itoa(f.temps)
	w.line("%s:", t.emitted)
}

// jumpLabel returns the name of the label of a goto.
func (f *function) jumpLabel(name string) string {
	if f.labels[name] == "" {
		f.temps++
		f.labels[name] = "Jʹ" + name + strconv.Itoa(f.temps)
	}
	return f.labels[name]
}

func (f *function) labeled(w *writer, s *ast.LabeledStmt) {
	if f.facts.JumpLabels[s.Label.Name] {
		w.line("%s:", f.jumpLabel(s.Label.Name))
		w.line("_ = stopʹ") // yaegi does not see a label after a label
	}
	switch x := s.Stmt.(type) {
	case *ast.ForStmt:
		f.forLoop(w, x, s.Label.Name)
	case *ast.RangeStmt:
		f.rangeLoop(w, x, s.Label.Name)
	case *ast.SwitchStmt:
		f.switchStatement(w, x, s.Label.Name)
	case *ast.TypeSwitchStmt:
		f.typeSwitch(w, x, s.Label.Name)
	case *ast.SelectStmt:
		f.selectStatement(w, x, s.Label.Name)
	case *ast.EmptyStmt:
		w.line(";")
	default:
		f.statement(w, x)
	}
}

func (f *function) branch(w *writer, s *ast.BranchStmt) {
	label := ""
	if s.Label != nil {
		label = s.Label.Name
	}
	switch s.Tok {
	case token.FALLTHROUGH:
		w.line("fallthrough")
	case token.GOTO:
		f.jump(w, f.Info.Uses[s.Label].(*types.Label))
	default:
		for i := len(f.targets) - 1; i >= 0; i-- {
			t := f.targets[i]
			if label != "" && t.label != label || label == "" && s.Tok == token.CONTINUE && !t.loop {
				continue
			}
			f.leaveTo(w, s.Tok, t)
			return
		}
		panic("no target for " + s.Tok.String() + " " + label)
	}
}

// jump emits a goto, which may leave the bodies of ranges over functions.
func (f *function) jump(w *writer, label *types.Label) {
	it := f.frame.iteration
	if it == nil || it.body.Pos() <= label.Pos() && label.Pos() < it.body.End() {
		f.interruptible(w)
		w.line("goto %s", f.jumpLabel(label.Name()))
		return
	}
	f.leaveIteration(w, exitTo{tok: token.GOTO, label: label})
}

// leaveIteration emits the exit e from the body of a range over a function.
func (f *function) leaveIteration(w *writer, e exitTo) {
	it := f.frame.iteration
	w.line("%s = %d", it.state, it.exit(e))
	w.line("return false")
}

// leaveTo emits a break or continue of t.
func (f *function) leaveTo(w *writer, tok token.Token, t *target) {
	if t.iteration != nil && t.iteration.frame == f.frame {
		if tok == token.BREAK {
			w.line("%s = %d", t.iteration.state, left)
			w.line("return false")
		} else {
			w.line("%s = %d", t.iteration.state, ready)
			w.line("return true")
		}
		return
	}
	if t.frame == f.frame {
		if tok == token.CONTINUE && t.beforeContinue != nil {
			t.beforeContinue(w)
		}
		if t.emitted != "" {
			w.line("%s %s", tok, t.emitted)
		} else {
			w.line("%s", tok)
		}
		return
	}
	f.leaveIteration(w, exitTo{tok: tok, to: t})
}
