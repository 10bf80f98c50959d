package rt

import (
	"fmt"
	"reflect"
	"testing"
)

type (
	circle struct {
		next  *circle
		other *other
	}
	other struct {
		back  *circle
		value map[string][]any
	}
	plain struct {
		next *plain
		list [2][]map[string]float64
		f    func(any)
	}
)

func TestLeadsToInterface(t *testing.T) {
	for _, row := range []struct {
		x    any
		want bool
	}{
		{0, false},
		{[]string{}, false},
		{plain{}, false},
		{map[string]plain{}, false},
		{[]any{}, true},
		{map[fmt.Stringer]int{}, true},
		{other{}, true},
		{circle{}, true}, // by a type that leads back to it
		{&circle{}, true},
	} {
		s := misfits{reaches: map[reflect.Type]bool{}}
		for range 2 {
			if got := s.reachesInterface(reflect.TypeOf(row.x)); got != row.want {
				t.Errorf("%T leads to an interface: %t", row.x, got)
			}
		}
	}
}
