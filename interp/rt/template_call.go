package rt

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// reflectValueType is the type of parameters that take any value unchanged.
var reflectValueType = compiledType(reflect.TypeFor[ReflectValue]())

// function calls the function with the name of node n.
func (s *templateRun) function(dot ReflectValue, n *parse.IdentifierNode, command parse.Node, args []parse.Node, final ReflectValue) ReflectValue {
	s.node = n
	if f, ok := s.functions[n.Ident]; ok {
		if own, ok := f.Interface().(cellFunction); ok {
			v, _ := own(s)
			return s.invoke(dot, v, false, command, n.Ident, args, final)
		}
		return s.invoke(dot, s.r.reflected(f, nil), false, command, n.Ident, args, final)
	}
	f, ok := s.r.templateBuiltins[n.Ident]
	if !ok {
		s.fail("%q is not a defined function", n.Ident)
	}
	return s.invoke(dot, s.r.reflected(reflect.ValueOf(f), nil), true, command, n.Ident, args, final)
}

// invoke calls a function or a method. The first element of args, if any, is its name.
func (s *templateRun) invoke(dot, f ReflectValue, builtin bool, node parse.Node, name string, args []parse.Node, final ReflectValue) ReflectValue {
	if args != nil {
		args = args[1:]
	}
	t := f.Type()
	n := len(args)
	if !isAbsent(final) {
		n++
	}
	switch {
	case t.IsVariadic() && n < t.NumIn()-1:
		s.fail("wrong number of args for %s: want at least %d got %d", name, t.NumIn()-1, len(args))
	case !t.IsVariadic() && n != t.NumIn():
		s.fail("wrong number of args for %s: want %d got %d", name, t.NumIn(), n)
	}
	if err := goodFunc(name, t); err != nil {
		s.fail("%v", err)
	}
	if builtin && (name == "and" || name == "or") {
		return s.shortCircuit(dot, name == "or", args, final)
	}
	parameter := func(i int) reflect.Type {
		if t.IsVariadic() && i >= t.NumIn()-1 {
			return t.In(t.NumIn() - 1).Elem()
		}
		return t.In(i)
	}
	values := make([]ReflectValue, 0, n+1)
	for i, arg := range args {
		values = append(values, s.argument(dot, parameter(i), arg))
	}
	if !isAbsent(final) {
		values = append(values, s.valid(final, parameter(n-1)))
	}
	if builtin && name == "call" {
		called := fmt.Sprint(final)
		if len(args) > 0 {
			called = args[0].String()
		}
		f = s.r.reflected(reflect.ValueOf(s.r.templateCall), nil)
		values = append([]ReflectValue{s.r.ReflectValueOf(called)}, values...)
	}
	if strings.HasPrefix(name, escaperPrefix) {
		for i, v := range values {
			values[i] = s.r.forEscaper(v)
		}
	}
	if name == escaperPrefix+"jsvalescaper" && len(values) == 1 {
		var failure string
		if values[0], failure = s.r.forScript(values[0]); failure != "" {
			return s.r.reflected(reflect.ValueOf(failure), nil)
		}
	}
	result, err := s.r.safeCall(f, values)
	if err != nil {
		s.node = node
		s.fail("error calling %s: %w", name, err)
	}
	return unwrapped(result)
}

// unwrapped returns the value that v holds if v is itself a reflect.Value, else v.
func unwrapped(v ReflectValue) ReflectValue {
	if v.IsValid() && v.Type() == reflectValueType {
		return v.Value.Interface().(ReflectValue)
	}
	return v
}

// shortCircuit implements and, or with until the function or. It returns the first argument
// whose truth value is until, or the last argument.
func (s *templateRun) shortCircuit(dot ReflectValue, until bool, args []parse.Node, final ReflectValue) ReflectValue {
	var v ReflectValue
	for _, arg := range args {
		v = unwrapped(s.argument(dot, reflectValueType, arg))
		if isTrue(v) == until {
			return v
		}
	}
	if !isAbsent(final) {
		return final
	}
	return v
}

// safeCall calls f and returns a panic as an error.
func (r *Registry) safeCall(f ReflectValue, args []ReflectValue) (result ReflectValue, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			if _, own := cause.(templateFailure); own || r.config.Uncaught(cause) {
				panic(cause)
			}
			cause = Recovered(cause)
			if e, ok := cause.(error); ok {
				err = e
			} else {
				err = fmt.Errorf("%s", r.Sprint(cause))
			}
		}
	}()
	out := f.Call(args)
	if len(out) == 2 && !out[1].IsNil() {
		err, _ = out[1].Value.Interface().(error)
	}
	return out[0], err
}

