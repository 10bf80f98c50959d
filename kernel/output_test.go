package kernel

import (
	"reflect"
	"testing"
)

func TestParentsAreBounded(t *testing.T) {
	t.Parallel()
	var p parents
	for cell := range maxParents + 5 {
		p.set(cell, []byte("x"))
		p.set(cell, []byte("y"))
	}
	if len(p.byCell) != maxParents || p.get(4) != nil || !reflect.DeepEqual(p.get(5), p.get(maxParents+4)) {
		t.Errorf("%d cells kept", len(p.byCell))
	}
}
