package main

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"encoding/asn1"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/rpc"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
	"time"
	"unique"
)

// Compiled packages see names, kinds, identity and panics of types of cells.

type stdout struct{}

func (stdout) Write(b []byte) (int, error) { return fmt.Print(string(b)) }

type numbersSET []int

type sequence struct {
	A   int
	B   string `asn1:"utf8"`
	Set numbersSET
	E   asn1.Enumerated
	F   flagged `asn1:"optional"`
	T   time.Time
}
type flagged asn1.BitString

type header struct {
	Magic   magic
	Size    uint16
	Parts   [2]part
	Ignored uint8
}
type magic [4]byte
type part struct{ A, B int16 }

type Person struct {
	Name string
	Kids []Person `xml:"kid"`
	Pet  *Animal
}
type Animal struct{ Kind animalKind }
type animalKind uint8

func (k animalKind) String() string { return [...]string{"cat", "dog"}[k] }

type Arith struct{ calls *int }
type Args struct{ A, B int }
type Reply struct{ C, D int }

func (t Arith) Multiply(args Args, reply *Reply) error {
	*t.calls++
	reply.C = args.A * args.B
	return nil
}
func (t Arith) Divide(args *Args, reply *Reply) error {
	if args.B == 0 {
		return errors.New("by zero")
	}
	reply.C, reply.D = args.A/args.B, args.A%args.B
	return nil
}
func (t Arith) NotServed(a int) {}

type contextKey struct{ name string }
type otherKey struct{ name string }

type nilSafe struct{ n int }

func (p *nilSafe) String() string               { return fmt.Sprint("nil safe ", p == nil) }
func (p *nilSafe) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprint(p == nil)), nil }

type notNil struct{ n int }

func (p notNil) String() string               { return fmt.Sprint(p.n) }
func (p notNil) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (p notNil) MarshalText() ([]byte, error) { return []byte("text"), nil }
func (p notNil) LogValue() slog.Value         { return slog.IntValue(p.n) }
func (p notNil) Error() string                { return "not nil" }

type panics struct{ with any }

func (p panics) String() string               { panic(p.with) }
func (p panics) Error() string                { panic(p.with) }
func (p panics) MarshalText() ([]byte, error) { panic(p.with) }
func (p panics) Format(fmt.State, rune)       { panic(p.with) }
func (p panics) LogValue() slog.Value         { panic(p.with) }
func (p panics) Method() string               { panic(p.with) }
func (p panics) Len() int                     { return 2 }
func (p panics) Less(i, j int) bool           { panic(p.with) }
func (p panics) Swap(i, j int)                {}
func (p panics) Read([]byte) (int, error)     { panic(p.with) }

type stringPanic struct{}

func (stringPanic) String() string { var m map[string]int; m["a"] = 1; return "" }

type goStringPanic struct{}

func (*goStringPanic) GoString() string { var p *Person; return p.Name }

type reads int

func (r reads) Read(b []byte) (int, error) { return int(r), nil }

type writes int

func (w writes) Write(b []byte) (int, error) { return int(w), nil }

type expr struct{ ast.Expr }
type stmt struct{ *ast.ReturnStmt }

func (e expr) Pos() token.Pos { return 77 }

type visitor struct{ count *int }

func (v visitor) Visit(n ast.Node) ast.Visitor { *v.count++; return v }

type alias = notNil
type embedsAlias struct{ alias }
type embedsDeep struct{ *embedsAlias }

type generic[K cmp.Ordered, V any] struct{ m map[K]V }

func (g generic[K, V]) String() string { return fmt.Sprint(slices.Sorted(maps.Keys(g.m))) }
func (g generic[K, V]) MarshalJSON() ([]byte, error) {
	return json.Marshal(slices.Sorted(maps.Keys(g.m)))
}

type tree[T any] struct {
	Left, Right *tree[T]
	Value       T
}

func (t *tree[T]) WriteTo(w io.Writer) (n int64, err error) {
	if t == nil {
		return 0, nil
	}
	a, _ := t.Left.WriteTo(w)
	m, _ := fmt.Fprint(w, t.Value, ";")
	b, err := t.Right.WriteTo(w)
	return a + int64(m) + b, err
}

