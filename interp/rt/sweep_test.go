package rt

import (
	"go/token"
	"go/types"
	"reflect"
	"sync"
	"testing"
)

// TestSweepWhileMaking makes a type while the session sweeps: making it has begun when the sweep holds the lock of the descriptors, and
// needs the descriptor of a field then. Both end only if they lock in the same order.
func TestSweepWhileMaking(t *testing.T) {
	pkg := types.NewPackage("example.com/cell", "cell")
	declare := func(name, field string, of types.Type) *types.Named {
		s := types.NewStruct([]*types.Var{types.NewField(token.NoPos, pkg, field, of, false)}, nil)
		return types.NewNamed(types.NewTypeName(token.NoPos, pkg, name, nil), s, nil)
	}
	outer := declare("Outer", "In", declare("Inner", "N", types.Typ[types.Int]))

	var begin func() // what the builder of types does when it begins
	r := New(Config{Interpreted: func(*types.Named) bool {
		if begin != nil {
			begin()
		}
		return true
	}})
	d := r.Describe(outer)
	var made reflect.Type
	var wait sync.WaitGroup
	makeType := sync.OnceFunc(func() {
		began := make(chan struct{})
		begin = sync.OnceFunc(func() { close(began) })
		wait.Go(func() {
			var err error
			if made, err = r.declaredType(d); err != nil {
				t.Error(err)
			}
		})
		<-began
	})
	r.Sweep(func(types.Type) bool {
		makeType()
		return true
	})
	wait.Wait()
	if made == nil || made.Name() != "Outer" || made.Field(0).Type.Name() != "Inner" {
		t.Errorf("made %v", made)
	}
}
