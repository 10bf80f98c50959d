package layout

import (
	"go/token"
	"go/types"
	"reflect"
	"testing"
)

// A struct without a name is created once, until a sweep removes the types of its fields.
func TestSweepForgetsStructs(t *testing.T) {
	lookup, b := checked(t), newBuilder()
	node := lookup("Node")
	s := types.NewStruct([]*types.Var{types.NewField(token.NoPos, node.Obj().Pkg(), "n", node, false)}, nil)
	if first, again := reflectOf(t, b, s), reflectOf(t, b, s); first != again {
		t.Errorf("the same struct has two types: %v and %v", first, again)
	}
	b.Sweep(func(types.Type) bool { return false })
	if in, made := reflectOf(t, b, s).Field(0).Type, reflectOf(t, b, node); in != made {
		t.Errorf("after a sweep, the field of the struct still has the type that was removed")
	}
}

func reflectOf(t *testing.T, b *Builder, typ types.Type) reflect.Type {
	t.Helper()
	made, err := b.Reflect(typ)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
