package export

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
)

// Errors that a cell sets in loops and branches. A variable of the cell's function reports whether one is
// unread.
//
//	var errUnread bool
//	for _, name := range names {
//		if errUnread {
//			must(err)
//		}
//		errUnread = true
//		data, err = os.ReadFile(name)
//	}

// at returns the offset in the cell of a node of the checked cell.
func (c *cell) at(n ast.Node) int { return c.offset(n.Pos()) }

// offset returns the offset in the cell of a position in the checked cell.
func (c *cell) offset(pos token.Pos) int {
	position := c.checked.Fset.Position(pos)
	offset := 0
	for range position.Line - 1 {
		i := strings.IndexByte(c.Source[offset:], '\n')
		if i < 0 {
			return len(c.Source)
		}
		offset += i + 1
	}
	return offset + position.Column - 1
}

// in reports whether a node of the checked cell begins in the piece.
func (c *cell) in(n ast.Node, piece *piece) bool {
	at := c.at(n)
	return piece.start <= at && at < piece.end
}

// flag returns the variable that reports whether v is unread in the cell. On first use it declares the
// variable in s.
func (p *program) flag(c *cell, v *types.Var, s *section) string {
	if c.unread[v] == "" {
		if c.unread == nil {
			c.unread = map[*types.Var]string{}
		}
		c.unread[v] = p.fresh(v.Name() + "Unread")
		fmt.Fprintf(&s.start, "var %s bool\n", c.unread[v])
	}
	return c.unread[v]
}

// beginErrors writes statements before a piece of a cell that set the flags of its errors.
func (p *program) beginErrors(c *cell, piece *piece, s *section) {
	for at, begins := range c.checked.Begins {
		if !c.in(at, piece) {
			continue
		}
		for _, begin := range begins {
			fmt.Fprintf(&s.body, "%s = %t\n", p.flag(c, begin.Var, s), begin.Set.IsValid())
		}
	}
}

// trackErrors returns the edits that check and set the flags in a piece.
func (p *program) trackErrors(c *cell, piece *piece, s *section) []edit {
	var edits []edit
	inText := func(a, b ast.Stmt) int { return int(a.Pos() - b.Pos()) }
	for _, at := range slices.SortedFunc(maps.Keys(c.checked.Tracks), inText) {
		if !c.in(at, piece) {
			continue
		}
		var b strings.Builder
		for _, track := range c.checked.Tracks[at] {
			flag := p.flag(c, track.Var, s)
			if track.Write {
				fmt.Fprintf(&b, "if %s {\n%s(%s)\n}\n", flag, p.must(c), p.name(track.Var))
			}
			fmt.Fprintf(&b, "%s = %t\n", flag, track.Set != token.Position{})
		}
		offset := c.at(at)
		edits = append(edits, edit{offset, offset, b.String()})
	}
	return edits
}

// checkUnread ends the cell if one of the errors is unread and not nil.
func (p *program) checkUnread(c *cell, errors []check.Unread, s *section) {
	for _, unread := range errors {
		if unread.Tracked {
			fmt.Fprintf(&s.body, "if %s {\n%s(%s)\n}\n", p.flag(c, unread.Var, s), p.must(c), p.name(unread.Var))
			continue
		}
		fmt.Fprintf(&s.body, "%s(%s)\n", p.must(c), p.name(unread.Var))
	}
}
