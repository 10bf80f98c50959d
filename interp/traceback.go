package interp

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"
)

// frames lists where a panic came from, innermost last. The statement that
// panicked is known exactly, from the position that lowered code stores; of the
// functions around it the engine knows the name and where each begins.
func (s *Session) frames(cell int, passed []frame) []string {
	var lines []string
	for i := len(passed) - 1; i > 0; i-- {
		f := passed[i]
		at := token.Position{Filename: f.file, Line: f.line}
		if name := userName(f.function); name != "" {
			lines = append(lines, s.outerFrame(at, name)...)
		}
	}
	innermost := ""
	if len(passed) > 0 {
		innermost = userName(passed[0].function)
	}
	if at, ok := s.currentPosition(); ok {
		lines = append(lines, s.frameLines(at, innermost, ansi)...)
	}
	return lines
}

func (s *Session) outerFrame(at token.Position, name string) []string {
	if !strings.HasPrefix(at.Filename, "cell[") {
		return []string{fmt.Sprintf("%sin %s%s", ansi.dim, name, ansi.end)}
	}
	return []string{fmt.Sprintf("%s%s%s in %s", ansi.place, at.Filename, ansi.end, name)}
}

// currentPosition is where the statement stands that ran last.
func (s *Session) currentPosition() (token.Position, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := *s.position
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
	name, _, _ := strings.Cut(function, ".")
	name = version.ReplaceAllString(name, "")
	if name == "" || strings.HasPrefix(name, "bodyʹ") || strings.HasPrefix(name, "registerʹ") {
		return ""
	}
	return strings.ReplaceAll(name, "ʹ", ".")
}
