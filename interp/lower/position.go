package lower

// The VM and tracebacks know positions by numbers.

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/check"
)

// A position number contains the file, line and column, so that a session needs no table that grows with each cell. The
// number 0 means no position.
const (
	columnBits = 20
	lineBits   = 22
)

// fileTable numbers the files of positions. The number of a cell's file follows from the cell; the table only contains
// files of packages.
type fileTable struct {
	mu      sync.Mutex
	names   []string
	numbers map[string]int
}

// number returns the number of a file: odd for a cell and even for any other file.
func (f *fileTable) number(name string) int {
	if cell, ok := cellNumber(name); ok {
		return 2*cell + 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.numbers[name]
	if !ok {
		f.names = append(f.names, name)
		n = 2 * len(f.names)
		if f.numbers == nil {
			f.numbers = map[string]int{}
		}
		f.numbers[name] = n
	}
	return n
}

// name returns the file with that number.
func (f *fileTable) name(number int) (string, bool) {
	if number%2 == 1 {
		return check.Filename(number / 2), true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := number/2 - 1; i >= 0 && i < len(f.names) {
		return f.names[i], true
	}
	return "", false
}

// cellNumber returns the number of the cell with that file name.
func cellNumber(filename string) (int, bool) {
	text, ok := strings.CutPrefix(filename, "cell[")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "]"))
	return n, err == nil && n >= 0 && check.Filename(n) == filename
}

// Position returns the position for a number in lowered code. It may be called from any goroutine.
func (p *Program) Position(number int) (token.Position, bool) {
	if number <= 0 {
		return token.Position{}, false
	}
	name, ok := p.files.name(number >> (lineBits + columnBits))
	if !ok {
		return token.Position{}, false
	}
	return token.Position{Filename: name, Line: number >> columnBits & (1<<lineBits - 1), Column: number & (1<<columnBits - 1)}, true
}

func (e *emitter) positionOf(n ast.Node) token.Position {
	if n == nil || !n.Pos().IsValid() {
		return token.Position{}
	}
	return e.Fset.Position(n.Pos())
}

// position returns the number of the position of n.
func (e *emitter) position(n ast.Node) int {
	p := e.positionOf(n)
	if p.Filename == "" {
		return 0
	}
	return e.files.number(p.Filename)<<(lineBits+columnBits) | min(p.Line, 1<<lineBits-1)<<columnBits | min(p.Column, 1<<columnBits-1)
}
