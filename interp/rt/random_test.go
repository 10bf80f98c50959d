package rt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomType builds a type from those of shapes_test.go.
func randomType(r *rand.Rand, depth int) reflect.Type {
	if depth == 0 || r.IntN(3) == 0 {
		return reflect.TypeOf(realTypes[r.IntN(len(realTypes))])
	}
	elem := randomType(r, depth-1)
	switch r.IntN(6) {
	case 0:
		return reflect.PointerTo(elem)
	case 1:
		return reflect.SliceOf(elem)
	case 2:
		return reflect.ArrayOf(r.IntN(3), elem)
	case 3:
		keys := []reflect.Type{reflect.TypeFor[Int](), reflect.TypeFor[Text](), reflect.TypeFor[Color](), reflect.TypeFor[Celsius](), anyType}
		return reflect.MapOf(keys[r.IntN(len(keys))], elem)
	case 4:
		return reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: elem, Tag: `json:"a,omitempty"`},
			{Name: "B", Type: randomType(r, depth-1), Tag: `json:",omitzero"`},
		})
	}
	return elem
}

// randomValue fills a value of type t.
func randomValue(r *rand.Rand, t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(5) - 1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(r.IntN(5)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1.5, -1e21, 1e-9, 3}[r.IntN(5)])
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(r.Float64(), math.Trunc(r.Float64())))
	case reflect.String:
		v.SetString([]string{"", "a", "<b>\n", "\xff", "世"}[r.IntN(5)])
	case reflect.Pointer:
		if depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(randomValue(r, t.Elem(), depth-1))
		}
	case reflect.Slice:
		if depth > 0 && r.IntN(4) > 0 {
			n := r.IntN(3)
			v.Set(reflect.MakeSlice(t, n, n))
			for i := range n {
				v.Index(i).Set(randomValue(r, t.Elem(), depth-1))
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(randomValue(r, t.Elem(), depth-1))
		}
	case reflect.Map:
		if depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(t))
			key := randomValue(r, t.Key(), 0)
			if t.Key() == anyType {
				key = reflect.ValueOf(Int(r.IntN(9)))
			}
			v.SetMapIndex(key, randomValue(r, t.Elem(), depth-1))
		}
	case reflect.Interface:
		if depth > 0 && t == anyType && r.IntN(3) > 0 {
			v.Set(randomValue(r, randomType(r, 1), depth-1))
		} else if t == errorType && r.IntN(2) > 0 {
			v.Set(reflect.ValueOf(Code{r.IntN(3)}))
		}
	case reflect.Struct:
		if t.PkgPath() != "" && t.PkgPath() != reflect.TypeFor[Point]().PkgPath() {
			return v
		}
		for i := range t.NumField() {
			open(v.Field(i)).Set(randomValue(r, t.Field(i).Type, depth-1))
		}
	}
	return v
}

func FuzzRandomValues(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, "%v")
		f.Add(seed, "%+v")
		f.Add(seed, "%#v")
	}
	w := newHarness(f)
	f.Fuzz(func(t *testing.T, seed uint64, format string) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := randomValue(r, randomType(r, 3), 4).Interface()
		boxed := w.box(x)
		got := outcome(func() string { return fmt.Sprintf(format, boxed) })
		want := outcome(func() string { return fmt.Sprintf(format, x) })
		if withoutAddresses(got) != withoutAddresses(want) {
			t.Errorf("seed %d, %T: Sprintf(%q)\n got %s\nwant %s", seed, x, format, got, want)
		}
		if got, want := reflect.TypeOf(boxed).String(), fmt.Sprintf("%T", x); got != want {
			t.Errorf("seed %d: TypeOf is %s, want %s", seed, got, want)
		}
		var text []byte
		got = outcome(func() string {
			var err error
			text, err = json.Marshal(boxed)
			return string(text) + errorText(err)
		})
		want = outcome(func() string { b, err := json.Marshal(x); return string(b) + errorText(err) })
		if got != want {
			t.Errorf("seed %d, %T: Marshal\n got %s\nwant %s", seed, x, got, want)
			return
		}
		into := reflect.New(reflect.TypeOf(x))
		rawInto := w.box(into.Interface())
		wantErr := json.Unmarshal(text, into.Interface())
		err := json.Unmarshal(text, rawInto)
		if errorText(err) != errorText(wantErr) {
			t.Errorf("seed %d, %T: Unmarshal of %s\n got %s\nwant %s", seed, x, text, errorText(err), errorText(wantErr))
		}
		again, _ := json.Marshal(rawInto)
		if want, _ := json.Marshal(into.Interface()); !bytes.Equal(again, want) {
			t.Errorf("seed %d, %T: after Unmarshal of %s\n got %s\nwant %s", seed, x, text, again, want)
		}
	})
}
