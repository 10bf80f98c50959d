package magic

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/symbols"
)

// A Cell is a parsed cell.
type Cell struct {
	// Source is the cell with its commands replaced by Go code. Positions do not change.
	Source string
	// Reset is true if the session has to remove all definitions before the cell runs.
	Reset bool
	// RunStale is true if the session has to run the stale cells after the cell.
	RunStale bool
	// Examines is true if the result of the cell is a report on the session at its time, which %run stale does not repeat.
	Examines bool
	// Autoget is "on" or "off" if the cell switches %autoget.
	Autoget string
	// Modules are to be downloaded before the cell is checked.
	Modules []Module
	// CUDA is to be compiled, and its kernels set with SetKernels, before the cell is checked; nil if the cell has no %%cuda.
	CUDA    *CUDA
	actions []action
	tests   []check.TestFunction // that %test may run
}

// An Error is an error in a command.
type Error struct {
	Offset int // in the cell, in bytes
	Msg    string
}

func (e *Error) Error() string { return e.Msg }

// A line is a command in a cell.
type line struct {
	start, end int // of the command without its newline; a %% command extends to the end of the cell
	at         int // of the name: start, unless the output is assigned, as in files := !ls
	name, text string
	pieces     []piece // of a shell command
	behind     string  // what follows the name of a %% command in its line; text is the lines below
}

// question, alone in a cell, once or twice, asks for help, as in IPython.
const question = "?"

// takesCell reports whether the rest of the cell is the text of the command, not Go.
func (l line) takesCell() bool {
	return strings.HasPrefix(l.name, "%%") && l.name != timeCell.name && l.name != timeitCell.name && !slices.Contains(unneeded, l.name)
}

// code returns where Go code begins behind the command, or may begin. ok is false if there is none.
func (l line) code(src string) (offset int, ok bool) {
	offset = l.start + len(l.name)
	switch l.name {
	case timeLine.name, timeCell.name, format.name, explain.name:
		return offset, true
	case timeitLine.name, timeitCell.name:
		_, n, err := parseTimeit(src[offset:l.end])
		return offset + n, err == nil
	}
	return 0, false
}

// Parse replaces the commands of a cell by calls:
//
//	!ls -l          →  ʹ(0)
//	%time x := f()  →  ʹ(0);x := f();ʹ(-1)
//	%timeit f()     →  ʹ[0];   f()           which package check makes ʹ(0, …) of, see check.Timed
//	!ls {dir}       →  ʹ(0, dir)
//	files := !ls    →  files := ʹʹ(0)
//	%who            →  ʹ(0, a, b)            with the variables of the session
//	%%cuda          →  var k *kernel.Kernel;ʹ(0, &k)  with the kernels of the rest of the cell
//
// The error is an *Error.
func Parse(src string, s Session) (*Cell, error) {
	if at, text := gonbComment(src); at >= 0 {
		return nil, &Error{at, fmt.Sprintf("a command in a comment does not run: write %s in a line of its own", text)}
	}
	lines := lines(src, s.Known)
	cell := &Cell{Source: src}
	if len(lines) == 0 {
		return cell, nil
	}
	for _, l := range lines {
		switch l.name {
		case format.name:
			return inPlace(src, l, format, formatted)
		case explain.name:
			return inPlace(src, l, explain, explained)
		}
	}
	var b strings.Builder
	var timed []int // where in Source a timed statement begins
	at := 0
	for number, l := range lines {
		c, err := find(l.name)
		if err != nil {
			return nil, &Error{l.start, err.Error()}
		}
		if c.alone && !isAlone(src, l) {
			return nil, &Error{l.start, fmt.Sprintf("%s must be alone in its cell", c.name)}
		}
		var run action
		if c.name == shell.name {
			run, err = prepareShell(l)
		} else if c.name == cudaName {
			cell.CUDA, run, err = prepareCUDA(l, src, number)
		} else if c.prepareLine != nil {
			run, err = c.prepareLine(l.behind, l.text)
		} else if err = noArgument(c.name, l.behind); err == nil {
			run, err = c.prepare(l.text)
		}
		if err != nil {
			return nil, &Error{l.start, err.Error()}
		}
		cell.actions = append(cell.actions, run)
		if number > 0 && lines[number-1].name == timeitCell.name {
			return nil, &Error{l.start, fmt.Sprintf("%s cannot time a command", timeitCell.name)}
		}
		b.WriteString(src[at:l.start])
		at = l.end
		if c.name == timeitLine.name || c.name == timeitCell.name {
			mark := check.Timed(number, c.name == timeitCell.name) + ";"
			b.WriteString(mark)
			at, _ = l.code(src)
			b.WriteString(strings.Repeat(" ", max(at-l.start-len(mark), 0))) // columns stay
			continue
		}
		if c.name == shell.name {
			shellCall(&b, src, l, number)
			continue
		}
		if c.name == cudaName {
			b.WriteString(cell.CUDA.call())
			continue
		}
		fmt.Fprintf(&b, "%s(%d", Name, number)
		switch c.name {
		case who.name:
			for _, v := range s.Variables() {
				fmt.Fprintf(&b, ", %s", v.Name)
			}
			cell.Examines = true
		case test.name:
			if cell.tests == nil {
				cell.tests = s.TestFunctions(Blank(src, s.Known))
			}
			for _, f := range cell.tests {
				fmt.Fprintf(&b, ", %s", f.Name)
			}
		case staleCells.name:
			cell.Examines = true
		case runStale.name:
			cell.RunStale, cell.Examines = true, true
		case reset.name:
			cell.Reset = true
		case autoget.name:
			cell.Autoget = l.text
		case get.name:
			m, _ := oneModule(l.text) // prepare has parsed it too
			m.Offset, m.End = l.start, l.end
			cell.Modules = append(cell.Modules, m)
		}
		b.WriteByte(')')
		switch c.name {
		case timeLine.name:
			// The call is as long as the name of the command: columns stay.
			b.WriteByte(';')
			at = l.start + len(timeLine.name) + 1
			timed = append(timed, b.Len())
		case timeCell.name:
			at = l.start + len(timeCell.name)
		}
	}
	b.WriteString(src[at:])
	cell.Source = endTimes(b.String(), timed)
	return cell, nil
}