func local[T any](v T) []any {
	type inner struct {
		notNil
		V T
	}
	type other struct {
		*nilSafe
		V []T
	}
	return []any{inner{notNil{1}, v}, &other{&nilSafe{}, []T{v}}, struct {
		notNil
		X T
	}{notNil{2}, v}}
}

func try(what string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			_, isRuntime := r.(runtime.Error)
			fmt.Println(what, r, isRuntime)
		}
	}()
	f()
}

func main() {
	data, err := asn1.Marshal(sequence{1, "b", numbersSET{3, 2}, 4, flagged{}, time.Unix(1e9, 0).UTC()})
	fmt.Printf("%x %v\n", data, err)
	var s sequence
	rest, err := asn1.Unmarshal(data, &s)
	fmt.Println(s.A, s.B, s.Set, s.E, len(rest), err)
	var b bytes.Buffer
	h := header{magic{'m'}, 2, [2]part{{3, 4}, {5, 6}}, 7}
	fmt.Println(binary.Write(&b, binary.BigEndian, h), binary.Size(h), b.Bytes())
	var back header
	fmt.Println(binary.Read(&b, binary.BigEndian, &back), back == h)

	text, err := xml.Marshal([]any{Person{"P", []Person{{Name: "K"}}, &Animal{1}}, Animal{0}, numbersSET{1, 2}, animalKind(1)})
	fmt.Println(string(text), err)
	calls := 0
	server := rpc.NewServer()
	fmt.Println(server.Register(Arith{&calls}), server.RegisterName("other", &Arith{&calls}))
	web := httptest.NewServer(server)
	client, err := rpc.DialHTTP("tcp", strings.TrimPrefix(web.URL, "http://"))
	if err == nil {
		var reply Reply
		fmt.Println(client.Call("Arith.Multiply", Args{6, 7}, &reply), reply, client.Call("other.Divide", &Args{7, 2}, &reply), reply, client.Call("Arith.Divide", Args{}, &reply), calls)
		client.Close()
	}
	web.Close()

	ctx := context.WithValue(context.WithValue(context.Background(), contextKey{"k"}, 1), otherKey{"k"}, 2)
	fmt.Println(ctx.Value(contextKey{"k"}), ctx.Value(otherKey{"k"}), ctx.Value(struct{ name string }{"k"}), ctx.Value("k"))
	try("key", func() { context.WithValue(ctx, numbersSET{}, 1) })
	fmt.Println(ctx)
	var m sync.Map
	m.Store(contextKey{"a"}, notNil{1})
	m.Store(otherKey{"a"}, 2)
	v, ok := m.Load(contextKey{"a"})
	old, loaded := m.LoadOrStore(otherKey{"a"}, 3)
	fmt.Println(v, ok, old, loaded, m.CompareAndSwap(contextKey{"a"}, notNil{1}, notNil{5}), m.CompareAndDelete(contextKey{"a"}, notNil{1}))
	var a atomic.Value
	a.Store(notNil{1})
	try("atomic", func() { a.Store(1) })
	fmt.Println(a.CompareAndSwap(notNil{1}, notNil{2}), a.Load().(fmt.Stringer), a.Swap(notNil{3}))
	fmt.Println(unique.Make(contextKey{"x"}) == unique.Make(contextKey{"x"}), unique.Make(any(contextKey{"x"})) == unique.Make(any(otherKey{"x"})))
	pool := sync.Pool{New: func() any { return &nilSafe{9} }}
	fmt.Println(pool.Get().(*nilSafe).n, reflect.DeepEqual([]any{notNil{1}}, []any{notNil{1}}), reflect.DeepEqual(any(contextKey{}), any(otherKey{})))
	l := list.New()
	l.PushBack(notNil{4})
	fmt.Println(l.Front().Value, l.Front().Value == any(notNil{4}))
	fmt.Println(errors.Is(notNil{1}, notNil{1}), errors.Is(notNil{1}, notNil{2}), errors.Is(fmt.Errorf("%w", &notNil{1}), &notNil{1}))

	var nobody *nilSafe
	var none *notNil
	fmt.Println(nobody, none, []fmt.Stringer{nobody, none})
	text, err = json.Marshal([]any{nobody, none, map[string]*notNil{"a": nil}, struct{ P *nilSafe }{}})
	fmt.Println(string(text), err)
	try("nil attribute", func() {
		text, err = xml.Marshal(struct {
			XMLName xml.Name `xml:"x"`
			P       *notNil  `xml:",attr"`
			Q       *notNil
			R       any
		}{R: none})
		fmt.Println(string(text), err)
	})
	logger := slog.New(slog.NewTextHandler(stdout{}, &slog.HandlerOptions{ReplaceAttr: func(g []string, a slog.Attr) slog.Attr {
		if a.Key == "time" {
			return slog.Attr{}
		}
		if text := a.Value.String(); strings.Contains(text, "called") {
			return slog.String(a.Key, strings.Split(text, "\n")[0])
		}
		return a
	}}))
	logger.Info("nil", "p", none, "q", nobody, "panics", panics{"log"})

	fmt.Printf("%v %s %d|%v|%v\n", panics{"format"}, panics{io.EOF}, &panics{3}, stringPanic{}, []any{stringPanic{}})
	fmt.Printf("%#v %#v\n", &goStringPanic{}, (*goStringPanic)(nil))
	err = template.Must(template.New("t").Parse("{{.Method}}")).Execute(io.Discard, panics{errors.New("in a method")})
	fmt.Println(err)
	err = template.Must(template.New("t").Parse("{{.Method}}")).Execute(io.Discard, panics{"no error"})
	fmt.Println(err)
	try("json", func() { json.Marshal(panics{notNil{5}}) })
	try("sort", func() { sort.Sort(panics{[]int{1}}) })
	try("read", func() { io.ReadAll(panics{contextKey{"p"}}) })
	try("once", func() { sync.OnceFunc(func() { panic(notNil{6}) })() })
	try("runtime", func() { fmt.Fprint(io.Discard, 1); io.Copy(io.Discard, struct{ io.Reader }{}) })
	try("reads too much", func() { io.ReadAll(reads(1 << 20)) })
	try("reads less", func() { _, err := bytes.NewBuffer(nil).ReadFrom(reads(-1)); fmt.Println(err) })
	try("writes too much", func() { io.Copy(writes(9), strings.NewReader("short")) })
	n, err := io.Copy(writes(2), struct{ io.Reader }{strings.NewReader("short")})
	fmt.Println(n, err)
	try("sorted", func() { slices.SortFunc([]notNil{{2}, {1}}, func(a, b notNil) int { panic(a) }) })
	try("unhashable", func() { m.Store(numbersSET{}, 1) })
	try("compare", func() { fmt.Println(errors.Is(tree2{}, tree2{})) })
	func() {
		defer func() { fmt.Println(recover() == http.ErrAbortHandler) }()
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }).ServeHTTP(nil, nil)
	}()

	count := 0
	ast.Walk(visitor{&count}, &ast.ParenExpr{X: ast.NewIdent("x")})
	var e ast.Expr = expr{ast.NewIdent("y")}
	_, isStmt := any(stmt{&ast.ReturnStmt{}}).(ast.Stmt)
	fmt.Println(count, e.Pos(), e.End(), ast.Unparen(e) == e, isStmt, reflect.TypeOf(e).Implements(reflect.TypeFor[ast.Expr]()), reflect.TypeOf(e).Implements(reflect.TypeFor[ast.Stmt]()))
	try("walk", func() { ast.Walk(visitor{&count}, e) })

	fmt.Println(embedsAlias{alias{3}}, &embedsDeep{&embedsAlias{alias{4}}}, alias{5})
	text, err = json.Marshal([]any{embedsAlias{alias{3}}, embedsDeep{&embedsAlias{}}, generic[string, int]{map[string]int{"b": 1, "a": 2}}, map[alias]int{{6}: 1}})
	fmt.Println(string(text), err)
	fmt.Printf("%T %v %T\n", generic[string, []Person]{}, generic[int, any]{map[int]any{3: 1}}, &tree[generic[string, int]]{})
	var w strings.Builder
	n, err = (&tree[notNil]{&tree[notNil]{Value: notNil{1}}, nil, notNil{2}}).WriteTo(&w)
	fmt.Println(n, err, w.String())
	n, err = io.Copy(&w, struct {
		io.Reader
		io.WriterTo
	}{nil, &tree[string]{Value: "copied"}})
	fmt.Println(n, err, w.String())
	for _, x := range append(local(1), local("s")...) {
		text, err := json.Marshal(x)
		fmt.Printf("%v %s %v\n", x, text, err)
	}
}

type tree2 []error

func (t tree2) Error() string { return "tree2" }
