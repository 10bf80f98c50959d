package interp

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/rt"
)

// frames lists where a panic came from, innermost last. The statement that
// panicked is known exactly, from the position that lowered code stores; of the
// functions around it the engine knows the name, and the session where each is
// declared.
func (s *Session) frames(passed []frame) []string {
	var lines []string
	at, known := s.currentPosition()
	innermost := ""
	if len(passed) > 0 {
		innermost = userName(passed[0].function)
		if known && !s.mayBeIn(at, passed[0].function) {
			// A function that has returned since stored it.
			known = false
			lines = append(lines, s.innermostFrame(passed[0].function, innermost)...)
		}
	}
	outer := len(lines)
	for i := len(passed) - 1; i > 0; {
		f := passed[i]
		n := 1
		for i--; i > 0 && passed[i] == f; i-- {
			n++
		}
		if name := userName(f.function); name != "" {
			lines = append(lines, s.outerFrame(f.function, name, n)...)
		}
	}
	if known {
		return append(lines, s.frameLines(at, innermost, ansi)...)
	}
	return append(lines[outer:], lines[:outer]...)
}

// innermostFrame is the function that panicked, when only its name is known.
func (s *Session) innermostFrame(function, name string) []string {
	if name != "" {
		return s.outerFrame(function, name, 1)
	}
	if m := bodyNumber.FindStringSubmatch(function); m != nil {
		return []string{fmt.Sprintf("%scell[%s]%s", ansi.place, m[1], ansi.end)}
	}
	return nil
}

// bodyNumber finds the cell whose statements a function runs.
var bodyNumber = regexp.MustCompile(`^bodyʹ(\d+)`)

// extent is where a function is declared.
type extent struct {
	name       token.Position
	start, end token.Position
}

func (e extent) contains(p token.Position) bool {
	return p.Filename == e.start.Filename && !before(p, e.start) && before(p, e.end)
}

func before(p, q token.Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

// mayBeIn says whether a place can be in a function of lowered code.
func (s *Session) mayBeIn(at token.Position, function string) bool {
	function, _, _ = strings.Cut(function, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.functions[function]; ok {
		return e.contains(at)
	}
	m := bodyNumber.FindStringSubmatch(function)
	if m == nil {
		return true // a function that lowering made
	}
	if at.Filename != "cell["+m[1]+"]" {
		return false
	}
	for _, e := range s.functions {
		if e.contains(at) {
			return false
		}
	}
	return true
}

// outerFrame is a function that was waiting for the one that panicked, n times.
func (s *Session) outerFrame(function, name string, n int) []string {
	times := ""
	if n > 1 {
		times = fmt.Sprintf(", %d calls", n)
	}
	s.mu.Lock()
	e, ok := s.functions[strings.TrimSuffix(function, ".func")]
	s.mu.Unlock()
	if !ok {
		return []string{fmt.Sprintf("%sin %s%s%s", ansi.dim, name, times, ansi.end)}
	}
	return []string{fmt.Sprintf("%s%s%s in %s, declared on line %d%s", ansi.place, e.name.Filename, ansi.end, name, e.name.Line, times)}
}

// noteFunctions remembers where the functions of a cell are declared, by the
// names that the engine knows them by.
func (s *Session) noteFunctions(cell *check.Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range cell.Funcs {
		o, ok := cell.Info.Defs[f.Name].(*types.Func)
		if !ok {
			continue
		}
		if name := s.program.Name(o); name != "" {
			s.functions[name] = extent{cell.Fset.Position(f.Name.Pos()), cell.Fset.Position(f.Pos()), cell.Fset.Position(f.End())}
		}
	}
}

// currentPosition is where the statement stands that ran last.
func (s *Session) currentPosition() (token.Position, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := rt.LoadPosition(s.position)
	if n <= 0 || n >= len(s.positions) {
		return token.Position{}, false
	}
	return s.positions[n], true
}

// frameLines is one frame: its place and its line of source.
func (s *Session) frameLines(at token.Position, function string, c colours) []string {
	head := fmt.Sprintf("%s%s:%d:%d%s", c.place, at.Filename, at.Line, at.Column, c.end)
	if function != "" {
		head += " in " + function
	}
	lines := []string{head}
	if source, ok := s.sourceLine(at); ok {
		lines = append(lines, "    "+strings.ReplaceAll(strings.TrimSpace(source), "\t", " "))
	}
	return lines
}

// version is what lowering puts after a name: fʹ2.
var version = regexp.MustCompile(`ʹ\d+$`)

// userName is the name of a function as the user wrote it, "" for one that
// lowering made.
func userName(function string) string {
	name, literal, _ := strings.Cut(function, ".")
	name = version.ReplaceAllString(name, "")
	if name == "" || strings.HasPrefix(name, "bodyʹ") || strings.HasPrefix(name, "registerʹ") {
		return ""
	}
	name = strings.ReplaceAll(name, "ʹ", ".")
	if literal != "" {
		name = "a function literal of " + name
	}
	return name
}