// gonbComment returns the offset of the first comment of a cell with a command of gonb, and the command; the offset is -1 if
// there is none.
func gonbComment(src string) (at int, command string) {
	const prefix = "//gonb:"
	if !strings.Contains(src, prefix) {
		return -1, ""
	}
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	for {
		switch pos, tok, lit := s.Scan(); {
		case tok == token.EOF:
			return -1, ""
		case tok == token.COMMENT && strings.HasPrefix(lit, prefix):
			return file.Offset(pos), strings.TrimSpace(strings.TrimPrefix(lit, prefix))
		}
	}
}

// endTimes inserts a call after each timed statement that is not the last statement.
func endTimes(src string, timed []int) string {
	if len(timed) == 0 {
		return src
	}
	var b strings.Builder
	statements := check.Statements(src)
	written, i := 0, 0
	for _, at := range timed {
		for i < len(statements) && statements[i][0] < at {
			i++
		}
		if i >= len(statements)-1 {
			break
		}
		end := statements[i][1]
		fmt.Fprintf(&b, "%s;%s(%d)", src[written:end], Name, stopTime)
		written = end
	}
	return b.String() + src[written:]
}

// isAlone reports whether nothing but l and comments is in a cell.
func isAlone(src string, l line) bool {
	var s scanner.Scanner
	text := []byte(src[:l.start] + src[l.end:])
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, func(token.Position, string) {}, 0)
	_, tok, _ := s.Scan()
	return tok == token.EOF
}