// canBeNil reports whether nil is a valid argument of type t.
func canBeNil(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice:
		return true
	}
	return t == reflectValueType
}

// valid returns v as an argument of type t, or unchanged if t is nil.
func (s *templateRun) valid(v ReflectValue, t reflect.Type) ReflectValue {
	switch {
	case !v.IsValid() && t == nil:
		return v
	case t == reflectValueType && (!v.IsValid() || v.Type() != t):
		return s.r.reflected(reflect.ValueOf(v), nil)
	case !v.IsValid() && canBeNil(t):
		return s.r.ReflectZero(t)
	case !v.IsValid():
		s.fail("invalid value; expected %s", t)
	}
	assignable := func(v ReflectValue) bool { return s.r.TypeAssignableTo(v.Type(), t) }
	if t == nil || assignable(v) {
		return v
	}
	if v.Kind() == reflect.Interface && !v.IsNil() {
		if v = v.Elem(); assignable(v) {
			return v
		}
	}
	switch {
	case v.Kind() == reflect.Pointer && s.r.TypeAssignableTo(v.Type().Elem(), t):
		if v = v.Elem(); !v.IsValid() {
			s.fail("dereference of nil pointer of type %s", t)
		}
	case v.CanAddr() && s.r.TypeAssignableTo(s.r.ReflectPointerTo(v.Type()), t):
		v = v.Addr()
	default:
		s.fail("wrong type for value; expected %s; got %s", t, v.Type())
	}
	return v
}

// argument returns the value of a node as an argument of type t, or unchanged if t is nil.
func (s *templateRun) argument(dot ReflectValue, t reflect.Type, node parse.Node) ReflectValue {
	s.node = node
	switch n := node.(type) {
	case *parse.DotNode:
		return s.valid(dot, t)
	case *parse.NilNode:
		if !canBeNil(t) {
			s.fail("cannot assign nil to %s", t)
		}
		return s.r.ReflectZero(t)
	case *parse.FieldNode:
		return s.valid(s.chain(dot, dot, n, n.Ident, []parse.Node{n}, absentValue), t)
	case *parse.VariableNode:
		return s.valid(s.variableNode(dot, n, nil, absentValue), t)
	case *parse.PipeNode:
		return s.valid(s.pipeline(dot, n), t)
	case *parse.IdentifierNode:
		return s.valid(s.function(dot, n, n, nil, absentValue), t)
	case *parse.ChainNode:
		return s.valid(s.chainNode(dot, n, nil, absentValue), t)
	}
	return s.constant(t, node)
}

// constant returns the value of a constant as an argument of type t.
func (s *templateRun) constant(t reflect.Type, node parse.Node) ReflectValue {
	if t == reflectValueType {
		return s.r.reflected(reflect.ValueOf(s.constantOfAny(node)), nil)
	}
	expected := ""
	v := s.r.ReflectNew(t).Elem()
	number, _ := node.(*parse.NumberNode)
	switch t.Kind() {
	case reflect.Bool:
		if n, ok := node.(*parse.BoolNode); ok {
			v.SetBool(n.True)
			return v
		}
		expected = "bool"
	case reflect.String:
		if n, ok := node.(*parse.StringNode); ok {
			v.SetString(n.Text)
			return v
		}
		expected = "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if number != nil && number.IsInt {
			v.SetInt(number.Int64)
			return v
		}
		expected = "integer"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if number != nil && number.IsUint {
			v.SetUint(number.Uint64)
			return v
		}
		expected = "unsigned integer"
	case reflect.Float32, reflect.Float64:
		if number != nil && number.IsFloat {
			v.SetFloat(number.Float64)
			return v
		}
		expected = "float"
	case reflect.Complex64, reflect.Complex128:
		if number != nil && number.IsComplex {
			v.SetComplex(number.Complex128)
			return v
		}
		expected = "complex"
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return s.constantOfAny(node)
		}
	}
	if expected == "" {
		s.fail("can't handle %s for arg of type %s", node, t)
	}
	s.fail("expected %s; found %s", expected, node)
	return v
}

// constantOfAny returns the value of a constant as an argument of type any.
func (s *templateRun) constantOfAny(node parse.Node) ReflectValue {
	switch n := node.(type) {
	case *parse.BoolNode:
		return s.r.ReflectValueOf(n.True)
	case *parse.NumberNode:
		return s.number(n)
	case *parse.StringNode:
		return s.r.ReflectValueOf(n.Text)
	}
	s.fail("can't handle assignment of %s to empty interface argument", node)
	return ReflectValue{}
}
