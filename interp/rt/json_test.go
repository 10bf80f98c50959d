package rt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

func records() []any {
	one, half, warm := Int(1), Float(0.5), Temp(20)
	full := Record{
		A: -1, B: &one, S: "quo\"ted <b>", N: 12, Q: &half, F: true, L: Ints{1, 2}, M: map[Int]Text{10: "ten", 9: "nine"},
		C: map[Color]Int{{1, 2, 3}: 4, {0, 0, 0}: 5}, P: Point{1, 2, "x"}, PZ: Point{Y: 1}, Lv: 7, Pt: PtrZero{9}, Z: Square{2},
		T: 1.5, TP: &warm, By: ByPointer{3}, Col: Color{16, 32, 255}, Raw: Bytes("raw"), Oct: Octets{1, 2}, H: Hash{1, 2},
		Html: "<&>\u2028", Any: Celsius(3), Anys: []any{Int(1), Temp(2), nil, map[string]any{"k": Color{1, 1, 1}}}, Skip: "no", Dash: "dash",
		When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Num: "1.50", Tree: &Tree[Int]{Data: 1, Left: &Tree[Int]{Data: 2}}, private: 1,
	}
	full.Lit.U = 5
	deep := &Node{Value: 1}
	for range 1500 {
		deep = &Node{Next: deep}
	}
	cycle := &Node{}
	cycle.Next = cycle
	return []any{
		full, &full, Record{}, Derived{Base: Base{1, "n"}, Point: &Point{3, 4, ""}, inner: inner{Seen: 5}, Extra: "e"}, Derived{},
		Ambiguous{Amb1{"a", 1}, Amb2{"b", 2}}, Tagged{Amb1{"a", 1}, Amb2{"b", 2}, "won"}, Holder{Shape: Square{1}, Others: []Shape{nil, Square{2}}, Any: Weekday(1)},
		Int(1), Text("a<b"), Text("bad \xff utf8"), Flag(true), Float(1e-7), Float(1e21), Float32(3.4e38), Float(math.NaN()), []Float{Float(math.Inf(-1))}, Complex(1), Bytes(nil), Octets(nil), Ints(nil), Names(nil),
		Temp(1), []Temp{1}, map[string]Temp{"x": 2}, (*Temp)(nil), []*Temp{nil}, Color{1, 2, 3}, Color{R: 255}, []Color{{R: 255}}, map[Color]Int{{R: 255}: 1}, ByPointer{1}, &ByPointer{2}, []ByPointer{{3}}, map[string]ByPointer{"v": {4}},
		Failing{"syntax"}, []Failing{{"html"}}, &Failing{}, map[Text]Failing{"f": {}}, Action(nil), map[Float]Int{1: 1}, struct{ C Pipe }{}, Any{"a": 1}, Empty{},
		[]any{Int(1), Code{2}, nil}, map[string]any{"b": Point{1, 2, ""}, "a": &Point{}}, map[Int]any{2: Text("x"), 1: nil}, deep, cycle, Tree[Int]{}, Pair[Text, Int]{"k", 1},
		struct {
			C Celsius `json:"c"`
			d Celsius
		}{1, 2},
		Omitting{}, Omitting{P: &PtrZero{9}}, Omitting{P: &PtrZero{1}, S: Square{}}, Omitting{K: map[fmt.Stringer]int{Celsius(1): 1}},
		Newer{}, &Newer{Strict: 1, Loose: 2, In: inner{Seen: 3}, Quote: "q", Odd: 4, Named: Base{ID: 5}, App: Appending{6}, Apps: map[Appending]Int{{1}: 1, {2}: 2}, Keys: map[Key]Int{"k": 1}, Floats: map[Float32]Text{1.5: "a", -2e-9: "b"}, Deep: map[Int][]*Newer{1: {nil, {Odd: 1}}}},
		Newer{Apps: map[Appending]Int{{-1}: 1}}, []Newer{{Bools: map[bool]Int{true: 1}}}, Newer{Points: map[*Color]Int{nil: 1, {R: 1}: 2}}, Newer{Any: map[any]Celsius{Text("t"): 1}}, Newer{Pairs: map[[1]Int]Int{{1}: 1}}, &Newer{App: Appending{-1}},
		Formatted{A: 1, D: 2}, map[Float]Int{Float(math.NaN()): 1}, map[Complex]Int{1: 1}, map[Complex]Int(nil), map[any]Celsius{nil: 1}, map[Shape]Celsius{Square{1}: 1},
		5, "x", nil, []int{1}, map[string]int{"b": 1, "a": 2}, errors.New("e"), time.Time{}, math.NaN(), func() {},
	}
}