// lines finds the commands of a cell.
func lines(src string, known func(name string) bool) []line {
	if text := strings.TrimSpace(src); text == question || text == question+question {
		i := strings.IndexByte(src, '?')
		return []line{{start: i, end: i + len(text), at: i, name: question}}
	}
	if !strings.ContainsAny(src, "%!") {
		return nil
	}
	var list []line
	seen := map[string]bool{}
	all := []byte(src)
	for start := 0; start < len(src); {
		known := func(name string) bool { return seen[name] || known(name) }
		begin, at := next(all, start, func(name string) { seen[name] = true })
		if at < 0 {
			break
		}
		end := len(src)
		if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i
		}
		text := strings.TrimRight(src[at:end], " \t\r")
		for text[0] == '!' && end < len(src) && strings.HasSuffix(text, "\\") {
			// The shell command continues in the next line.
			if i := strings.IndexByte(src[end+1:], '\n'); i >= 0 {
				end += 1 + i
			} else {
				end = len(src)
			}
			text = strings.TrimRight(src[at:end], " \t\r")
		}
		if text[0] == '!' && (begin == at && isGo(text, known) || begin < at && isGoValue(src[at:], known)) {
			// It continues as a statement, from the token after the !.
			start = at + 1
			continue
		}
		l := line{start: begin, at: at, end: at + len(text)}
		switch {
		case text[0] == '!':
			l.name, l.text = "!", strings.TrimSpace(text[1:])
			l.pieces = pieces(src, at+1+len(text[1:])-len(strings.TrimLeft(text[1:], " \t")), l.end, known)
		default:
			if i := strings.IndexAny(text, " \t"); i >= 0 {
				l.name, l.text = text[:i], strings.TrimSpace(text[i:])
			} else {
				l.name = text
			}
		}
		if l.takesCell() {
			if end < len(src) {
				l.behind, l.text = l.text, src[end+1:]
			}
			l.end, end = len(src), len(src)
		}
		if at, ok := l.code(src); ok && l.name == timeLine.name && l.text != "" {
			// The statement is Go, and may continue in the next lines.
			end = at + 1
		} else if ok && l.name == timeitLine.name {
			end = at
		}
		list = append(list, l)
		start = end
	}
	return list
}

// next returns the offset of the next % or ! that begins a line where a statement may begin, or of the ! behind name := or
// name = at the beginning of a line; begin is where the line begins. The offset is -1 if there is none. The search begins at
// start, where a statement may begin. It calls name with each identifier before the result.
func next(src []byte, start int, name func(string)) (begin, at int) {
	text := src[start:]
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, 0)
	depth := 0
	first := true            // a statement begins with the token
	var tokens []token.Token // of the statement, up to two
	for {
		pos, tok, lit := s.Scan()
		offset := start + file.Offset(pos)
		if tok == token.EOF {
			return -1, -1
		}
		beginsLine := first && len(bytes.TrimSpace(src[bytes.LastIndexByte(src[:offset], '\n')+1:offset])) == 0
		if beginsLine {
			begin, tokens = offset, nil
		} else if first {
			tokens = []token.Token{token.ILLEGAL, token.ILLEGAL}
		}
		switch tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		case token.IDENT:
			name(lit)
		case token.REM, token.NOT, token.REM_ASSIGN, token.NEQ:
			if depth == 0 && beginsLine {
				return offset, offset
			}
			if tok == token.NOT && depth == 0 && len(tokens) == 2 && tokens[0] == token.IDENT && (tokens[1] == token.DEFINE || tokens[1] == token.ASSIGN) &&
				!bytes.Contains(src[begin:offset], []byte("\n")) {
				return begin, offset
			}
		}
		if tokens = append(tokens, tok); len(tokens) > 3 {
			tokens = tokens[:3]
		}
		first = tok == token.SEMICOLON && depth == 0
	}
}

// isGo reports whether a line that begins with ! is a Go expression.
func isGo(text string, known func(name string) bool) bool {
	if _, err := parser.ParseExpr(text); err != nil {
		return false
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), func(token.Position, string) {}, 0)
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.IDENT:
			return known(lit)
		case token.EOF:
			return true
		}
	}
}

// isGoValue reports whether what follows name := or name =, and begins with !, is a Go expression and not a shell command whose
// output is assigned. Both may be, such as !ls -l: then it is Go if the first name is known, or if the syntax is that of a call.
func isGoValue(src string, known func(name string) bool) bool {
	text := src[:statementEnd(src)]
	operand := strings.TrimLeft(text, "! \t")
	name := operand[:len(operand)-len(strings.TrimLeftFunc(operand, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }))]
	rest := operand[len(name):]
	if _, err := parser.ParseExpr(text); err != nil {
		return known(name) && rest != "" && strings.ContainsRune(".([", rune(rest[0])) // unfinished
	}
	if name == "" || name == "true" || name == "false" || known(name) {
		return true
	}
	return strings.HasPrefix(rest, ".") && len(symbols.Guess(name)) > 0 || callOrIndex.MatchString(rest)
}

var callOrIndex = regexp.MustCompile(`^(\.\w+)*[(\[]`)

