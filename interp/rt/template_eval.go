package rt

import (
	"reflect"
	"strings"
	"text/template/parse"
)

// absentValue means that there is no previous command in a pipeline.
var absentValue = ReflectValue{Value: reflect.ValueOf(struct{}{})}

func isAbsent(v ReflectValue) bool { return v.r == nil && v.IsValid() }

// pipeline returns the value of a pipeline. The variables that it declares stay declared.
func (s *templateRun) pipeline(dot ReflectValue, pipe *parse.PipeNode) ReflectValue {
	if pipe == nil {
		return ReflectValue{}
	}
	s.node = pipe
	value := absentValue
	for _, command := range pipe.Cmds {
		value = s.command(dot, command, value)
		if value.Kind() == reflect.Interface && value.Type().NumMethod() == 0 {
			value = value.Elem()
		}
	}
	for _, v := range pipe.Decl {
		if pipe.IsAssign {
			s.variable(v.Ident[0]).value = value
		} else {
			s.push(v.Ident[0], value)
		}
	}
	return value
}

// command returns the value of a command. final is the value of the previous command.
func (s *templateRun) command(dot ReflectValue, command *parse.CommandNode, final ReflectValue) ReflectValue {
	first := command.Args[0]
	switch n := first.(type) {
	case *parse.FieldNode:
		s.node = n
		return s.chain(dot, dot, n, n.Ident, command.Args, final)
	case *parse.ChainNode:
		return s.chainNode(dot, n, command.Args, final)
	case *parse.IdentifierNode:
		return s.function(dot, n, command, command.Args, final)
	case *parse.PipeNode:
		s.rejectArguments(command.Args, final)
		return s.pipeline(dot, n)
	case *parse.VariableNode:
		return s.variableNode(dot, n, command.Args, final)
	}
	s.node = first
	s.rejectArguments(command.Args, final)
	switch n := first.(type) {
	case *parse.BoolNode:
		return s.r.ReflectValueOf(n.True)
	case *parse.DotNode:
		return dot
	case *parse.NilNode:
		s.fail("nil is not a command")
	case *parse.NumberNode:
		return s.number(n)
	case *parse.StringNode:
		return s.r.ReflectValueOf(n.Text)
	}
	s.fail("can't evaluate command %q", first)
	return ReflectValue{}
}

// rejectArguments fails if a value that is not a function has arguments.
func (s *templateRun) rejectArguments(args []parse.Node, final ReflectValue) {
	if len(args) > 1 || !isAbsent(final) {
		s.fail("can't give argument to non-function %s", args[0])
	}
}

// number returns the value of a number literal. The text of the literal selects its type.
func (s *templateRun) number(n *parse.NumberNode) ReflectValue {
	s.node = n
	text := n.Text
	hexadecimal := len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && !strings.ContainsAny(text, "pP")
	switch {
	case n.IsComplex:
		return s.r.ReflectValueOf(n.Complex128)
	case n.IsFloat && !hexadecimal && text[0] != '\'' && strings.ContainsAny(text, ".eEpP"):
		return s.r.ReflectValueOf(n.Float64)
	case n.IsInt && int64(int(n.Int64)) == n.Int64:
		return s.r.ReflectValueOf(int(n.Int64))
	case n.IsInt, n.IsUint:
		s.fail("%s overflows int", text)
	}
	return ReflectValue{}
}

func (s *templateRun) chainNode(dot ReflectValue, n *parse.ChainNode, args []parse.Node, final ReflectValue) ReflectValue {
	s.node = n
	if n.Node.Type() == parse.NodeNil {
		s.fail("indirection through explicit nil in %s", n)
	}
	return s.chain(dot, s.argument(dot, nil, n.Node), n, n.Field, args, final)
}

func (s *templateRun) variableNode(dot ReflectValue, n *parse.VariableNode, args []parse.Node, final ReflectValue) ReflectValue {
	s.node = n
	value := s.variable(n.Ident[0]).value
	if len(n.Ident) == 1 {
		s.rejectArguments(args, final)
		return value
	}
	return s.chain(dot, value, n, n.Ident[1:], args, final)
}

// chain evaluates receiver.A.B.C. The arguments are passed to the last name.
func (s *templateRun) chain(dot, receiver ReflectValue, node parse.Node, names []string, args []parse.Node, final ReflectValue) ReflectValue {
	last := len(names) - 1
	for _, name := range names[:last] {
		receiver = s.field(dot, name, node, nil, absentValue, receiver)
	}
	return s.field(dot, names[last], node, args, final, receiver)
}

// field evaluates receiver.name: it calls a method, or returns a field or a map entry.
func (s *templateRun) field(dot ReflectValue, name string, node parse.Node, args []parse.Node, final, receiver ReflectValue) ReflectValue {
	if !receiver.IsValid() {
		if s.missing == missingError {
			s.fail("nil data; no entry for key %q", name)
		}
		return ReflectValue{}
	}
	declared := receiver.Type()
	receiver, null := indirection(receiver)
	if null && receiver.Kind() == reflect.Interface {
		s.fail("nil pointer evaluating %s.%s", declared, name)
	}
	owner := receiver
	if owner.Kind() != reflect.Interface && owner.Kind() != reflect.Pointer && owner.CanAddr() {
		owner = owner.Addr()
	}
	if m := owner.MethodByName(name); m.IsValid() {
		return s.invoke(dot, m, false, node, name, args, final)
	}
	hasArguments := len(args) > 1 || !isAbsent(final)
	switch receiver.Kind() {
	case reflect.Struct:
		f, ok := receiver.Type().FieldByName(name)
		if !ok {
			break
		}
		value, err := receiver.FieldByIndexErr(f.Index)
		switch {
		case !f.IsExported():
			s.fail("%s is an unexported field of struct type %s", name, declared)
		case err != nil:
			s.fail("%v", err)
		case hasArguments:
			s.fail("%s has arguments but cannot be invoked as function", name)
		}
		return value
	case reflect.Map:
		key := s.r.ReflectValueOf(name)
		if !s.r.TypeAssignableTo(key.Type(), receiver.Type().Key()) {
			break
		}
		if hasArguments {
			s.fail("%s is not a method but has arguments", name)
		}
		value := receiver.MapIndex(key)
		switch {
		case value.IsValid():
		case s.missing == missingZero:
			value = s.r.ReflectZero(receiver.Type().Elem())
		case s.missing == missingError:
			s.fail("map has no entry for key %q", name)
		}
		return value
	case reflect.Pointer:
		if elem := receiver.Type().Elem(); elem.Kind() == reflect.Struct {
			if _, ok := elem.FieldByName(name); !ok {
				break
			}
		}
		if null {
			s.fail("nil pointer evaluating %s.%s", declared, name)
		}
	}
	s.fail("can't evaluate field %s in type %s", name, declared)
	return ReflectValue{}
}