func errorText(err error) string {
	if err == nil {
		return "<nil>"
	}
	return fmt.Sprintf("%T %v", err, err)
}

func TestJSONMarshal(t *testing.T) {
	w := newHarness(t)
	for i, x := range records() {
		want, wantErr := json.Marshal(x)
		got, err := json.Marshal(w.box(x))
		if !bytes.Equal(got, want) || errorText(err) != errorText(wantErr) {
			t.Errorf("record %d, %T: Marshal\n got %s, %s\nwant %s, %s", i, x, got, errorText(err), want, errorText(wantErr))
		}
		want, wantErr = json.MarshalIndent(x, ">", "\t")
		got, err = json.MarshalIndent(w.box(x), ">", "\t")
		if !bytes.Equal(got, want) || errorText(err) != errorText(wantErr) {
			t.Errorf("record %d, %T: MarshalIndent\n got %s, %s\nwant %s, %s", i, x, got, errorText(err), want, errorText(wantErr))
		}
		// compiled code that meets a box
		got, err = json.Marshal(w.box(x))
		if want, wantErr = json.Marshal(x); wantErr == nil && !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("record %d, %T: json.Marshal of the box\n got %s, %v\nwant %s, %v", i, x, got, err, want, wantErr)
		}
	}
}

func TestJSONEncode(t *testing.T) {
	w := newHarness(t)
	for _, escape := range []bool{true, false} {
		for i, x := range records() {
			var want, got bytes.Buffer
			a, b := json.NewEncoder(&want), json.NewEncoder(&got)
			a.SetEscapeHTML(escape)
			b.SetEscapeHTML(escape)
			a.SetIndent("", " ")
			b.SetIndent("", " ")
			wantErr, err := a.Encode(x), b.Encode(w.box(x))
			if got.String() != want.String() || errorText(err) != errorText(wantErr) {
				t.Errorf("record %d, %T, escape %v:\n got %s %s\nwant %s %s", i, x, escape, got.String(), errorText(err), want.String(), errorText(wantErr))
			}
		}
	}
}

// decodeTargets return pointers to decode into.
var decodeTargets = []func() any{
	func() any { return new(Record) }, func() any { return new(Derived) }, func() any { return new(Ambiguous) }, func() any { return new(Tagged) },
	func() any { return new(Int) }, func() any { return new(Text) }, func() any { return new(Flag) }, func() any { return new(Float32) }, func() any { return new(Uint8) },
	func() any { return new(Bytes) }, func() any { return new(Octets) }, func() any { return new(Hash) }, func() any { return &Ints{7, 8, 9} }, func() any { return &Names{"old": 1} },
	func() any { return new(Temp) }, func() any { return new([]*Temp) }, func() any { return new(map[string]Temp) }, func() any { return new(Color) }, func() any { return new([]Color) }, func() any { return new(map[Color]Int) },
	func() any { return new(map[Int]Text) }, func() any { return new(map[Uint8]Point) }, func() any { return new(*Point) }, func() any { return new(**Int) }, func() any { return new(any) }, func() any { return new([]any) },
	func() any { return new(Holder) }, func() any { return new(Shape) }, func() any { return new(Node) }, func() any { return new(Grid) }, func() any { return &Holder{Any: &Point{1, 2, "kept"}} },
	func() any { return new(Newer) }, func() any { return new([]Newer) }, func() any { return new(Formatted) }, func() any { return new(map[*Color]*Newer) }, func() any { return new(map[any]Text) }, func() any { return new(map[Shape]Int) }, func() any { return new(map[[1]Int]Int) }, func() any { return &Holder{Any: 5, Shape: Square{3}} },
	func() any { return new(Tree[Int]) }, func() any { return new(Pair[Text, Int]) }, func() any { return new(map[Float]Int) }, func() any { return Int(1) }, func() any { return (*Int)(nil) }, func() any { return nil }, func() any { return new(int) },
}

