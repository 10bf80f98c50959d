package named

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"
	"text/template"
)

// The types that are copied.
type (
	Celsius float64
	Label   string
	Labels  []Label
	IntHeap []int
	Grid    [2][2]Celsius
	Ages    map[Label]int
	Queue   chan Label
	Handler func(string) string
	Link    *Tree
	Address struct {
		Street string `json:"street" xml:"street,attr"`
		zip    int
	}
	Person struct {
		Name Label `json:"name" xml:"name,attr"`
		Age  int   `json:",omitempty"`
		note string
		Address
		*Even
		Friends []*Person `xml:"friend"`
	}
	Shape interface {
		Area() float64
		scale(by float64)
	}
	Sized  interface{ Area() float64 }
	Square struct{ side float64 }
	Holder struct {
		Any  any
		S    Sized
		List []Sized
	}
	Tree struct {
		Value  int
		Kids   []Tree
		Named  map[Label]*Tree
		Copies map[string]Tree
		parent *Tree
		Visit  Visitor
	}
	Visitor func(*Tree) Visitor
	Even    struct{ Next *Odd }
	Odd     struct{ Next *Even }
	Single  struct{ P *int }
	Word    [1]*int
	Failure struct{ Code int }
	Wrapped struct {
		error
		text string
	}
	Blank struct {
		A int
		_ string
		B string
	}
	Big struct {
		P [2000]*int
		N int
	}
	Opaque struct{ text string }
	Empty  struct{}
	Custom int
	Stream struct{ data []byte }
	Fields struct {
		A Label          `json:"a"`
		B map[string]any `json:"b"`
		C []Grid         `json:"c"`
		D *Celsius       `json:"d"`
		e func()
	}
)

func (c Celsius) String() string { return fmt.Sprintf("%.1f°C", float64(c)) }

func (c *Celsius) Set(text string) error {
	_, err := fmt.Sscan(text, (*float64)(c))
	return err
}

func (c Celsius) Add(others ...Celsius) Celsius {
	for _, o := range others {
		c += o
	}
	return c
}

func (l Label) MarshalText() ([]byte, error) { return []byte("<" + l + ">"), nil }

func (l *Label) UnmarshalText(text []byte) error {
	*l = Label(strings.Trim(string(text), "<>"))
	return nil
}

func (l Labels) Len() int           { return len(l) }
func (l Labels) Less(i, j int) bool { return l[i] < l[j] }
func (l Labels) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

func (h IntHeap) Len() int           { return len(h) }
func (h IntHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h IntHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *IntHeap) Push(x any)        { *h = append(*h, x.(int)) }

