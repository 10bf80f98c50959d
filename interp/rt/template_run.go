package rt

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
)

// templateRun is the execution of one template, possibly called by another one.
type templateRun struct {
	r         *Registry
	t         *template.Template
	functions map[string]reflect.Value // added by Funcs
	missing   int                      // the value of a missing map key
	w         io.Writer
	node      parse.Node // current node, for errors
	variables []templateVariable
	depth     int // of template calls
}

// Values of a missing map key, numbered as in package template.
const (
	missingInvalid = iota
	missingZero
	missingError
)

type templateVariable struct {
	name  string
	value ReflectValue
}

// maxTemplateDepth is the maximum depth of nested template calls.
const maxTemplateDepth = 100000

// executeTemplate is t.Execute(w, data).
func (r *Registry) executeTemplate(t *template.Template, w io.Writer, data any) (err error) {
	dot, ok := data.(ReflectValue)
	if !ok {
		dot = r.ReflectValueOf(data)
	}
	s := &templateRun{r: r, t: t, functions: templateFunctions(t), w: w, variables: []templateVariable{{"$", dot}}}
	if option := sharedField(t, "option"); option.IsValid() {
		s.missing = int(option.FieldByName("missingKey").Int())
	}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case templateFailure:
			err = x.err
		default:
			panic(x)
		}
	}()
	if t.Tree == nil || t.Root == nil {
		s.fail("%q is an incomplete or empty template", t.Name())
	}
	s.walk(dot, t.Root)
	return nil
}

// templateFailure is the panic value that ends an execution with an error.
type templateFailure struct{ err error }

// fail ends the execution with an error that names the node.
func (s *templateRun) fail(format string, args ...any) {
	escape := func(s string) string { return strings.ReplaceAll(s, "%", "%%") }
	name := escape(s.t.Name())
	if s.node == nil {
		format = "template: " + name + ": " + format
	} else {
		location, context := s.t.ErrorContext(s.node)
		format = fmt.Sprintf("template: %s: executing %q at <%s>: %s", location, name, escape(context), format)
	}
	panic(templateFailure{template.ExecError{Name: s.t.Name(), Err: fmt.Errorf(format, args...)}})
}

// flow says how to continue after a list of nodes.
type flow int

const (
	flowNext flow = iota
	flowBreak
	flowContinue
)

// walk executes a node.
func (s *templateRun) walk(dot ReflectValue, node parse.Node) flow {
	s.node = node
	switch node := node.(type) {
	case *parse.ActionNode:
		value := s.pipeline(dot, node.Pipe)
		if len(node.Pipe.Decl) == 0 {
			s.print(node, value)
		}
	case *parse.BreakNode:
		return flowBreak
	case *parse.CommentNode:
	case *parse.ContinueNode:
		return flowContinue
	case *parse.IfNode:
		return s.branch(dot, &node.BranchNode, false)
	case *parse.ListNode:
		for _, n := range node.Nodes {
			if f := s.walk(dot, n); f != flowNext {
				return f
			}
		}
	case *parse.RangeNode:
		return s.loop(dot, node)
	case *parse.TemplateNode:
		s.call(dot, node)
	case *parse.TextNode:
		s.write(node.Text)
	case *parse.WithNode:
		return s.branch(dot, &node.BranchNode, true)
	default:
		s.fail("unknown node: %s", node)
	}
	return flowNext
}

func (s *templateRun) write(text []byte) {
	if _, err := s.w.Write(text); err != nil {
		panic(templateFailure{err})
	}
}

// branch executes an if node, or a with node if with is true.
func (s *templateRun) branch(dot ReflectValue, node *parse.BranchNode, with bool) flow {
	defer s.popTo(len(s.variables))
	value := s.pipeline(dot, node.Pipe)
	switch {
	case isTrue(value) && with:
		return s.walk(value, node.List)
	case isTrue(value):
		return s.walk(dot, node.List)
	case node.ElseList != nil:
		return s.walk(dot, node.ElseList)
	}
	return flowNext
}

// call executes another template.
func (s *templateRun) call(dot ReflectValue, node *parse.TemplateNode) {
	t := s.t.Lookup(node.Name)
	if t == nil {
		s.fail("template %q not defined", node.Name)
	}
	if s.depth == maxTemplateDepth {
		s.fail("exceeded maximum template depth (%v)", maxTemplateDepth)
	}
	dot = s.pipeline(dot, node.Pipe)
	inner := *s
	inner.depth++
	inner.t = t
	inner.variables = []templateVariable{{"$", dot}}
	inner.walk(dot, t.Root)
}

func (s *templateRun) popTo(n int) { s.variables = s.variables[:n] }

func (s *templateRun) push(name string, value ReflectValue) {
	s.variables = append(s.variables, templateVariable{name, value})
}

// variable returns the innermost variable with that name.
func (s *templateRun) variable(name string) *templateVariable {
	for i := len(s.variables) - 1; i >= 0; i-- {
		if s.variables[i].name == name {
			return &s.variables[i]
		}
	}
	s.fail("undefined variable: %s", name)
	return nil
}

// print writes the value of an action.
func (s *templateRun) print(node parse.Node, v ReflectValue) {
	s.node = node
	x, ok := s.r.printable(v)
	if !ok {
		s.fail("can't print %s of type %s", node, v.Type())
	}
	if _, err := s.r.Fprint(s.w, x); err != nil {
		panic(templateFailure{err})
	}
}

// printable returns the value that fmt prints for v: the target of a pointer, or the
// pointer if it has a method that fmt calls. Channels and functions are not printable.
func (r *representations) printable(v ReflectValue) (any, bool) {
	if v.Kind() == reflect.Pointer {
		v, _ = indirection(v)
	}
	if !v.IsValid() {
		return "<no value>", true
	}
	if t := v.Type(); !printsItself(t) {
		if v.CanAddr() && printsItself(r.ReflectPointerTo(t)) {
			v = v.Addr()
		} else if v.Kind() == reflect.Chan || v.Kind() == reflect.Func {
			return nil, false
		}
	}
	return v.Interface(), true
}

func printsItself(t reflect.Type) bool { return t.Implements(errorType) || t.Implements(stringerType) }

// indirection follows pointers and interfaces. If null is true, it returns the nil pointer
// or interface at which it stopped.
func indirection(v ReflectValue) (behind ReflectValue, null bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

// concrete returns the value in v if v is an interface, else v.
func concrete(v ReflectValue) ReflectValue {
	if v.Kind() != reflect.Interface {
		return v
	}
	if v.IsNil() {
		return ReflectValue{}
	}
	return v.Elem()
}

// isTrue reports the truth value of v: whether it is not empty or not zero. All structs
// are true.
func isTrue(v ReflectValue) bool {
	v = concrete(v)
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Struct:
		return true
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Float32, reflect.Float64:
		return v.Float() != 0 // Value.IsZero is false for a negative zero
	case reflect.Complex64, reflect.Complex128:
		return v.Complex() != 0
	}
	return !v.IsZero()
}
