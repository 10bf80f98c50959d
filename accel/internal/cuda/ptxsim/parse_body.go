package ptxsim

import (
	"math"
	"strconv"
	"strings"
)

// block reads statements in braces.
func (p *parser) block() (list []statement) {
	defer p.nest("braces")()
	p.expect("{")
	for !p.accept("}") {
		if p.token.kind == tokenEnd {
			panic(p.failure(p.token.line, "closing brace missing"))
		}
		if s, ok := p.statement(); ok {
			list = append(list, s)
		}
	}
	return list
}

// statement reads a statement; ok is false for ignored ones, such as debug data.
func (p *parser) statement() (s statement, ok bool) {
	s.line = p.token.line
	switch p.token.text {
	case "{":
		s.scope = p.block()
		return s, true
	case ";":
		p.advance()
		return s, false
	case ".reg", ".shared", ".local", ".param", ".global", ".const":
		s.declares = p.declaration(false)
		return s, true
	case ".extern":
		p.advance()
		if !p.is(".shared") {
			panic(p.failure(s.line, "only .extern .shared is supported in a function"))
		}
		s.declares = p.declaration(true)
		return s, true
	case ".loc":
		p.location()
		return s, false
	case ".pragma":
		p.skipTo(";")
		return s, false
	}
	if p.accept("@") {
		s.guardNot = p.accept("!")
		s.guard = p.name()
	}
	if p.token.kind == tokenWord && p.token.text[0] == '.' {
		panic(p.failure(s.line, "%q is not supported", p.token.text))
	}
	word := p.name()
	if s.guard == "" && p.accept(":") {
		s.label = word
		switch {
		case p.accept(".branchtargets"):
			for more := true; more; more = p.accept(",") {
				s.targets = append(s.targets, p.name())
			}
			p.expect(";")
		case p.is(".callprototype"), p.is(".calltargets"):
			panic(p.failure(s.line, "%q is not supported", p.token.text))
		}
		return s, true
	}
	parts := strings.Split(word, ".")
	s.opcode, s.mods = parts[0], parts[1:]
	p.list(";", func() { s.args = append(s.args, p.operand()) })
	return s, true
}

// operand reads one operand of an instruction.
func (p *parser) operand() operand {
	defer p.nest("operands")()
	switch {
	case p.accept("["):
		return p.memory()
	case p.accept("{"):
		return operand{kind: operandVector, items: p.operands("}")}
	case p.accept("("):
		return operand{kind: operandList, items: p.operands(")")}
	case p.accept("!"):
		return operand{kind: operandNot, items: []operand{p.operand()}}
	}
	o := p.value()
	if p.accept("|") {
		return operand{kind: operandPair, items: []operand{o, p.value()}}
	}
	return o
}

// operands reads a list of operands.
func (p *parser) operands(end string) (all []operand) {
	p.list(end, func() { all = append(all, p.operand()) })
	return all
}

// memory reads what follows the bracket of [address], [address+offset] and [address, {coordinates}].
func (p *parser) memory() operand {
	o := operand{kind: operandMemory}
	for more := true; more; more = p.accept(",") {
		o.items = append(o.items, p.operand())
	}
	p.expect("]")
	o.offset, o.items[0].offset = o.items[0].offset, 0
	return o
}

// value reads a name with an optional offset, or a constant.
func (p *parser) value() operand {
	switch {
	case p.accept("_"):
		return operand{kind: operandSink}
	case p.token.kind != tokenWord:
		return p.constant(p.accept("-"))
	}
	o := operand{kind: operandName, name: p.name()}
	if minus := p.accept("-"); minus || p.accept("+") {
		if p.accept("-") { // [%rd1+-8]
			minus = !minus
		}
		if o.offset = int64(p.integer()); minus {
			o.offset = -o.offset
		}
	}
	return o
}

func (p *parser) constant(minus bool) operand {
	text, line := p.token.text, p.token.line
	if p.token.kind != tokenNumber {
		panic(p.failure(line, "operand expected, not %q", text))
	}
	p.advance()
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "0f") && len(text) == 10, strings.HasPrefix(lower, "0d") && len(text) == 18:
		bits, err := strconv.ParseUint(text[2:], 16, 64)
		if err != nil {
			panic(p.failure(line, "%q is not a number", text))
		}
		width := 4 * (len(text) - 2)
		if minus {
			bits ^= 1 << (width - 1)
		}
		return operand{kind: operandFloat, bits: bits, width: width}
	case strings.Contains(text, "."):
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(p.failure(line, "%q is not a number", text))
		}
		if minus {
			v = -v
		}
		return operand{kind: operandFloat, bits: math.Float64bits(v)}
	}
	v, err := strconv.ParseUint(strings.TrimRight(text, "Uu"), 0, 64)
	if err != nil {
		panic(p.failure(line, "%q is not a number", text))
	}
	if minus {
		v = -v
	}
	return operand{kind: operandInteger, bits: v}
}
