package ptxsim

import (
	"fmt"
	"sort"
	"strconv"
)

// Source is a position in the text from which PTX was compiled, as .loc gives it. The zero value is an unknown one.
type Source struct {
	File         string
	Line, Column int
}

func (s Source) String() string {
	if s.Line == 0 {
		return "an unknown line"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// location is a .loc: from the line on, the PTX comes from a position.
type location struct {
	line   int // of the PTX
	file   int
	source Source // without the file
}

// location reads .loc file line column. What may follow is skipped.
func (p *parser) location() error {
	l := location{line: p.token.line}
	for _, to := range []*int{&l.file, &l.source.Line, &l.source.Column} {
		if err := p.advance(); err != nil {
			return err
		}
		n, err := strconv.Atoi(p.token.text)
		if err != nil || p.token.line != l.line {
			return p.skipRest(l.line)
		}
		*to = n
	}
	p.module.locations = append(p.module.locations, l)
	return p.skipRest(l.line)
}

// file reads .file number "name".
func (p *parser) file() error {
	line := p.token.line
	if err := p.advance(); err != nil {
		return err
	}
	n, err := strconv.Atoi(p.token.text)
	if err == nil && p.token.line == line {
		if err := p.advance(); err != nil {
			return err
		}
		if p.token.kind == tokenString && p.token.line == line {
			if p.module.files == nil {
				p.module.files = map[int]string{}
			}
			p.module.files[n] = p.token.text
		}
	}
	return p.skipRest(line)
}

// skipRest skips the tokens that are left of a line.
func (p *parser) skipRest(line int) error {
	for p.token.kind != tokenEnd && p.token.line == line {
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

// source returns the position that a line of the PTX comes from.
func (m *module) source(line int) Source {
	i := sort.Search(len(m.locations), func(i int) bool { return m.locations[i].line > line })
	if i == 0 {
		return Source{}
	}
	l := m.locations[i-1]
	s := l.source
	s.File = m.files[l.file]
	return s
}
