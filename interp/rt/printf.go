package rt

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// printf formats operands according to format, with the grammar of package fmt:
//
//	% flags [index] width . [index] precision [index] verb
//
// Width and precision are digits, or a * that takes an operand.
func (p *printer) printf(format string, operands []any) {
	s := scanner{rest: format, operands: operands}
	for {
		literal, directive, found := strings.Cut(s.rest, "%")
		p.writeString(literal)
		if !found {
			break
		}
		s.rest = directive
		p.flags = flags{}
		if !p.printDirective(&s) {
			p.writeString("%!(NOVERB)")
			break
		}
	}
	if !s.reordered && s.next < len(operands) {
		p.extra(operands[s.next:])
	}
}

// scanner is the state of one printf call.
type scanner struct {
	rest      string // the rest of the format
	operands  []any
	next      int  // index of the next operand
	reordered bool // the format has argument indexes: surplus operands are not an error
	bad       bool // the current directive has an argument index that does not exist
}

// printDirective reads and prints one directive after its percent sign. It returns false if the
// format ends before the verb.
func (p *printer) printDirective(s *scanner) bool {
	s.bad = false
	p.readFlags(s)
	indexed := s.index()
	if s.take('*') {
		p.width, p.hasWidth = s.integer()
		if !p.hasWidth {
			p.writeString("%!(BADWIDTH)")
		}
		if p.width < 0 {
			p.width, p.minus, p.zero = -p.width, true, false
		}
		indexed = false
	} else {
		p.width, p.hasWidth = s.number()
		s.bad = s.bad || indexed && p.hasWidth
	}
	if len(s.rest) > 1 && s.take('.') {
		s.bad = s.bad || indexed
		indexed = s.index()
		if s.take('*') {
			p.precision, p.hasPrecision = s.integer()
			if p.precision < 0 {
				p.precision, p.hasPrecision = 0, false
			}
			if !p.hasPrecision {
				p.writeString("%!(BADPREC)")
			}
			indexed = false
		} else {
			p.precision, _ = s.number()
			p.hasPrecision = true
		}
	}
	if !indexed {
		s.index()
	}
	if s.rest == "" {
		return false
	}
	verb, size := utf8.DecodeRuneInString(s.rest)
	s.rest = s.rest[size:]
	switch {
	case verb == '%':
		p.writeByte('%')
	case s.bad:
		p.complain(verb, "(BADINDEX)")
	case s.next >= len(s.operands):
		p.complain(verb, "(MISSING)")
	default:
		if verb == 'w' {
			p.wrapped = append(p.wrapped, s.next)
		}
		if verb == 'v' || verb == 'w' {
			p.sharpV, p.sharp = p.sharp, false
			p.plusV, p.plus = p.plus, false
		}
		p.printArgument(s.operands[s.next], verb)
		s.next++
	}
	return true
}

func (p *printer) readFlags(s *scanner) {
	for ; s.rest != ""; s.rest = s.rest[1:] {
		switch s.rest[0] {
		case '#':
			p.sharp = true
		case '0':
			p.zero = true
		case '+':
			p.plus = true
		case '-':
			p.minus = true
		case ' ':
			p.space = true
		default:
			return
		}
	}
}

func (p *printer) complain(verb rune, what string) {
	p.writeString("%!")
	p.buffer = utf8.AppendRune(p.buffer, verb)
	p.writeString(what)
}

// extra prints an error about operands that no directive uses.
func (p *printer) extra(operands []any) {
	p.flags = flags{}
	p.writeString("%!(EXTRA ")
	for i, x := range operands {
		if i > 0 {
			p.writeString(", ")
		}
		if x == nil {
			p.writeString("<nil>")
			continue
		}
		p.writeString(p.registry.TypeName(x) + "=")
		p.printArgument(x, 'v')
	}
	p.writeByte(')')
}

// take skips c if it comes next, and reports whether it did.
func (s *scanner) take(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// largest bounds the magnitude of widths, precisions and indices.
const largest = 1e6

// number reads digits. If the number is too large, it skips the whole format, as fmt does.
func (s *scanner) number() (n int, ok bool) {
	for ; s.rest != "" && '0' <= s.rest[0] && s.rest[0] <= '9'; s.rest = s.rest[1:] {
		if n > largest {
			s.rest = ""
			return 0, false
		}
		n, ok = n*10+int(s.rest[0]-'0'), true
	}
	return n, ok
}

// index reads an argument index in brackets, which selects the next operand. It returns
// false if there is none or if it is malformed.
func (s *scanner) index() bool {
	if s.rest == "" || s.rest[0] != '[' {
		return false
	}
	s.reordered = true
	end := strings.IndexByte(s.rest, ']')
	if len(s.rest) < len("[n]") || end < 0 {
		s.bad = true
		s.rest = s.rest[1:]
		return false
	}
	inside := scanner{rest: s.rest[1:end]}
	s.rest = s.rest[end+1:]
	n, ok := inside.number()
	ok = ok && inside.rest == ""
	if !ok || n < 1 || n > len(s.operands) {
		s.bad = true
		return ok
	}
	s.next = n - 1
	return true
}

// integer consumes the next operand as a width or a precision.
func (s *scanner) integer() (n int, ok bool) {
	if s.next >= len(s.operands) {
		return 0, false
	}
	x := s.operands[s.next]
	s.next++
	switch v := reflect.ValueOf(x); {
	case v.CanInt():
		n, ok = int(v.Int()), int64(int(v.Int())) == v.Int()
	case v.CanUint():
		n, ok = int(v.Uint()), int64(v.Uint()) >= 0 && uint64(int(v.Uint())) == v.Uint()
	}
	if !ok || n > largest || n < -largest {
		return 0, false
	}
	return n, true
}
