package layout

import (
	"go/token"
	"go/types"
	"reflect"
	"testing"
)

// A struct without a name is created once, and a sweep removes it.
func TestSweepRemovesStructs(t *testing.T) {
	lookup, b := checked(t, standard), newBuilder()
	node := lookup("Node")
	s := types.NewStruct([]*types.Var{types.NewField(token.NoPos, node.Obj().Pkg(), "n", node, false)}, nil)
	made := func() reflect.Type {
		typ, err := b.Reflect(s)
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	if first := made(); first != made() || b.structs[s] != first {
		t.Errorf("the same struct is created more than once")
	}
	b.Sweep(func(types.Type) bool { return false })
	if len(b.structs) > 0 {
		t.Errorf("%d structs remain after a sweep that keeps nothing", len(b.structs))
	}
}