// statementEnd returns where the statement at the beginning of src ends.
func statementEnd(src string) int {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, 0)
	depth := 0
	for {
		switch pos, tok, _ := s.Scan(); {
		case tok == token.EOF, tok == token.SEMICOLON && depth == 0:
			return file.Offset(pos)
		case tok == token.LPAREN, tok == token.LBRACE, tok == token.LBRACK:
			depth++
		case tok == token.RPAREN, tok == token.RBRACE, tok == token.RBRACK:
			depth--
		}
	}
}

// mayBecomeGo reports whether l is files := !word, which may be the beginning of a Go expression while the user writes it.
func (l line) mayBecomeGo() bool { return l.at > l.start && token.IsIdentifier(l.text) }

// Ranges returns the start and end offsets of the commands of a cell, in order, apart from those that may become Go. Of %time, %timeit and %fmt it is the
// name with options, since Go code follows.
func Ranges(src string, known func(name string) bool) [][2]int {
	var list [][2]int
	for _, l := range lines(src, known) {
		if l.mayBecomeGo() {
			continue
		}
		end := l.end
		if at, ok := l.code(src); ok {
			end = at
		}
		list = append(list, [2]int{l.start, end})
	}
	return list
}

// Blank returns the cell with its commands replaced by spaces, so that offsets stay the same.
// Tools such as completion use it to parse the Go code between commands.
func Blank(src string, known func(name string) bool) string {
	text := []byte(src)
	for _, r := range Ranges(src, known) {
		for i := r[0]; i < r[1]; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
	return string(text)
}

// BlankUnneeded returns the cell with commands that do nothing, such as %%, replaced by spaces, so that offsets stay the
// same.
func BlankUnneeded(src string, known func(name string) bool) string {
	text := []byte(src)
	for _, l := range lines(src, known) {
		if slices.Contains(unneeded, l.name) && l.text == "" {
			copy(text[l.start:l.end], strings.Repeat(" ", l.end-l.start))
		}
	}
	return string(text)
}

// IsOpen reports whether a cell ends in a command whose text may continue in the next line: a
// %% command that does not end in a blank line, or a shell command that ends in a backslash.
func IsOpen(src string, known func(name string) bool) bool {
	for _, l := range lines(src, known) {
		if l.name == shell.name && strings.HasSuffix(src[:l.end], "\\") {
			return true // only the last one of a cell can
		}
		if l.takesCell() {
			return strings.TrimSpace(l.text) == "" || !strings.HasSuffix(strings.ReplaceAll(src, " ", ""), "\n\n")
		}
	}
	return false
}

// At returns the part before offset of the name of a command, and where the name begins. ok is
// false if offset is not in or directly after such a name.
func At(src string, offset int, known func(name string) bool) (start int, prefix string, ok bool) {
	for _, l := range lines(src, known) {
		if l.name != "!" && l.at < offset && offset <= l.at+len(l.name) {
			return l.start, src[l.start:offset], true
		}
	}
	return 0, "", false
}

// InText reports whether offset is in the arguments of a command, which are not Go.
func InText(src string, offset int, known func(name string) bool) bool {
	for _, l := range lines(src, known) {
		if l.mayBecomeGo() {
			continue
		}
		if at, ok := l.code(src); ok && l.name != format.name && l.name != explain.name {
			if l.start+len(l.name) < offset && offset < at {
				return true
			}
			continue
		}
		end := l.end
		if i := strings.IndexByte(src[end:], '\n'); i >= 0 {
			end += i
		} else {
			end = len(src)
		}
		if l.at+len(l.name) <= offset && offset <= end {
			return true
		}
	}
	return false
}

// Names returns the names of the commands that begin with prefix.
func Names(prefix string) []string {
	var names []string
	for _, c := range commands() {
		if strings.HasPrefix(c.name, prefix) {
			names = append(names, c.name)
		}
	}
	return names
}

// DocAt returns the usage and the documentation of the command whose name is at offset.
func DocAt(src string, offset int, known func(name string) bool) (usage, doc string, ok bool) {
	for _, l := range lines(src, known) {
		if l.at <= offset && offset <= l.at+len(l.name) {
			c, err := find(l.name)
			return c.usage, c.doc, err == nil
		}
	}
	return "", "", false
}
