package magic

import "context"

var reset = command{
	name: "%reset", usage: "%reset", doc: "forgets all variables, functions, types and imports", alone: true,
	// The session has done this before it checked the cell.
	prepare: func(text string) (action, error) {
		return func(context.Context, *Run, []any) error { return nil }, noArgument("%reset", text)
	},
}
