package ptxsim

import (
	"math"
	"strconv"
	"strings"
)

// block reads statements in braces.
func (p *parser) block() ([]statement, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return nil, p.failure(p.token.line, "braces nest more than %d deep", maxNesting)
	}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	var list []statement
	for !p.is("}") {
		if p.token.kind == tokenEnd {
			return nil, p.failure(p.token.line, "closing brace missing")
		}
		s, ok, err := p.statement()
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, s)
		}
	}
	return list, p.advance()
}

// statement reads a statement; ok is false for ignored ones, such as debug data.
func (p *parser) statement() (s statement, ok bool, err error) {
	s.line = p.token.line
	switch p.token.text {
	case "{":
		s.scope, err = p.block()
		return s, true, err
	case ";":
		return s, false, p.advance()
	case ".reg", ".shared", ".local", ".param", ".global", ".const":
		s.declares, err = p.declaration(false)
		return s, true, err
	case ".extern":
		if err := p.advance(); err != nil {
			return s, false, err
		}
		if !p.is(".shared") {
			return s, false, p.failure(s.line, "only .extern .shared is supported in a function")
		}
		s.declares, err = p.declaration(true)
		return s, true, err
	case ".loc":
		return s, false, p.location()
	case ".pragma":
		return s, false, p.pragma()
	}
	if p.is("@") {
		if err := p.advance(); err != nil {
			return s, false, err
		}
		if s.guardNot, err = p.accept("!"); err != nil {
			return s, false, err
		}
		if s.guard, err = p.name(); err != nil {
			return s, false, err
		}
	}
	if p.token.kind == tokenWord && p.token.text[0] == '.' {
		return s, false, p.failure(s.line, "%q is not supported", p.token.text)
	}
	word, err := p.name()
	if err != nil {
		return s, false, err
	}
	if s.guard == "" && p.is(":") {
		s.label = word
		if err := p.advance(); err != nil {
			return s, false, err
		}
		if p.is(".branchtargets") {
			s.targets, err = p.targets()
		} else if p.is(".callprototype") || p.is(".calltargets") {
			err = p.failure(s.line, "%q is not supported", p.token.text)
		}
		return s, true, err
	}
	parts := strings.Split(word, ".")
	s.opcode, s.mods = parts[0], parts[1:]
	for !p.is(";") {
		o, err := p.operand()
		if err != nil {
			return s, false, err
		}
		s.args = append(s.args, o)
		if more, err := p.accept(","); err != nil {
			return s, false, err
		} else if !more {
			break
		}
	}
	return s, true, p.expect(";")
}

func (p *parser) targets() ([]string, error) {
	var list []string
	for {
		if err := p.advance(); err != nil { // the directive, or a comma
			return nil, err
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if list = append(list, name); !p.is(",") {
			return list, p.expect(";")
		}
	}
}

// operand reads one operand of an instruction.
func (p *parser) operand() (operand, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return operand{}, p.failure(p.token.line, "operands nest more than %d deep", maxNesting)
	}
	switch p.token.text {
	case "[":
		return p.memory()
	case "{":
		return p.list(operandVector, "}")
	case "(":
		return p.list(operandList, ")")
	case "!":
		if err := p.advance(); err != nil {
			return operand{}, err
		}
		o, err := p.operand()
		return operand{kind: operandNot, items: []operand{o}}, err
	}
	o, err := p.value()
	if err != nil || !p.is("|") {
		return o, err
	}
	if err := p.advance(); err != nil {
		return o, err
	}
	second, err := p.value()
	return operand{kind: operandPair, items: []operand{o, second}}, err
}

func (p *parser) list(kind operandKind, end string) (operand, error) {
	o := operand{kind: kind}
	if err := p.advance(); err != nil {
		return o, err
	}
	for !p.is(end) {
		item, err := p.operand()
		if err != nil {
			return o, err
		}
		o.items = append(o.items, item)
		if more, err := p.accept(","); err != nil {
			return o, err
		} else if !more {
			break
		}
	}
	return o, p.expect(end)
}

// memory reads [address], [address+offset] and [address, {coordinates}].
func (p *parser) memory() (operand, error) {
	o := operand{kind: operandMemory}
	if err := p.advance(); err != nil {
		return o, err
	}
	for {
		item, err := p.operand()
		if err != nil {
			return o, err
		}
		if len(o.items) == 0 {
			o.offset, item.offset = item.offset, 0
		}
		o.items = append(o.items, item)
		if more, err := p.accept(","); err != nil {
			return o, err
		} else if !more {
			return o, p.expect("]")
		}
	}
}

// value reads a name with an optional offset, or a constant.
func (p *parser) value() (operand, error) {
	if p.token.kind == tokenWord {
		if p.is("_") {
			return operand{kind: operandSink}, p.advance()
		}
		name, err := p.name()
		if err != nil {
			return operand{}, err
		}
		o := operand{kind: operandName, name: name}
		if p.is("+") || p.is("-") {
			minus := p.is("-")
			if err := p.advance(); err != nil {
				return o, err
			}
			if more, err := p.accept("-"); err != nil { // [%rd1+-8]
				return o, err
			} else if more {
				minus = !minus
			}
			n, err := p.integer()
			if err != nil {
				return o, err
			}
			if o.offset = int64(n); minus {
				o.offset = -o.offset
			}
		}
		return o, nil
	}
	minus, err := p.accept("-")
	if err != nil {
		return operand{}, err
	}
	return p.constant(minus)
}

func (p *parser) constant(minus bool) (operand, error) {
	text, line := p.token.text, p.token.line
	if p.token.kind != tokenNumber {
		return operand{}, p.failure(line, "operand expected, not %q", text)
	}
	if err := p.advance(); err != nil {
		return operand{}, err
	}
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "0f") && len(text) == 10, strings.HasPrefix(lower, "0d") && len(text) == 18:
		bits, err := strconv.ParseUint(text[2:], 16, 64)
		if err != nil {
			return operand{}, p.failure(line, "%q is not a number", text)
		}
		width := 4 * (len(text) - 2)
		if minus {
			bits ^= 1 << (width - 1)
		}
		return operand{kind: operandFloat, bits: bits, width: width}, nil
	case strings.Contains(text, "."):
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return operand{}, p.failure(line, "%q is not a number", text)
		}
		if minus {
			v = -v
		}
		return operand{kind: operandFloat, bits: math.Float64bits(v)}, nil
	}
	v, err := strconv.ParseUint(strings.TrimRight(text, "Uu"), 0, 64)
	if err != nil {
		return operand{}, p.failure(line, "%q is not a number", text)
	}
	if minus {
		v = -v
	}
	return operand{kind: operandInteger, bits: v}, nil
}
