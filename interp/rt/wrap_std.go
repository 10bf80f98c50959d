package rt

import (
	"container/heap"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"math/rand"
	"net/http"
	"reflect"
	"sort"
	"testing"
)

// addNativeWrappers adds wrappers for the interfaces that cells implement most. Calls through
// them are several times faster than through yaegi's wrappers, which use reflection, and they
// are comparable.
func (r *representations) addNativeWrappers() {
	for _, t := range streamInterfaces {
		r.AddWrapper(t, wrapStream)
	}
	r.addDriverWrappers()
	r.AddWrapper(reflect.TypeFor[sort.Interface](), func(b Box) any { return sorter{b} })
	r.AddWrapper(reflect.TypeFor[heap.Interface](), func(b Box) any { return heaper{sorter{b}} })
	r.AddWrapper(reflect.TypeFor[http.Handler](), func(b Box) any { return handler{b} })
	r.AddWrapper(reflect.TypeFor[http.ResponseWriter](), wrapResponse)
	r.AddWrapper(reflect.TypeFor[fs.FS](), wrapFileSystem)
	r.AddWrapper(reflect.TypeFor[fs.File](), wrapFile)
	r.AddWrapper(reflect.TypeFor[testing.TB](), func(b Box) any { return TestDouble{Box: b} })
	r.AddWrapper(reflect.TypeFor[rand.Source](), wrapSource)
	r.AddWrapper(reflect.TypeFor[image.Image](), func(b Box) any { return imageBox{b} })
	r.AddWrapper(reflect.TypeFor[color.Color](), func(b Box) any { return colorBox{b} })
	r.AddWrapper(reflect.TypeFor[flag.Value](), func(b Box) any { return flagValue{b} })
	r.AddWrapper(reflect.TypeFor[fmt.GoStringer](), func(b Box) any { return goStringer{b} })
	r.AddWrapper(reflect.TypeFor[encoding.TextMarshaler](), func(b Box) any { return textMarshaler{b} })
	r.AddWrapper(reflect.TypeFor[encoding.TextUnmarshaler](), func(b Box) any { return textUnmarshaler{b} })
	r.AddWrapper(reflect.TypeFor[json.Unmarshaler](), func(b Box) any { return jsonUnmarshaler{b} })
}

type sorter struct{ Box }

func (b sorter) Len() int           { return call0[int](b.Box, "Len") }
func (b sorter) Less(i, j int) bool { return call2[bool](b.Box, "Less", i, j) }
func (b sorter) Swap(i, j int)      { callVoid2(b.Box, "Swap", i, j) }

type heaper struct{ sorter }

func (b heaper) Push(x any) { callVoid1(b.Box, "Push", x) }
func (b heaper) Pop() any   { return call0[any](b.Box, "Pop") }

type handler struct{ Box }

func (b handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	callVoid2(b.Box, "ServeHTTP", w, r)
}

type imageBox struct{ Box }

func (b imageBox) ColorModel() color.Model { return call0[color.Model](b.Box, "ColorModel") }
func (b imageBox) Bounds() image.Rectangle { return call0[image.Rectangle](b.Box, "Bounds") }
func (b imageBox) At(x, y int) color.Color { return call2[color.Color](b.Box, "At", x, y) }

type colorBox struct{ Box }

func (b colorBox) RGBA() (r, g, bl, a uint32) {
	m := b.method("RGBA")
	if f, ok := m.function.(func(any) (uint32, uint32, uint32, uint32)); ok {
		return f(b.V)
	}
	out := m.call(b.Box)
	return result[uint32](out, 0), result[uint32](out, 1), result[uint32](out, 2), result[uint32](out, 3)
}

// flagValue always has IsBoolFlag, which package flag looks for: false means the same as its
// absence.
type flagValue struct{ Box }

func (b flagValue) String() string {
	if b.T == nil { // package flag calls String on a zero value to find out the default
		return ""
	}
	return b.stringText()
}
func (b flagValue) Set(s string) error { return call1[error](b.Box, "Set", s) }
func (b flagValue) IsBoolFlag() bool {
	return b.T != nil && b.T.set.Load().hasSignature("IsBoolFlag", "func() bool") && call0[bool](b.Box, "IsBoolFlag")
}

type goStringer struct{ Box }

func (b goStringer) GoString() string { return call0[string](b.Box, "GoString") }

type textMarshaler struct{ Box }

func (b textMarshaler) MarshalText() ([]byte, error) {
	return call0x2[[]byte, error](b.Box, "MarshalText")
}

type textUnmarshaler struct{ Box }

func (b textUnmarshaler) UnmarshalText(text []byte) error {
	return call1[error](b.Box, "UnmarshalText", text)
}

type jsonUnmarshaler struct{ Box }

func (b jsonUnmarshaler) UnmarshalJSON(data []byte) error {
	return call1[error](b.Box, "UnmarshalJSON", data)
}
