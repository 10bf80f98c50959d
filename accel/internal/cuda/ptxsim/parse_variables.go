package ptxsim

func (p *parser) parameters() ([]variable, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var list []variable
	for !p.is(")") {
		if !p.is(".param") {
			return nil, p.failure(p.token.line, "only .param parameters are supported, not %q", p.token.text)
		}
		v, err := p.variable()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	return list, p.expect(")")
}

// declaration reads variables of one space and type up to the semicolon.
func (p *parser) declaration(extern bool) ([]variable, error) {
	first, err := p.variable()
	if err != nil {
		return nil, err
	}
	first.extern = extern
	list := []variable{first}
	for p.is(",") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		v := first
		v.count, v.array, v.open, v.repeat, v.initial = 1, false, false, 0, nil
		if err := p.declarator(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, p.expect(";")
}

// variable reads a space, a type and one declarator.
func (p *parser) variable() (variable, error) {
	v := variable{line: p.token.line, space: p.token.text[1:], vector: 1, count: 1}
	if err := p.advance(); err != nil {
		return v, err
	}
	for v.typ.name == "" {
		word := p.token.text
		if p.token.kind != tokenWord || word[0] != '.' {
			return v, p.failure(p.token.line, "type expected, not %q", word)
		}
		if err := p.advance(); err != nil {
			return v, err
		}
		switch word {
		case ".align":
			n, err := p.small(1 << 12)
			if err != nil {
				return v, err
			}
			if n == 0 || n&(n-1) != 0 {
				return v, p.failure(v.line, ".align %d is not a power of two", n)
			}
			v.align = n
		case ".v2":
			v.vector = 2
		case ".v4":
			v.vector = 4
		default:
			t, ok := valueTypes[word[1:]]
			if !ok {
				return v, p.failure(v.line, "%q is not supported in a declaration", word)
			}
			v.typ = t
		}
	}
	for p.is(".ptr") || p.is(".global") || p.is(".const") || p.is(".shared") || p.is(".local") || p.is(".align") {
		aligned := p.is(".align") // alignment of the memory that the parameter points to
		if err := p.advance(); err != nil {
			return v, err
		}
		if aligned {
			if _, err := p.integer(); err != nil {
				return v, err
			}
		}
	}
	v.align = max(v.align, v.typ.bytes()*v.vector)
	return v, p.declarator(&v)
}

// declarator reads a name, its array sizes or repeat count, and its initial value.
func (p *parser) declarator(v *variable) (err error) {
	v.line = p.token.line
	if v.name, err = p.name(); err != nil {
		return err
	}
	if p.is("<") {
		if err = p.advance(); err != nil {
			return err
		}
		if v.repeat, err = p.small(1 << 20); err != nil {
			return err
		}
		return p.expect(">")
	}
	for p.is("[") {
		if err = p.advance(); err != nil {
			return err
		}
		v.array = true
		if p.is("]") {
			v.open, v.count = true, 0
		} else {
			n, err := p.small(maxArrayBytes)
			if err != nil {
				return err
			}
			if v.count *= n; v.bytes() > maxArrayBytes {
				return p.failure(v.line, "%s is larger than the supported %d bytes", v.name, maxArrayBytes)
			}
		}
		if err = p.expect("]"); err != nil {
			return err
		}
	}
	if p.is("=") {
		if err = p.advance(); err != nil {
			return err
		}
		v.initial, err = p.initial()
	}
	return err
}

// initial reads the values of a variable in the order of memory.
func (p *parser) initial() ([]operand, error) {
	if !p.is("{") {
		o, err := p.value()
		return []operand{o}, err
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		return nil, p.failure(p.token.line, "braces nest more than %d deep", maxNesting)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var list []operand
	for !p.is("}") {
		part, err := p.initial()
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	return list, p.expect("}")
}
