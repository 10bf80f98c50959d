package rt

import (
	"reflect"
	"text/template/parse"
)

// loop executes a range node.
func (s *templateRun) loop(dot ReflectValue, node *parse.RangeNode) flow {
	outer := len(s.variables)
	defer s.popTo(outer)
	over, _ := indirection(s.pipeline(dot, node.Pipe))
	l := templateLoop{s: s, node: node, mark: len(s.variables)}
	if !l.run(over) {
		s.fail("range can't iterate over %v", over)
	}
	switch {
	case l.ran:
		s.popTo(outer)
		return flowNext
	case node.ElseList != nil:
		return s.walk(dot, node.ElseList)
	}
	return flowNext
}

// templateLoop is the execution of a range node.
type templateLoop struct {
	s    *templateRun
	node *parse.RangeNode
	mark int  // number of variables before the body
	ran  bool // the body has run at least once
}

// run executes the body for each element. It returns false if over cannot be iterated.
func (l *templateLoop) run(over ReflectValue) bool {
	s, several := l.s, len(l.node.Pipe.Decl) > 1
	switch over.Kind() {
	case reflect.Invalid: // like an empty map
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if several {
			s.fail("can't use %v to iterate over more than one variable", over)
		}
		over.Seq()(func(x ReflectValue) bool { return l.once(ReflectValue{}, x) })
	case reflect.Array, reflect.Slice:
		for i := 0; i < over.Len() && l.once(s.r.ReflectValueOf(i), over.Index(i)); i++ {
		}
	case reflect.Map:
		w := over.view()
		for _, e := range s.r.sortedEntries(over.Value) {
			if !l.once(s.r.reflected(e.key, w.key().d), s.r.reflected(e.value, w.elem().d)) {
				break
			}
		}
	case reflect.Chan:
		if over.IsNil() {
			break
		}
		if over.Type().ChanDir() == reflect.SendDir {
			s.fail("range over send-only channel %v", over)
		}
		for i := 0; ; i++ {
			if x, ok := over.Recv(); !ok || !l.once(s.r.ReflectValueOf(i), x) {
				break
			}
		}
	case reflect.Func:
		return l.runFunction(over, several)
	default:
		return false
	}
	return true
}

// runFunction is run for an iterator function.
func (l *templateLoop) runFunction(over ReflectValue, several bool) bool {
	switch t := over.Value.Type(); {
	case t.CanSeq():
		if several {
			l.s.fail("can't use %v iterate over more than one variable", over)
		}
		over.Seq()(func(x ReflectValue) bool { return l.once(ReflectValue{}, x) })
	case t.CanSeq2():
		over.Seq2()(func(x, y ReflectValue) bool {
			if several {
				return l.once(x, y)
			}
			return l.once(ReflectValue{}, x)
		})
	default:
		return false
	}
	return true
}

// once executes the body for one element, and reports whether the loop continues.
func (l *templateLoop) once(index, elem ReflectValue) bool {
	l.ran = true
	s, declared := l.s, l.node.Pipe.Decl
	switch assign := l.node.Pipe.IsAssign; {
	case len(declared) > 1 && assign:
		s.variable(declared[0].Ident[0]).value = index
		s.variable(declared[1].Ident[0]).value = elem
	case len(declared) > 1:
		s.variables[l.mark-2].value, s.variables[l.mark-1].value = index, elem
	case len(declared) == 1 && assign:
		s.variable(declared[0].Ident[0]).value = elem
	case len(declared) == 1:
		s.variables[l.mark-1].value = elem
	}
	f := s.walk(elem, l.node.List)
	s.popTo(l.mark)
	return f != flowBreak
}