func (h *IntHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (g Grid) Corner(i, j int) Celsius { g[0][0]++; return g[i][j] }

func (a Ages) Oldest() (Label, int) {
	var name Label
	for l, age := range a {
		if age > a[name] {
			name = l
		}
	}
	return name, a[name]
}

func (q Queue) Put(l Label) { q <- l }
func (q Queue) Take() Label { return <-q }
func (q Queue) Send() Queue { return q }
func (h Handler) Run(s string) string {
	if h == nil {
		return "none"
	}
	return h(s)
}

func (a Address) Line() string        { return fmt.Sprint(a.Street, " ", a.zip) }
func (a *Address) Move(street string) { a.Street = street; a.zip++ }
func (p *Person) Befriend(q *Person) *Person {
	p.Friends = append(p.Friends, q)
	return p
}
func (s Square) Area() float64     { return s.side * s.side }
func (s *Square) scale(by float64) { s.side *= by }

func (t *Tree) Sum() int {
	if t == nil {
		return 0
	}
	sum := t.Value
	for i := range t.Kids {
		sum += t.Kids[i].Sum()
	}
	return sum
}
func (t *Tree) Root() *Tree {
	if t.parent == nil {
		return t
	}
	return t.parent.Root()
}
func (e *Even) Length() int {
	if e == nil {
		return 0
	}
	return 1 + e.Next.Length()
}
func (o *Odd) Length() int {
	if o == nil {
		return 0
	}
	return 1 + o.Next.Length()
}
func (s Single) Get() int   { return *s.P }
func (s *Single) Put(n int) { s.P = &n }
func (w Word) Get() int     { return *w[0] }
func (f Failure) Error() string {
	return fmt.Sprint("failure ", f.Code)
}
func (f Failure) Is(target error) bool { return target == io.EOF && f.Code == 1 }
func (w *Wrapped) Unwrap() error       { return w.error }
func (b Big) Sum() (sum int) {
	for _, p := range b.P {
		if p != nil {
			sum += *p
		}
	}
	return sum + b.N
}
func (o Opaque) GobEncode() ([]byte, error) { return []byte(o.text), nil }
func (o *Opaque) GobDecode(b []byte) error  { o.text = string(b) + "!"; return nil }
func (Empty) Describe() string              { return "empty" }
func (c Custom) Format(s fmt.State, verb rune) {
	fmt.Fprintf(s, "%c %d %t", verb, int(c), s.Flag('+'))
}
func (s *Stream) Read(p []byte) (int, error) {
	n := copy(p, s.data)
	s.data = s.data[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
func (s *Stream) MarshalJSON() ([]byte, error) { return json.Marshal(len(s.data)) }
func (s *Stream) UnmarshalJSON(b []byte) error { s.data = b; return nil }

var compiled = []reflect.Type{
	reflect.TypeFor[Celsius](), reflect.TypeFor[Label](), reflect.TypeFor[Labels](), reflect.TypeFor[IntHeap](), reflect.TypeFor[Grid](),
	reflect.TypeFor[Ages](), reflect.TypeFor[Queue](), reflect.TypeFor[Handler](), reflect.TypeFor[Link](), reflect.TypeFor[Address](),
	reflect.TypeFor[Person](), reflect.TypeFor[Shape](), reflect.TypeFor[Sized](), reflect.TypeFor[Square](), reflect.TypeFor[Holder](),
	reflect.TypeFor[Tree](), reflect.TypeFor[Visitor](), reflect.TypeFor[Even](), reflect.TypeFor[Odd](), reflect.TypeFor[Single](),
	reflect.TypeFor[Word](), reflect.TypeFor[Failure](), reflect.TypeFor[Wrapped](), reflect.TypeFor[Blank](), reflect.TypeFor[Big](),
	reflect.TypeFor[Opaque](), reflect.TypeFor[Empty](), reflect.TypeFor[Custom](), reflect.TypeFor[Stream](), reflect.TypeFor[Fields](),
}

// kit has the types of a use by name: the compiled ones, or their copies.
type kit map[string]reflect.Type

func compiledKit() kit {
	k := kit{}
	for _, t := range compiled {
		k[t.Name()] = t
	}
	return k
}

// newCloner returns copies of the types.
func newCloner(t testing.TB) (*cloner, kit) {
	c := &cloner{hidden: hidden{reflect.TypeFor[*Square](): {"scale": (*Square).scale}}}
	c.clone(t, compiled...)
	k := kit{}
	for _, t := range compiled {
		k[t.Name()] = c.typ(t)
	}
	return c, k
}

// new returns a pointer to a new variable of the type.
func (k kit) new(name string) reflect.Value { return reflect.New(k[name]) }

// of returns x as a value of the type.
func (k kit) of(name string, x any) reflect.Value { return reflect.ValueOf(x).Convert(k[name]) }

// call calls a method.
func call(v reflect.Value, method string, in ...any) []any {
	var args []reflect.Value
	for _, x := range in {
		a, ok := x.(reflect.Value)
		if !ok {
			a = reflect.ValueOf(x)
		}
		args = append(args, a)
	}
	var out []any
	for _, r := range v.MethodByName(method).Call(args) {
		out = append(out, r.Interface())
	}
	return out
}

// verbs formats x in many ways. No address is printed.
func verbs(x any) string { return fmt.Sprintf("%v|%+v|%#v|%T|%s|%d|%x|%q", x, x, x, x, x, x, x, x) }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// uses are what programs do with values of the types. Each must give the same result with copies.
var uses = []struct {
	name string
	use  func(k kit) any
}{
	{"fmt number", func(k kit) any { return verbs(k.of("Celsius", 21.5).Interface()) }},
	{"fmt string", func(k kit) any { return verbs(k.of("Label", "a").Interface()) }},
	{"fmt struct", func(k kit) any {
		p := k.new("Person").Elem()
		p.Field(0).SetString("Ann")
		p.Field(1).SetInt(7)
		return verbs(p.Interface())
	}},
	{"fmt map, array, slice", func(k kit) any {
		m := reflect.MakeMap(k["Ages"])
		m.SetMapIndex(k.of("Label", "b"), reflect.ValueOf(2))
		m.SetMapIndex(k.of("Label", "a"), reflect.ValueOf(1))
		return verbs(m.Interface()) + verbs(k.new("Grid").Elem().Interface()) + verbs(k.of("Labels", []Label{}).Interface())
	}},
	{"fmt Formatter", func(k kit) any {
		return fmt.Sprintf("%+d %x %v", k.of("Custom", 4).Interface(), k.of("Custom", 5).Interface(), k.of("Custom", 6))
	}},
	{"fmt error", func(k kit) any { return verbs(k.new("Failure").Elem().Interface()) }},
	{"fmt nil pointer", func(k kit) any { return fmt.Sprint(reflect.Zero(reflect.PointerTo(k["Celsius"])).Interface()) }},
	{"fmt Sscan", func(k kit) any {
		x := k.new("Label")
		return fmt.Sprint(must(fmt.Sscan("abc", x.Interface())), x.Elem())
	}},
	{"json", func(k kit) any {
		p := k.new("Person")
		err := json.Unmarshal([]byte(`{"name": "<Ann>", "Age": 3, "street": "Elm", "note": "x", "Friends": [{"name": "Bob", "Next": {"Next": null}}]}`), p.Interface())
		return fmt.Sprint(err, p.Elem().Field(0), p.Elem().Field(3), string(must(json.Marshal(p.Interface()))), string(must(json.Marshal(p.Elem().Interface()))))
	}},
	{"json of fields", func(k kit) any {
		f := k.new("Fields")
		err := json.Unmarshal([]byte(`{"a": "<x>", "b": {"y": [1, "z"]}, "c": [[[1, 2], [3, 4]]], "d": 5.5}`), f.Interface())
		return fmt.Sprint(err, string(must(json.MarshalIndent(f.Interface(), "", " "))))
	}},
	{"json of map keys", func(k kit) any {
		m := k.new("Ages")
		err := json.Unmarshal([]byte(`{"<a>": 1, "<b>": 2}`), m.Interface())
		return fmt.Sprint(err, m.Elem(), string(must(json.Marshal(m.Elem().Interface()))), m.Elem().MapIndex(k.of("Label", "a")))
	}},
	{"json methods", func(k kit) any {
		s := k.new("Stream")
		err := json.Unmarshal([]byte(`[1]`), s.Interface())
		return fmt.Sprint(err, string(must(json.Marshal(s.Interface()))), string(must(json.Marshal(s.Elem().Interface()))))
	}},
	{"json error", func(k kit) any { return json.Unmarshal([]byte(`{"Code": "x"}`), k.new("Failure").Interface()).Error() }},
	{"json of a recursive type", func(k kit) any {
		tree := k.new("Tree")
		err := json.Unmarshal([]byte(`{"Value": 1, "Kids": [{"Value": 2, "Named": {"<n>": {"Value": 3}}, "Copies": {"c": {"Value": 5, "Kids": [{}]}}}, {"Value": 4}]}`), tree.Interface())
		return fmt.Sprint(err, call(tree, "Sum"), tree.Elem().Field(1).Len(), tree.Elem().Field(1).Index(0).FieldByName("Copies").MapIndex(reflect.ValueOf("c")).Field(1).Len())
	}},
	{"xml", func(k kit) any {
		p := k.new("Person")
		err := xml.Unmarshal([]byte(`<Person name="Ann" street="Elm"><Age>3</Age><friend name="Bob"></friend></Person>`), p.Interface())
		return fmt.Sprint(err, string(must(xml.Marshal(p.Interface()))))
	}},
	{"gob", func(k kit) any {
		var b bytes.Buffer
		x := k.new("Person")
		x.Elem().Field(0).SetString("Ann")
		call(x, "Move", "Elm")
		err := gob.NewEncoder(&b).Encode(x.Interface())
		y := k.new("Person")
		return fmt.Sprint(err, gob.NewDecoder(&b).Decode(y.Interface()), y.Elem().Field(0), y.Elem().Field(3))
	}},
	{"gob methods", func(k kit) any {
		var b bytes.Buffer
		x := k.new("Opaque")
		call(x, "GobDecode", []byte("abc"))
		err := gob.NewEncoder(&b).Encode(x.Interface())
		y := k.new("Opaque")
		return fmt.Sprint(err, gob.NewDecoder(&b).Decode(y.Interface()), y.Elem())
	}},
	{"template", func(k kit) any {
		p := k.new("Person")
		p.Elem().Field(0).SetString("Ann")
		call(p, "Move", "Elm")
		call(p, "Befriend", k.new("Person"))
		var b strings.Builder
		err := template.Must(template.New("").Parse(`{{.Name}} {{.Line}} {{range .Friends}}{{.Street}}{{len .Friends}}{{end}} {{.Length}} {{.Even}}`)).Execute(&b, p.Interface())
		return fmt.Sprint(err, b.String())
	}},
	{"template methods of values", func(k kit) any {
		var b strings.Builder
		err := template.Must(template.New("").Parse(`{{.}} {{.Add}} {{printf "%.2f" .}}`)).Execute(&b, k.of("Celsius", 3).Interface())
		return fmt.Sprint(err, b.String())
	}},
	{"sort", func(k kit) any {
		l := k.of("Labels", []Label{})
		for _, s := range []string{"c", "a", "b"} {
			l = reflect.Append(l, k.of("Label", s))
		}
		sort.Sort(l.Interface().(sort.Interface))
		sort.Stable(sort.Reverse(l.Interface().(sort.Interface)))
		return fmt.Sprint(l)
	}},
	{"heap", func(k kit) any {
		h := k.new("IntHeap")
		for _, n := range []int{5, 2, 8, 1} {
			heap.Push(h.Interface().(heap.Interface), n)
		}
		return fmt.Sprint(heap.Pop(h.Interface().(heap.Interface)), heap.Pop(h.Interface().(heap.Interface)), h.Elem().Len())
	}},
	{"flag", func(k kit) any {
		c := k.new("Celsius")
		f := flag.NewFlagSet("x", flag.ContinueOnError)
		var b strings.Builder
		f.SetOutput(&b)
		f.Var(c.Interface().(flag.Value), "t", "temperature")
		err := f.Parse([]string{"-t", "3.5"})
		f.PrintDefaults()
		return fmt.Sprint(err, c, b.String(), f.Parse([]string{"-t", "x"}) != nil)
	}},
	{"flag TextVar", func(k kit) any {
		f := flag.NewFlagSet("x", flag.ContinueOnError)
		l := k.new("Label")
		f.TextVar(l.Interface().(encoding.TextUnmarshaler), "l", k.of("Label", "d").Interface().(encoding.TextMarshaler), "")
		before := l.Elem().String()
		return fmt.Sprint(f.Parse([]string{"-l", "<new>"}), before, l.Elem())
	}},
	{"errors", func(k kit) any {
		f := k.new("Failure").Elem()
		f.Field(0).SetInt(1)
		w := k.new("Wrapped")
		reflect.NewAt(reflect.TypeFor[error](), w.UnsafePointer()).Elem().Set(f)
		err := fmt.Errorf("outer: %w", w.Interface().(error))
		value, pointer := k.new("Failure"), reflect.New(reflect.PointerTo(k["Wrapped"]))
		return fmt.Sprint(err, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, value.Interface()), value.Elem(), errors.As(err, pointer.Interface()), pointer.Elem().Interface() == w.Interface())
	}},
	{"errors joined", func(k kit) any {
		f := k.new("Failure").Elem().Interface().(error)
		return fmt.Sprint(errors.Join(f, io.EOF), errors.Is(errors.Join(io.EOF, f), f), errors.Is(fmt.Errorf("%w, %w", io.EOF, f), f))
	}},
	{"io", func(k kit) any {
		s := k.new("Stream")
		call(s, "UnmarshalJSON", []byte("some text"))
		return string(must(io.ReadAll(s.Interface().(io.Reader))))
	}},
	{"methods by reflection", func(k kit) any {
		var b strings.Builder
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for n := range k {
				if !yield(n) {
					return
				}
			}
		}) {
			for _, t := range []reflect.Type{k[name], reflect.PointerTo(k[name])} {
				fmt.Fprintf(&b, "%s %s %q %q %s %d %d %t:", t, t.Kind(), t.Name(), t.PkgPath(), name, t.Size(), t.NumMethod(), t.Comparable())
				for m := range t.Methods() {
					fmt.Fprintf(&b, " %s %s %t", m.Name, m.Type, m.IsExported())
				}
				b.WriteString("\n")
			}
		}
		return b.String()
	}},
	{"fields by reflection", func(k kit) any {
		var b strings.Builder
		for _, name := range []string{"Person", "Address", "Tree", "Wrapped", "Blank", "Holder", "Fields"} {
			for _, f := range reflect.VisibleFields(k[name]) {
				fmt.Fprintf(&b, "%s %q %s %q %d %v %t\n", f.Name, f.PkgPath, f.Type, f.Tag, f.Offset, f.Index, f.Anonymous)
			}
		}
		return b.String()
	}},
	{"Method.Func of a value", func(k kit) any {
		p := k.new("Address").Elem()
		p.Field(0).SetString("Elm")
		m, _ := k["Address"].MethodByName("Line")
		mp, _ := reflect.PointerTo(k["Address"]).MethodByName("Line")
		move, _ := reflect.PointerTo(k["Address"]).MethodByName("Move")
		move.Func.Call([]reflect.Value{p.Addr(), reflect.ValueOf("Oak")})
		return fmt.Sprint(m.Func.Call([]reflect.Value{p})[0], mp.Func.Call([]reflect.Value{p.Addr()})[0])
	}},
	{"Method.Func of other kinds", func(k kit) any {
		add, _ := k["Celsius"].MethodByName("Add")
		corner, _ := k["Grid"].MethodByName("Corner")
		run, _ := k["Handler"].MethodByName("Run")
		h := reflect.MakeFunc(k["Handler"], func(in []reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.ValueOf("run " + in[0].String())}
		})
		one := reflect.ValueOf(1)
		return fmt.Sprint(add.Func.Call([]reflect.Value{k.of("Celsius", 1), k.of("Celsius", 2), k.of("Celsius", 3)})[0],
			corner.Func.Call([]reflect.Value{k.new("Grid").Elem(), one, one})[0], run.Func.Call([]reflect.Value{h, reflect.ValueOf("x")})[0])
	}},
	{"Method.Func of one pointer", func(k kit) any {
		var b strings.Builder
		for _, name := range []string{"Single", "Word"} {
			x := k.new(name)
			n := 7
			*(**int)(x.UnsafePointer()) = &n
			m, _ := k[name].MethodByName("Get")
			p, _ := reflect.PointerTo(k[name]).MethodByName("Get")
			fmt.Fprint(&b, m.Func.Call([]reflect.Value{x.Elem()})[0], p.Func.Call([]reflect.Value{x})[0], x.Interface().(interface{ Get() int }).Get(), x.Elem().Interface().(interface{ Get() int }).Get())
		}
		return b.String()
	}},
	{"a value method does not change the receiver", func(k kit) any {
		g := k.new("Grid")
		return fmt.Sprint(call(g.Elem(), "Corner", 0, 0), call(g, "Corner", 0, 0), g.Elem())
	}},
	{"variadic", func(k kit) any {
		c := k.of("Celsius", 1)
		return fmt.Sprint(call(c, "Add"), call(c, "Add", k.of("Celsius", 2)), c.MethodByName("Add").CallSlice([]reflect.Value{reflect.Zero(reflect.SliceOf(k["Celsius"]))})[0])
	}},
	{"map keys", func(k kit) any {
		m := map[any]int{}
		for i := range 3 {
			m[k.of("Celsius", i%2).Interface()]++
			m[k.of("Label", fmt.Sprint(i%2)).Interface()]++
			b := k.new("Blank").Elem()
			b.Field(0).SetInt(int64(i % 2))
			*(*string)(b.Field(1).Addr().UnsafePointer()) = fmt.Sprint(i)
			m[b.Interface()]++
			m[k.new("Grid").Elem().Interface()]++
		}
		typed := reflect.MakeMap(reflect.MapOf(k["Blank"], k["Celsius"]))
		typed.SetMapIndex(k.new("Blank").Elem(), k.of("Celsius", 5))
		return fmt.Sprint(len(m), m[k.of("Label", "0").Interface()], m[0], m[k.new("Blank").Elem().Interface()], typed.MapIndex(k.new("Blank").Elem()))
	}},
	{"comparison", func(k kit) any {
		holder := func(n int) any {
			h := k.new("Holder").Elem()
			s := k.new("Square")
			*(*float64)(s.UnsafePointer()) = float64(n)
			h.Field(0).Set(reflect.ValueOf(n))
			h.Field(1).Set(s.Elem())
			return h.Field(1).Interface()
		}
		return fmt.Sprint(holder(1) == holder(1), holder(1) == holder(2), k.of("Celsius", 1).Interface() == k.of("Celsius", 1).Interface(), any(1.0) == k.of("Celsius", 1).Interface())
	}},
	{"comparison of uncomparable", func(k kit) (result any) {
		defer func() { result = recover().(runtime.Error).Error() }()
		return k.new("Holder").Elem().Interface() == k.new("Holder").Elem().Interface()
	}},
	{"interfaces", func(k kit) any {
		h := k.new("Holder").Elem()
		s := k.new("Square")
		*(*float64)(s.UnsafePointer()) = 3
		h.Field(1).Set(s)
		s.Interface().(Shape).scale(2)
		h.Field(2).Set(reflect.Append(h.Field(2), s.Elem(), s))
		_, shaped := s.Elem().Interface().(Shape)
		_, sized := s.Elem().Interface().(Sized)
		return fmt.Sprint(call(h.Field(1), "Area"), h.Field(2).Len(), call(h.Field(2).Index(0), "Area"), shaped, sized,
			k["Square"].Implements(k["Shape"]), reflect.PointerTo(k["Square"]).Implements(k["Shape"]), k["Square"].Implements(k["Sized"]),
			k["Shape"].Implements(k["Sized"]), k["Sized"].Implements(k["Shape"]), reflect.TypeFor[*Square]().Implements(k["Shape"]))
	}},
	{"type switch", func(k kit) any {
		var b strings.Builder
		for _, name := range []string{"Celsius", "Label", "Failure", "Empty", "Square", "Custom", "Opaque", "Grid"} {
			for _, x := range []any{k.new(name).Elem().Interface(), k.new(name).Interface()} {
				switch x := x.(type) {
				case error:
					fmt.Fprint(&b, "error", x.Error())
				case flag.Value:
					fmt.Fprint(&b, "flag", x.String())
				case fmt.Stringer:
					fmt.Fprint(&b, "stringer", x.String())
				case encoding.TextMarshaler:
					text, _ := x.MarshalText()
					fmt.Fprint(&b, "text", string(text))
				case interface{ Describe() string }:
					fmt.Fprint(&b, x.Describe())
				case Shape:
					fmt.Fprint(&b, "shape", x.Area())
				case float64:
					b.WriteString("float64")
				default:
					fmt.Fprintf(&b, "other %T", x)
				}
			}
		}
		return b.String()
	}},
	{"failed assertion", func(k kit) (result any) {
		defer func() { result = recover().(error).Error() }()
		return k.new("Empty").Elem().Interface().(fmt.Stringer)
	}},
	{"nil pointer and a value method", func(k kit) (result any) {
		defer func() { result = recover().(runtime.Error).Error() }()
		return reflect.Zero(reflect.PointerTo(k["Address"])).Interface().(interface{ Line() string }).Line()
	}},
	{"nil pointer and a pointer method", func(k kit) any { return call(reflect.Zero(reflect.PointerTo(k["Tree"])), "Sum")[0] }},
	{"channels", func(k kit) any {
		q := reflect.MakeChan(k["Queue"], 2)
		call(q, "Put", k.of("Label", "a"))
		q.Send(k.of("Label", "b"))
		x := call(q, "Take")
		chosen, got, _ := reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: q}})
		return fmt.Sprint(x, chosen, got, q.Len(), q.Cap(), call(q, "Send")[0] == q.Interface())
	}},
	{"functions and closures", func(k kit) any {
		n := 0
		h := reflect.MakeFunc(k["Handler"], func(in []reflect.Value) []reflect.Value {
			n++
			return []reflect.Value{reflect.ValueOf(fmt.Sprint(in[0], n))}
		})
		f := h.Convert(reflect.TypeFor[func(string) string]()).Interface().(func(string) string)
		var compiled Handler = f
		back := reflect.ValueOf(f).Convert(k["Handler"])
		return fmt.Sprint(call(h, "Run", "a"), f("b"), compiled.Run("c"), call(back, "Run", "d"), call(reflect.Zero(k["Handler"]), "Run", "e"))
	}},
	{"method values", func(k kit) any {
		x := k.new("Address")
		line := x.Elem().MethodByName("Line").Interface().(func() string)
		move := x.MethodByName("Move").Interface().(func(string))
		move("Elm")
		return line() + x.Interface().(interface{ Line() string }).Line()
	}},
	{"recursion", func(k kit) any {
		root := k.new("Tree")
		kids := reflect.MakeSlice(reflect.SliceOf(k["Tree"]), 3, 3)
		for i := range 3 {
			kids.Index(i).Field(0).SetInt(int64(i + 1))
			reflect.NewAt(reflect.PointerTo(k["Tree"]), kids.Index(i).FieldByName("parent").Addr().UnsafePointer()).Elem().Set(root)
		}
		root.Elem().Field(1).Set(kids)
		depth := 0
		var visit reflect.Value
		visit = reflect.MakeFunc(k["Visitor"], func(in []reflect.Value) []reflect.Value {
			depth += int(call(in[0], "Sum")[0].(int))
			return []reflect.Value{visit}
		})
		root.Elem().FieldByName("Visit").Set(visit)
		next := root.Elem().FieldByName("Visit").Call([]reflect.Value{root})[0].Call([]reflect.Value{kids.Index(2).Addr()})[0]
		link := reflect.New(k["Link"]).Elem()
		link.Set(root)
		return fmt.Sprint(depth, next.Type(), call(kids.Index(1).Addr(), "Root")[0] == root.Interface(), link.Elem().Field(0), k["Link"].Elem() == k["Tree"])
	}},
	{"mutual recursion", func(k kit) any {
		e, o := k.new("Even"), k.new("Odd")
		e.Elem().Field(0).Set(o)
		o.Elem().Field(0).Set(k.new("Even"))
		return fmt.Sprint(call(e, "Length"), k["Even"].Field(0).Type.Elem() == k["Odd"], k["Odd"].Field(0).Type.Elem() == k["Even"])
	}},
	{"promoted methods", func(k kit) any {
		p := k.new("Person")
		call(p, "Move", "Elm")
		return fmt.Sprint(call(p.Elem(), "Line"), call(p, "Line"), call(p, "Length"), p.Elem().Field(3))
	}},
	{"large values", func(k kit) any {
		b := k.new("Big")
		for i := range 2000 {
			n := i
			b.Elem().Field(0).Index(i).Set(reflect.ValueOf(&n))
		}
		copied := reflect.New(k["Big"]).Elem()
		copied.Set(b.Elem())
		runtime.GC()
		return fmt.Sprint(call(copied, "Sum"), call(b, "Sum"), copied.Interface().(interface{ Sum() int }).Sum(), copied.Interface() == b.Elem().Interface())
	}},
	{"DeepEqual and conversion", func(k kit) any {
		a, b := k.new("Person"), k.new("Person")
		call(a, "Move", "Elm")
		before := reflect.DeepEqual(a.Interface(), b.Interface())
		call(b, "Move", "Elm")
		return fmt.Sprint(before, reflect.DeepEqual(a.Interface(), b.Interface()), k.of("Celsius", 5).Convert(reflect.TypeFor[int]()), k["Labels"].ConvertibleTo(reflect.TypeFor[[]string]()),
			k["Handler"].AssignableTo(reflect.TypeFor[func(string) string]()), reflect.TypeFor[func(string) string]().AssignableTo(k["Handler"]), k["Celsius"].AssignableTo(reflect.TypeFor[float64]()))
	}},
	{"composed types", func(k kit) any {
		types := []reflect.Type{
			reflect.SliceOf(k["Person"]), reflect.MapOf(k["Label"], reflect.PointerTo(k["Tree"])), reflect.ArrayOf(3, k["Grid"]), reflect.ChanOf(reflect.RecvDir, k["Queue"]),
			reflect.FuncOf([]reflect.Type{k["Shape"]}, []reflect.Type{k["Visitor"]}, false), reflect.PointerTo(reflect.PointerTo(k["Odd"])),
			reflect.StructOf([]reflect.StructField{{Name: "A", Type: k["Person"], Tag: `json:"a"`}}),
		}
		return fmt.Sprint(types, reflect.SliceOf(k["Person"]) == types[0], reflect.New(types[6]).Elem())
	}},
	{"slices", func(k kit) any {
		l := reflect.MakeSlice(reflect.SliceOf(k["Person"]), 0, 1)
		for i := range 5 {
			p := k.new("Person").Elem()
			p.Field(1).SetInt(int64(5 - i))
			l = reflect.Append(l, p)
		}
		sort.Slice(l.Interface(), func(i, j int) bool { return cmp.Less(l.Index(i).Field(1).Int(), l.Index(j).Field(1).Int()) })
		copied := reflect.MakeSlice(l.Type(), 2, 2)
		return fmt.Sprint(reflect.Copy(copied, l), copied.Index(1).Field(1), l.Slice(1, 3).Len())
	}},
	{"panic with a value", func(k kit) (result any) {
		defer func() {
			err, ok := recover().(error)
			result = fmt.Sprint(ok, err)
		}()
		panic(k.new("Failure").Elem().Interface())
	}},
}

// TestUses compares made types with compiled ones.
func TestUses(t *testing.T) {
	_, made := newCloner(t)
	for _, u := range uses {
		t.Run(u.name, func(t *testing.T) {
			want, got := u.use(compiledKit()), u.use(made)
			if want != got {
				t.Errorf("compiled:\n%v\nmade:\n%v", want, got)
			}
		})
	}
}
