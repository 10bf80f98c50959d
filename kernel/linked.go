package kernel

import (
	"regexp"
	"strings"

	"github.com/quernlab/quern/kernel/link"
)

// linked returns the traceback of an error in the form in which the front end that runs a cell makes links of its positions.
//
//   - JupyterLab and Notebook make a link of the absolute path of a file below their folder, with a line. They have none for cells,
//     and ignore links of terminals.
//   - VS Code, whose ids of cells are URIs of its own, knows the tracebacks of IPython: of a line "Cell In[3], line 2" or
//     "File /path/file.go:2", and of numbers at the beginning of the next lines, up to an empty one. It drops what follows
//     the number of the first.
//
// All of it is plain text, which notebooks store.
func linked(why *link.CellError, cellID string) []string {
	var lines []string
	if !strings.HasPrefix(cellID, "vscode-") {
		for _, line := range why.Traceback {
			if m := link.Position.FindStringSubmatch(line); m != nil && why.Files[m[1]] != "" {
				line = why.Files[m[1]] + strings.TrimPrefix(line, m[1])
			}
			lines = append(lines, line)
		}
		return lines
	}
	for rest := why.Traceback; len(rest) > 0; {
		m := link.Position.FindStringSubmatch(rest[0])
		if m == nil || !cellName.MatchString(m[1]) && why.Files[m[1]] == "" {
			lines = append(lines, rest[0])
			rest = rest[1:]
			continue
		}
		below := 1
		for below < len(rest) && strings.HasPrefix(rest[below], sourceIndent) {
			below++
		}
		lines = append(lines, ipython(why, m, rest[1:below])...)
		rest = rest[below:]
	}
	return lines
}

// sourceIndent begins the lines below a position in a traceback: the source, a caret, and more about the error.
const sourceIndent = "    "

var cellName = regexp.MustCompile(`^cell\[(\d+)\]$`)

// ipython returns a position, and the lines below it, in the form of IPython. m is a match of link.Position.
func ipython(why *link.CellError, m, below []string) (lines []string) {
	head := "File " + why.Files[m[1]] + ":" + m[2]
	if cell := cellName.FindStringSubmatch(m[1]); cell != nil {
		head = "Cell In[" + cell[1] + "], line " + m[2]
	}
	if m[4] != "" {
		head += ", " + m[4]
	}
	lines = append(lines, head)
	isSource := len(below) > 0
	if m[3] != "" {
		lines = append(lines, why.Name+": "+m[3]) // a message may begin with a number
		isSource = len(below) > 1 && caret.MatchString(below[1])
	}
	number := "----> " + m[2] + " "
	if !isSource {
		lines = append(lines, number+"…")
	}
	for i, line := range below {
		line = strings.TrimPrefix(line, sourceIndent)
		switch {
		case isSource && i == 0:
			line = number + line
		case isSource && i == 1 && m[3] != "":
			line = strings.Repeat(" ", len(number)) + line
		default:
			line = sourceIndent + line
		}
		lines = append(lines, line)
	}
	return append(lines, "")
}

// caret matches the line with a caret below the source of a compile error.
var caret = regexp.MustCompile(`^\s*(\x1b\[\d*m)?\^`)
