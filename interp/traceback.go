package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/yaegi"
)

// A call is a line of a traceback: a function that is active, several times if it
// called itself from one place.
type call struct {
	yaegi.Frame
	place token.Position
	known bool // the place is
	times int
}

// frames lists where a panic came from, or where an interrupted cell was,
// innermost last. Each function of lowered code has stored the position of the
// statement that it is at.
func (s *Session) frames(trace []yaegi.Frame) []string {
	var lines []string
	for _, c := range slices.Backward(s.calls(trace)) {
		lines = append(lines, s.callLines(c)...)
	}
	return lines
}

// calls are the calls of a trace. A loop of a cell's statements that package
// machine runs is a function of its own: the place in it stands for the statement.
func (s *Session) calls(trace []yaegi.Frame) []call {
	var list []call
	for i, f := range trace {
		if i > 0 && trace[i-1].At > 0 && bodyLoop.MatchString(trace[i-1].Function) && bodyNumber.MatchString(f.Function) {
			continue
		}
		c := call{Frame: f, times: 1}
		if f.At > 0 {
			c.place, c.known = s.program.Position(f.At)
		}
		if n := len(list) - 1; n >= 0 && list[n].Frame == f {
			list[n].times++
			continue
		}
		list = append(list, c)
	}
	return list
}

// callLines shows a call.
func (s *Session) callLines(c call) []string {
	times := ""
	if c.times > 1 {
		times = fmt.Sprintf(", %d calls", c.times)
	}
	function := c.Function
	if c.known && !s.inLiteral(c.place) {
		// Lowering made the literal.
		function = strings.TrimSuffix(function, ".func")
	}
	name := s.userName(function)
	switch {
	case c.Compiled && c.Function == "":
		return nil // stands for another
	case c.Compiled:
		return []string{fmt.Sprintf("%sin %s, compiled%s", ansi.dim, c.Function, ansi.end)}
	case c.Function == "":
		return []string{fmt.Sprintf("%sand more calls%s", ansi.dim, ansi.end)}
	case c.known && isStandard(c.place):
		// A body of ours of a generic function of the standard library, and its helpers.
		if _, function, _ := strings.Cut(name, "."); !token.IsExported(function) {
			return nil
		}
		return []string{fmt.Sprintf("%sin %s%s%s", ansi.dim, name, times, ansi.end)}
	case c.known:
		return s.frameLines(c.place, name+times)
	case name == "":
		if m := bodyNumber.FindStringSubmatch(c.Function); m != nil {
			number, _ := strconv.Atoi(m[1])
			return []string{filename(number)}
		}
		return nil
	}
	return s.declaredFrame(function, name, times)
}

// isStandard says whether a place is in package generic.
func isStandard(p token.Position) bool { return strings.HasPrefix(p.Filename, "generic/") }

// bodyLoop is the name of such a function, made by package lower.
var bodyLoop = regexp.MustCompile(`^bodyʹ\d+ʹloopʹ`)

// bodyNumber finds the cell whose statements a function runs.
var bodyNumber = regexp.MustCompile(`^bodyʹ(\d+)`)

// extent is a part of a cell.
type extent struct{ start, end token.Position }

func (e extent) contains(p token.Position) bool {
	return p.Filename == e.start.Filename && !before(p, e.start) && before(p, e.end)
}

func before(p, q token.Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

// inLiteral says whether a place is in a function literal of its cell.
func (s *Session) inLiteral(at token.Position) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := range s.literals[at.Filename] {
		if e.contains(at) {
			return true
		}
	}
	return false
}

// declaredFrame is a function of which only the name is known.
func (s *Session) declaredFrame(function, name, times string) []string {
	s.mu.Lock()
	at, ok := s.functions[strings.TrimSuffix(function, ".func")]
	s.mu.Unlock()
	if !ok {
		return []string{fmt.Sprintf("%sin %s%s%s", ansi.dim, name, times, ansi.end)}
	}
	return []string{fmt.Sprintf("%s in %s, declared on line %d%s", at.Filename, name, at.Line, times)}
}

// noteFunctions remembers where the functions of a cell are declared, by the
// names that the engine knows them by, and where it has function literals.
func (s *Session) noteFunctions(cell *check.Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := func(n ast.Node) bool {
		if l, ok := n.(*ast.FuncLit); ok {
			e := extent{cell.Fset.Position(l.Pos()), cell.Fset.Position(l.End())}
			known := s.literals[e.start.Filename]
			if known == nil {
				known = map[extent]bool{}
				s.literals[e.start.Filename] = known
			}
			known[e] = true
		}
		return true
	}
	delete(s.literals, filename(cell.Number)) // where its number was used before
	for _, statement := range cell.Body {
		ast.Inspect(statement, note)
	}
	for _, f := range cell.Funcs {
		ast.Inspect(f, note)
		o, ok := cell.Info.Defs[f.Name].(*types.Func)
		if !ok {
			continue
		}
		if name := s.program.Name(o); name != "" {
			s.functions[name] = cell.Fset.Position(f.Name.Pos())
		}
	}
}

// frameLines is one frame: its place and its line of source.
func (s *Session) frameLines(at token.Position, function string) []string {
	head := fmt.Sprintf("%s:%d:%d", at.Filename, at.Line, at.Column)
	if function != "" {
		head += " in " + function
	}
	lines := []string{head}
	if source, ok := s.sourceLine(at); ok {
		lines = append(lines, "    "+strings.ReplaceAll(strings.TrimSpace(source), "\t", " "))
	}
	return lines
}

// userName is the name of a function as the user wrote it, "" for one that
// lowering made: fʹ2 is f, TʹMʹ1 is T.M, and of instances of generics Mapʹintʹ1
// is Map, and Stackʹintʹ1ʹPushʹ1 is Stack.Push.
func (s *Session) userName(function string) string {
	name, literal, _ := strings.Cut(function, ".")
	parts := strings.Split(name, "ʹ")
	if n := len(parts); n > 1 {
		parts = parts[:n-1]
	}
	s.mu.Lock()
	_, declared := s.functions[name]
	s.mu.Unlock()
	switch {
	case parts[0] == "" || parts[0] == "body" || parts[0] == "register":
		return ""
	case declared:
		name = strings.Join(parts, ".")
	default:
		name = parts[0]
		if _, ok := generic.Source(name); ok && len(parts) > 1 {
			name += "." + parts[1]
			parts = parts[1:]
		}
		if i := slices.IndexFunc(parts, isNumber); i >= 0 && i+1 < len(parts) {
			name += "." + parts[i+1]
		}
	}
	if literal != "" {
		name = "a function literal of " + name
	}
	return name
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}
