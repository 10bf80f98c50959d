package lower

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// yaegi evaluates a unit in pieces, because it cannot be interrupted while it compiles one and needs memory for a whole
// piece at a time. It knows the declarations of earlier pieces, as it knows those of earlier cells. So a piece must not
// depend on later pieces: declarations that refer to each other are in the same piece.

const (
	// singlePieceSize is the maximum length of a source that is a single piece.
	singlePieceSize = 64 << 10
	// pieceSize is the maximum length of a piece, unless one declaration or several that refer
	// to each other are longer.
	pieceSize = 32 << 10
)

// Pieces returns the parts of Source, to be evaluated one after the other.
func (u *Unit) Pieces() []string {
	if len(u.Source) <= singlePieceSize || len(u.declarations) < 2 {
		return []string{u.Source}
	}
	starts := slices.Clone(u.declarations)
	starts[0] = 0
	texts := make([]string, len(starts))
	byName := make(map[string]int, len(starts))
	for i, start := range starts {
		end := len(u.Source)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		texts[i] = u.Source[start:end]
		byName[declaredName(u.Source[u.declarations[i]:end])] = i
	}
	uses := make([][]int, len(texts))
	for i, text := range texts {
		for name := range longNames(text) {
			if j, ok := byName[name]; ok && j != i {
				uses[i] = append(uses[i], j)
			}
		}
	}
	var pieces []string
	var piece strings.Builder
	for _, group := range inDependencyOrder(uses) {
		slices.Sort(group)
		for _, i := range group {
			piece.WriteString(texts[i])
		}
		if piece.Len() >= pieceSize {
			pieces = append(pieces, piece.String())
			piece.Reset()
		}
	}
	if piece.Len() > 0 {
		pieces = append(pieces, piece.String())
	}
	return pieces
}

// declaredName returns the name that a declaration declares.
func declaredName(text string) string {
	_, rest, _ := strings.Cut(text, " ")
	if i := strings.IndexAny(rest, " ("); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// longNames yields the identifiers of a text that contain the letter ʹ. All package-level names of lowered code do. It
// also finds them in string literals.
func longNames(text string) iter.Seq[string] {
	inName := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return func(yield func(string) bool) {
		for {
			i := strings.Index(text, "ʹ")
			if i < 0 {
				return
			}
			start := i
			for start > 0 {
				r, size := utf8.DecodeLastRuneInString(text[:start])
				if !inName(r) {
					break
				}
				start -= size
			}
			end := i
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				if !inName(r) {
					break
				}
				end += size
			}
			if !yield(text[start:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// inDependencyOrder returns the strongly connected components of a graph, each before those that use it (Tarjan's
// algorithm).
func inDependencyOrder(uses [][]int) (groups [][]int) {
	index := make([]int, len(uses)) // in the order of visits, from 1
	lowest := make([]int, len(uses))
	onStack := make([]bool, len(uses))
	var stack []int
	visits := 0
	type visit struct{ node, next int }
	for root := range uses {
		if index[root] > 0 {
			continue
		}
		path := []visit{{root, 0}}
		for len(path) > 0 {
			v := &path[len(path)-1]
			n := v.node
			if v.next == 0 {
				visits++
				index[n], lowest[n] = visits, visits
				stack, onStack[n] = append(stack, n), true
			}
			if v.next < len(uses[n]) {
				to := uses[n][v.next]
				v.next++
				switch {
				case index[to] == 0:
					path = append(path, visit{to, 0})
				case onStack[to]:
					lowest[n] = min(lowest[n], index[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				caller := path[len(path)-1].node
				lowest[caller] = min(lowest[caller], lowest[n])
			}
			if lowest[n] == index[n] {
				var group []int
				for onStack[n] {
					last := len(stack) - 1
					group, onStack[stack[last]] = append(group, stack[last]), false
					stack = stack[:last]
				}
				groups = append(groups, group)
			}
		}
	}
	return groups
}
