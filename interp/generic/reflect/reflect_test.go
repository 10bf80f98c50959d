package reflect_test

import (
	"fmt"
	standard "reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/generic/reflect"
)

func TestTypeFor(t *testing.T) {
	for _, pair := range [][2]standard.Type{
		{reflect.TypeFor[int](), standard.TypeFor[int]()},
		{reflect.TypeFor[error](), standard.TypeFor[error]()},
		{reflect.TypeFor[*strings.Builder](), standard.TypeFor[*strings.Builder]()},
		{reflect.TypeFor[func(any)](), standard.TypeFor[func(any)]()},
	} {
		if pair[0] != pair[1] {
			t.Errorf("TypeFor gives %v, want %v", pair[0], pair[1])
		}
	}
}

func TestTypeAssert(t *testing.T) {
	var nobody error
	for _, v := range []standard.Value{
		standard.ValueOf(1), standard.ValueOf("a"), standard.ValueOf(fmt.Errorf("e")), standard.ValueOf(&nobody).Elem(), standard.ValueOf(new(strings.Builder)),
	} {
		i, ok := reflect.TypeAssert[int](v)
		wantI, wantOK := standard.TypeAssert[int](v)
		if i != wantI || ok != wantOK {
			t.Errorf("%v as int: %v, %v, want %v, %v", v, i, ok, wantI, wantOK)
		}
		s, ok := reflect.TypeAssert[fmt.Stringer](v)
		wantS, wantOK := standard.TypeAssert[fmt.Stringer](v)
		if s != wantS || ok != wantOK {
			t.Errorf("%v as Stringer: %v, %v, want %v, %v", v, s, ok, wantS, wantOK)
		}
	}
}
