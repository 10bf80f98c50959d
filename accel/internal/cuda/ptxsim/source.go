package ptxsim

import (
	"fmt"
	"path/filepath"
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
	// Of a function that the compiler has inserted: the position of the call.
	callFile int
	call     Source
}

// location reads .loc file line column, and then inlined_at file line column, if it follows.
func (p *parser) location() {
	l := location{line: p.token.line}
	if !p.position(&l.file, &l.source) {
		return
	}
	p.advance()
	for p.token.kind != tokenEnd && p.token.line == l.line {
		if p.is("inlined_at") && !p.position(&l.callFile, &l.call) {
			return
		}
		p.advance()
	}
	p.module.locations = append(p.module.locations, l)
}

// position reads file line column after the present token, up to the column. If they are not complete, it skips the line.
func (p *parser) position(file *int, s *Source) (complete bool) {
	line := p.token.line
	for _, to := range []*int{file, &s.Line, &s.Column} {
		p.advance()
		n, err := strconv.Atoi(p.token.text)
		if err != nil || p.token.line != line {
			p.skipRest(line)
			return false
		}
		*to = n
	}
	return true
}

// file reads .file number "name".
func (p *parser) file() {
	line := p.token.line
	p.advance()
	n, err := strconv.Atoi(p.token.text)
	if err == nil && p.token.line == line {
		p.advance()
		if p.token.kind == tokenString && p.token.line == line {
			if p.module.files == nil {
				p.module.files = map[int]string{}
			}
			p.module.files[n] = p.token.text
		}
	}
	p.skipRest(line)
}

// skipRest skips the tokens that are left of a line.
func (p *parser) skipRest(line int) {
	for p.token.kind != tokenEnd && p.token.line == line {
		p.advance()
	}
}

// source returns the position that a line of the PTX comes from.
func (m *module) source(line int) Source {
	i := sort.Search(len(m.locations), func(i int) bool { return m.locations[i].line > line })
	if i == 0 {
		return Source{}
	}
	l := m.locations[i-1]
	// Line 0 is code that belongs to no line; it is part of what comes before.
	for i--; m.locations[i].source.Line == 0 && i > 0; i-- {
		l = m.locations[i-1]
	}
	s, file := l.source, l.file
	// A function of a header is part of the line that calls it. Its call may be in a header, too.
	for ; i >= 0 && filepath.IsAbs(m.files[file]); i-- {
		if at := m.locations[i]; at.file == file && at.source == s && at.callFile != 0 {
			s, file = at.call, at.callFile
		}
	}
	s.File = m.files[file]
	return s
}
