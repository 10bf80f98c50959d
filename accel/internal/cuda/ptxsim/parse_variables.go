package ptxsim

func (p *parser) parameters() (list []variable) {
	p.expect("(")
	p.list(")", func() {
		if !p.is(".param") {
			panic(p.failure(p.token.line, "only .param parameters are supported, not %q", p.token.text))
		}
		list = append(list, p.variable())
	})
	return list
}

// declaration reads variables of one space and type up to the semicolon.
func (p *parser) declaration(extern bool) []variable {
	first := p.variable()
	first.extern = extern
	list := []variable{first}
	for p.accept(",") {
		v := first
		v.count, v.array, v.open, v.repeat, v.initial = 1, false, false, 0, nil
		p.declarator(&v)
		list = append(list, v)
	}
	p.expect(";")
	return list
}

// variable reads a space, a type and one declarator.
func (p *parser) variable() variable {
	v := variable{line: p.token.line, space: p.token.text[1:], vector: 1, count: 1}
	p.advance()
	for v.typ.name == "" {
		word := p.token.text
		if p.token.kind != tokenWord || word[0] != '.' {
			panic(p.failure(p.token.line, "type expected, not %q", word))
		}
		p.advance()
		switch word {
		case ".align":
			n := p.small(1 << 12)
			if n == 0 || n&(n-1) != 0 {
				panic(p.failure(v.line, ".align %d is not a power of two", n))
			}
			v.align = n
		case ".v2":
			v.vector = 2
		case ".v4":
			v.vector = 4
		default:
			t, ok := valueTypes[word[1:]]
			if !ok {
				panic(p.failure(v.line, "%q is not supported in a declaration", word))
			}
			v.typ = t
		}
	}
	for {
		if p.accept(".align") { // of the memory that the parameter points to
			p.integer()
		} else if !p.accept(".ptr") && !p.accept(".global") && !p.accept(".const") && !p.accept(".shared") && !p.accept(".local") {
			break
		}
	}
	v.align = max(v.align, v.typ.bytes()*v.vector)
	p.declarator(&v)
	return v
}

// declarator reads a name, its array sizes or repeat count, and its initial value.
func (p *parser) declarator(v *variable) {
	v.line = p.token.line
	v.name = p.name()
	if p.accept("<") {
		v.repeat = p.small(1 << 20)
		p.expect(">")
		return
	}
	for p.accept("[") {
		v.array = true
		if p.is("]") {
			v.open, v.count = true, 0
		} else if v.count *= p.small(maxArrayBytes); v.bytes() > maxArrayBytes {
			panic(p.failure(v.line, "%s is larger than the supported %d bytes", v.name, maxArrayBytes))
		}
		p.expect("]")
	}
	if p.accept("=") {
		v.initial = p.initial()
	}
}

// initial reads the values of a variable in the order of memory.
func (p *parser) initial() (list []operand) {
	if !p.is("{") {
		return []operand{p.value()}
	}
	defer p.nest("braces")()
	p.advance()
	p.list("}", func() { list = append(list, p.initial()...) })
	return list
}