var decodeTexts = []string{
	`null`, `true`, ` "str" `, `"#010203"`, `"bm90"`, `"!"`, `12`, `-3`, `300`, `1.5`, `1e400`, `[]`, `[1,2,3]`, `[1,"x",2]`, `[[1,2],[3]]`, `{}`, `{"a":1}`, `["#010203","bad"]`, `[null,{"kelvin":300}]`,
	`{"kelvin":274}`, `{"x":{"kelvin":274},"y":null}`, `{"#010203":5,"zz":1}`, `{"1":"a","2":"b","x":"c"}`, `{"1":{"X":5},"999":{"Y":"no"}}`, `{"X":1,"y":2,"note":"n"}`, `{"id":7,"name":"N","X":3,"Seen":4,"hidden":5,"extra":"E"}`,
	`{"Same":"s","One":1,"Two":2,"amb2":{"Same":"t","Two":3}}`, `{"Shape":{"Side":1},"Any":{"X":9,"Y":"bad"},"Others":[null,1]}`, `{"Value":1,"Next":{"Value":2,"Next":null},"Kids":[{"Value":3},null],"By":{"k":{"Value":4}}}`,
	`{"Left":{"Data":1,"Left":{"Data":"bad"}},"Data":2}`, `{"Key":"k","Val":1.5}`, `{"Key":5,"Val":"x"}`,
	`{"a":1,"b":2,"s":"\"in\"","n":"5","q":"0.25","f":true,"l":[1,2],"m":{"3":"c"},"c":{"#ffffff":1},"p":{"X":1,"Y":2},"t":{"kelvin":300},"tp":{"kelvin":200},"col":"#aabbcc","raw":"cmF3","oct":"AQI=","h":[1,2,3,4,5],"html<>":"h","any":{"q":[1]},"anys":[1,"2",null],"-":"d","when":"2026-01-02T03:04:05Z","lit":{"U":1,"V":2},"num":12.50,"tree":{"Data":3},"Skip":"no","private":1}`,
	`{"s":"notquoted"}`, `{"s":5}`, `{"n":5}`, `{"n":"x"}`, `{"n":""}`, `{"n":null}`, `{"q":null,"n":"null"}`, `{"z":{"Side":1}}`, `{"z":null}`, `{"by":1}`, `{"col":5}`, `{"col":"bad"}`, `{"t":{"kelvin":"x"}}`, `{"a":"x","b":{},"p":[],"l":{},"f":0}`, `{"tree":{"Left":{"Data":true}}}`, `{"num":"abc"}`, `{"num":"5"}`, `{"h":[9]}`,
	`{"strict":1,"Strict":2,"LOOSE":3,"Seen":4,"it's":"x","it":"y","odd":5,"named":{"id":6},"App":"n7","Deep":{"1":[{"strict":"bad"},{"Deep":{"x":1,"2":[{"odd":null}]}}]}}`, `[{"Bools":{"true":1}},{"Floats":{"1.5":"a","1e99":"b","x":"c"}}]`,
	`{"Points":{"#010203":1,"bad":2},"Any":{"t":1},"Keys":{"k":"1"},"a/b":{"c~d":1}}`, `{"A":"x","d":1}`, `{"#0":0}`, `{"1":1,"true":"x"}`, `{"x/y":{"X":"bad"}}`, `{"Shape":5,"Any":"s"}`, `{"when":"bad","any":1e400}`,
	`{"A":1,"A":2,"a":3}`, `{"dup":1,"p":{"X":1},"P":{"Y":2}}`, "\"\\ud800\\u0041 \xff\"", `{`, ``, `[1,]`, `{"a":1}x`, ` `, `nul`,
}

func TestJSONUnmarshal(t *testing.T) {
	w := newHarness(t)
	for i := range decodeTargets {
		for _, text := range decodeTexts {
			compareDecoding(t, w, i, text)
		}
	}
}

