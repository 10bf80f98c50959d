package check

import "go/types"

// An addedMethod is a method that a cell adds to a type of an earlier one.
type addedMethod struct {
	base   *types.Named
	method *types.Func
}
