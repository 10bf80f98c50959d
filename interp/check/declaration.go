package check

import "go/types"

// A declaration is a function, method, type or constant of a committed cell,
// kept as text so that it can be checked again when a name that it uses is
// redefined.
type declaration struct {
	name         string
	receiver     string // type name, of a method
	cell         int
	line, column int
	text         string // without doc comment
	doc          string
	uses         map[types.Object]bool // package-level objects of the session that it mentions
}
