package cuda

import (
	"debug/dwarf"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// Param is a parameter of a kernel.
type Param struct {
	ptxsim.EntryParam
	// C is its type in C++, such as const float *. Without the name of a C++ function it is that of PTX, which does not distinguish
	// an address from a number of 64 bits.
	C       string
	Pointer bool
	Element string // the type of what it points to, without const and the lengths of arrays
	Const   bool   // whether the kernel only reads what it points to

	Layout dwarf.Type // of a struct or array; nil if it is not known
}

// Signature returns the name of a kernel in C++ and its parameters. The types are those of the name in the PTX, which a C++ compiler
// makes of the name and the types; of any other name, as of extern "C", they are those of PTX, and known is false.
func Signature(e ptxsim.Entry) (name string, params []Param, known bool) {
	name, types, known := demangled(e.Name)
	if known = known && len(types) == len(e.Params); !known {
		types = nil
	}
	if name == "" {
		name = e.Name
	}
	for i, p := range e.Params {
		param := Param{EntryParam: p, C: p.Type}
		if types != nil {
			t := types[i]
			param.C = t.String()
			if t.of != nil {
				to := t.of.element()
				param.Pointer, param.Element, param.Const = true, to.name, to.constant
				if to.of != nil {
					param.Element = to.String()
				}
			}
		}
		params = append(params, param)
	}
	return name, params, known
}

// ctype is a type of C++.
type ctype struct {
	name     string
	constant bool
	of       *ctype // of a pointer: what it points to
	elem     *ctype // of an array
	length   string // of an array
}

// element returns the type of the elements of an array, which may have several dimensions, and t for any other type.
func (t ctype) element() ctype {
	for t.elem != nil {
		t = *t.elem
	}
	return t
}

func (t ctype) String() string {
	s := t.name
	switch {
	case t.elem != nil:
		return t.element().String() + " " + t.lengths()
	case t.of != nil && t.of.elem != nil:
		s = t.of.element().String() + " (*)" + t.of.lengths()
	case t.of != nil && t.of.of != nil:
		s = t.of.String() + "*"
	case t.of != nil:
		s = t.of.String() + " *"
	}
	if t.constant {
		s = "const " + s
	}
	return s
}

func (t ctype) lengths() (s string) {
	for ; t.elem != nil; t = *t.elem {
		s += "[" + t.length + "]"
	}
	return s
}

// mangled reads a name by the rules of the Itanium C++ ABI, as far as kernels need them: functions, also in namespaces and of
// templates, with parameters of builtin types, of named types, and pointers to them.
type mangled struct {
	text      string
	failed    bool
	known     []ctype // what S_, S0_ and so on refer to
	arguments []ctype // of the template
}

// demangled returns the name of a function and the types of its parameters. ok is false if the name is not one of C++, or the types are not
// understood; name is empty if it is not understood.
func demangled(text string) (name string, params []ctype, ok bool) {
	rest, ok := strings.CutPrefix(text, "_Z")
	if !ok {
		return "", nil, false
	}
	m := &mangled{text: rest}
	name, template := m.function()
	if m.failed {
		return "", nil, false
	}
	if template {
		m.parse() // the type of the result
	}
	for m.text != "" && !m.failed {
		params = append(params, m.parse())
	}
	if len(params) == 1 && params[0].name == "void" && params[0].of == nil {
		params = nil
	}
	return name, params, !m.failed
}

func (m *mangled) accept(prefix string) bool {
	rest, ok := strings.CutPrefix(m.text, prefix)
	if ok {
		m.text = rest
	}
	return ok
}

// function reads the name of a function.
func (m *mangled) function() (name string, template bool) {
	if m.accept("N") {
		for !m.accept("E") && !m.failed {
			switch {
			case strings.HasPrefix(m.text, "I"):
				m.known = append(m.known, ctype{name: name})
				name += m.templateArguments(true)
				template = true
				continue
			case m.accept("12_GLOBAL__N_1"), m.accept("_GLOBAL__N_1"):
				m.known = append(m.known, ctype{name: name})
				continue
			}
			part := m.identifier()
			if name != "" {
				m.known = append(m.known, ctype{name: name})
				name += "::"
			}
			name += part
			template = false
		}
		return name, template
	}
	name = m.identifier()
	if strings.HasPrefix(m.text, "I") {
		m.known = append(m.known, ctype{name: name})
		return name + m.templateArguments(true), true
	}
	return name, false
}

// identifier reads a name with its length.
func (m *mangled) identifier() string {
	digits := len(m.text) - len(strings.TrimLeft(m.text, "0123456789"))
	n, err := strconv.Atoi(m.text[:digits])
	if m.accept("L") { // of internal linkage
		return m.identifier()
	}
	if err != nil || n == 0 || digits+n > len(m.text) {
		m.failed = true
		return ""
	}
	name := m.text[digits : digits+n]
	m.text = m.text[digits+n:]
	return name
}

// templateArguments reads I…E. T_ then refers to them if they are those of the function.
func (m *mangled) templateArguments(own bool) string {
	m.accept("I")
	var all []ctype
	var texts []string
	for !m.accept("E") && !m.failed {
		var t ctype
		if m.accept("L") { // a constant: its type, its value
			m.parse()
			value, rest, found := strings.Cut(m.text, "E")
			m.failed = m.failed || !found
			t, m.text = ctype{name: strings.Replace(value, "n", "-", 1)}, rest
		} else {
			t = m.parse()
		}
		all, texts = append(all, t), append(texts, t.String())
	}
	if own {
		m.arguments = all
	}
	return "<" + strings.Join(texts, ", ") + ">"
}

// reference reads the number of S_, S0_, T_, T0_ and so on.
func (m *mangled) reference(list []ctype, base int) ctype {
	digits, rest, found := strings.Cut(m.text, "_")
	n := 0
	if digits != "" {
		v, err := strconv.ParseInt(strings.ToLower(digits), base, 32)
		if err != nil {
			m.failed = true
		}
		n = int(v) + 1
	}
	if m.text = rest; !found || n >= len(list) || m.failed {
		m.failed = true
		return ctype{}
	}
	return list[n]
}

// builtin are the types with one letter.
var builtin = map[byte]string{
	'v': "void", 'b': "bool", 'c': "char", 'a': "signed char", 'h': "unsigned char", 's': "short", 't': "unsigned short", 'i': "int",
	'j': "unsigned int", 'l': "long", 'm': "unsigned long", 'x': "long long", 'y': "unsigned long long", 'f': "float", 'd': "double",
}

// parse reads a type.
func (m *mangled) parse() ctype {
	if m.text == "" || m.failed {
		m.failed = true
		return ctype{}
	}
	if name, ok := builtin[m.text[0]]; ok {
		m.text = m.text[1:]
		return ctype{name: name}
	}
	switch {
	case m.accept("P"), m.accept("R"):
		to := m.parse()
		return m.remember(ctype{of: &to})
	case m.accept("K"):
		t := m.parse()
		t.constant = true
		return m.remember(t)
	case m.accept("V"), m.accept("r"): // volatile, restrict
		return m.remember(m.parse())
	case m.accept("A"):
		length, rest, found := strings.Cut(m.text, "_")
		if _, err := strconv.Atoi(length); err != nil || !found {
			m.failed = true
			return ctype{}
		}
		m.text = rest
		elem := m.parse()
		return m.remember(ctype{elem: &elem, length: length})
	case m.accept("T"):
		return m.remember(m.reference(m.arguments, 10))
	case m.accept("S"):
		t := m.reference(m.known, 36)
		if strings.HasPrefix(m.text, "I") {
			t.name += m.templateArguments(false)
			return m.remember(t)
		}
		return t
	case m.text[0] == 'N':
		inner := &mangled{text: m.text, known: m.known, arguments: m.arguments}
		name, _ := inner.function()
		m.text, m.known, m.failed = inner.text, inner.known, inner.failed
		return m.remember(ctype{name: name})
	}
	t := m.remember(ctype{name: m.identifier()})
	if strings.HasPrefix(m.text, "I") && !m.failed {
		t.name += m.templateArguments(false)
		return m.remember(t)
	}
	return t
}

func (m *mangled) remember(t ctype) ctype {
	m.known = append(m.known, t)
	return t
}