func FuzzJSONUnmarshal(f *testing.F) {
	for i := range decodeTargets {
		for j := i % 7; j < len(decodeTexts); j += 7 {
			f.Add(uint8(i), decodeTexts[j])
		}
	}
	w := newHarness(f)
	f.Fuzz(func(t *testing.T, i uint8, text string) {
		compareDecoding(t, w, int(i)%len(decodeTargets), text)
	})
}

// compareDecoding decodes a text with encoding/json and with this package, and compares
// errors and results.
func compareDecoding(t *testing.T, w *harness, i int, text string) {
	t.Helper()
	target := decodeTargets[i]
	want := target()
	wantErr := json.Unmarshal([]byte(text), want)
	boxed := w.box(target())
	err := json.Unmarshal([]byte(text), boxed)
	if errorText(err) != errorText(wantErr) {
		t.Errorf("target %d, %T, %s: error\n got %s\nwant %s", i, want, text, errorText(err), errorText(wantErr))
	}
	if got, want := mismatchDetails(err), mismatchDetails(wantErr); got != want {
		t.Errorf("target %d, %T, %s: error has %s, want %s", i, target(), text, got, want)
	}
	if got, want := fmt.Sprintf("%#v", contents(w, boxed)), fmt.Sprintf("%#v", contents(w, w.box(want))); withoutAddresses(got) != withoutAddresses(want) {
		t.Errorf("target %d, %T, %s:\n got %s\nwant %s", i, target(), text, got, want)
	}
	again, _ := json.Marshal(boxed)
	if want, _ := json.Marshal(want); !bytes.Equal(again, want) {
		t.Errorf("target %d, %T, %s: encoded again\n got %s\nwant %s", i, target(), text, again, want)
	}
}

// contents returns the target of a boxed pointer as a boxed value.
func contents(w *harness, x any) any {
	b, ok := w.unbox(x)
	if !ok || reflect.ValueOf(b.V).Kind() != reflect.Pointer || reflect.ValueOf(b.V).IsNil() {
		return x
	}
	v := reflect.ValueOf(b.V).Elem()
	if v.Kind() == reflect.Interface {
		return v.Interface()
	}
	return b.T.shape().elem.Box(v.Interface())
}

// mismatchDetails returns the fields of an error that are not in its text.
func mismatchDetails(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprint(e.Value, " ", e.Type, " ", e.Offset, " ", e.Struct, " ", e.Field)
	}
	return ""
}

func TestJSONDecode(t *testing.T) {
	w := newHarness(t)
	text := `{"a": 1, "unknown": 2} {"a": 1.5, "any": 12} [1] {"any": {"n": 5}} x`
	for set := range 4 {
		real, own := json.NewDecoder(bytes.NewBufferString(text)), json.NewDecoder(bytes.NewBufferString(text))
		if set&1 != 0 {
			real.UseNumber()
			own.UseNumber()
		}
		if set&2 != 0 {
			real.DisallowUnknownFields()
			own.DisallowUnknownFields()
		}
		for i := range 6 {
			want := new(Record)
			boxed := w.box(new(Record))
			wantErr, err := real.Decode(want), own.Decode(boxed)
			if errorText(err) != errorText(wantErr) {
				t.Errorf("options %d, value %d: error\n got %s\nwant %s", set, i, errorText(err), errorText(wantErr))
			}
			if got, want := fmt.Sprintf("%#v", contents(w, boxed)), fmt.Sprintf("%#v", *want); got != want {
				t.Errorf("options %d, value %d:\n got %s\nwant %s", set, i, got, want)
			}
		}
	}
	// a value without boxes is decoded by encoding/json itself
	var m map[string]int
	if err := json.NewDecoder(bytes.NewBufferString(`{"k":1}`)).Decode(&m); err != nil || m["k"] != 1 {
		t.Errorf("a compiled map decodes as %v, %v", m, err)
	}
}

func BenchmarkJSONMarshal(b *testing.B) {
	w := newHarness(b)
	real := []Derived{{Base: Base{1, "n"}, Point: &Point{3, 4, ""}, inner: inner{Seen: 5}, Extra: "e"}}
	boxed := w.box(real)
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			json.Marshal(real)
		}
	})
	b.Run("rt", func(b *testing.B) {
		for b.Loop() {
			json.Marshal(boxed)
		}
	})
}
