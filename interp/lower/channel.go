package lower

// Receives and sends are calls of functions that the run time creates, one for each type of channel.
// They end when the cell of the waiting goroutine is interrupted. yaegi itself can only end all
// waits of an evaluation, or none.
//
//	f(<-c)             ->  f(receiveʹ1(c))
//	v, ok := <-c       ->  v, ok := receivedʹ2(c)
//	c <- v             ->  sendʹ3(c, v)
//	for v := range c   ->  for { v, t1 := receivedʹ2(c); if !t1 { break }; ... }

import (
	"go/ast"
	"go/types"
)

// channelFunction returns the name of a variable with a function that the run time creates.
func (e *emitter) channelFunction(base, function, signature string) string {
	return e.helper(base, base+" "+signature, func(name string) {
		e.out.line("var %s func%s", name, signature)
		e.registers = append(e.registers, e.rt(function, "&"+name))
	})
}

// receive returns the name of a function that receives from a channel of type t. If open, the
// function also returns whether the channel is open.
func (e *emitter) receive(t types.Type, open bool) string {
	channel, element := e.typ(t), e.typ(channelOf(t).Elem())
	if open {
		return e.channelFunction("received", "Receiver", "("+channel+") ("+element+", bool)")
	}
	return e.channelFunction("receive", "Receiver", "("+channel+") "+element)
}

// channelOf returns the channel type that is the underlying type of t.
func channelOf(t types.Type) *types.Chan {
	c, _ := t.Underlying().(*types.Chan)
	return c
}

// received lowers a receive. If open, the result includes whether the channel is open.
func (f *function) received(x ast.Expr, open bool) string {
	t := f.channelType(x)
	return f.receive(t, open) + "(" + f.convert(f.expr(x), f.typeOf(x), t) + ")"
}

// channelType returns the type of a channel operand. For a type parameter, it is the channel type
// that all types of its type set have.
func (f *functionTypes) channelType(x ast.Expr) types.Type {
	if t := f.typeOf(x); channelOf(t) != nil {
		return t
	}
	return f.coreOf(x)
}

func (f *function) send(w *writer, s *ast.SendStmt) {
	t := f.channelType(s.Chan)
	channel, element := f.typ(t), channelOf(t).Elem()
	send := f.channelFunction("send", "Sender", "("+channel+", "+f.typ(element)+")")
	w.line("%s(%s, %s)", send, f.convert(f.expr(s.Chan), f.typeOf(s.Chan), t), f.exprTo(s.Value, element))
}

// rangeChannel lowers a range over a channel.
func (f *function) rangeChannel(w *writer, s *ast.RangeStmt, label string) {
	t := f.channelType(s.X)
	channel := f.temp()
	w.line("var %s %s = %s", channel, f.typ(t), f.expr(s.X))
	value, bind := "_", false
	switch v := f.defined(s.Key); {
	case s.Key == nil || isBlank(s.Key):
	case v != nil && !f.facts.Shared(v) && !f.globals[v]:
		value = f.declare(v)
	default:
		value, bind = f.temp(), true
	}
	open := f.temp()
	f.loop(w, label, "for", func() {
		w.line("%s, %s := %s(%s)", value, open, f.receive(t, true), channel)
		w.open("if !%s {", open)
		w.line("break")
		w.close("}")
		f.bindYielded(w, s, [2]string{value, "_"}, [2]bool{bind, false})
	}, s.Body)
}
