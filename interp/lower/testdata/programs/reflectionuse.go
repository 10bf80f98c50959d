package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

type Base struct{ ID int }

func (b *Base) SetID(n int)     { b.ID = n }
func (b Base) Describe() string { return "base " + strconv.Itoa(b.ID) }

type inner struct{ Pub, priv int }
type Item struct {
	*Base
	inner
	Name  string `db:"name"`
	Price float64
	Tags  map[string][]string
	Kind  Kind
	F     func(Kind) Kind
	C     chan Kind
	Arr   [2]Kind
	W     io.Writer
	S     fmt.Stringer
	E     error
	P     **Kind
}
type Kind uint8

const (
	A Kind = iota
	B
)

func (k Kind) String() string { return [...]string{"A", "B"}[k] }

type Visitor interface{ Visit(Item) error }
type V struct{ log *[]string }

func (v V) Visit(i Item) error { *v.log = append(*v.log, i.Name); return nil }

type sw struct{ n int }

func (s *sw) Write(p []byte) (int, error) { s.n += len(p); return len(p), nil }

type L[T any] struct{ items []T }

func (l *L[T]) Push(x T)        { l.items = append(l.items, x) }
func (l L[T]) Len() int         { return len(l.items) }
func (l L[T]) First() (T, bool) { return l.items[0], true }

func try(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println(name, "panics:", r)
		}
	}()
	f()
}

func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		n := reflect.New(v.Type().Elem())
		n.Elem().Set(deepCopy(v.Elem()))
		return n
	case reflect.Struct:
		n := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			if n.Field(i).CanSet() {
				n.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
		return n
	case reflect.Slice:
		n := reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			n = reflect.Append(n, deepCopy(v.Index(i)))
		}
		return n
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		n := reflect.MakeMap(v.Type())
		for it := v.MapRange(); it.Next(); {
			n.SetMapIndex(it.Key(), deepCopy(it.Value()))
		}
		return n
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return deepCopy(v.Elem())
	}
	return v
}

type Container struct {
	providers map[reflect.Type]reflect.Value
}

func (c *Container) Provide(f any) {
	v := reflect.ValueOf(f)
	c.providers[v.Type().Out(0)] = v
}
func (c *Container) Get(t reflect.Type) reflect.Value {
	p, ok := c.providers[t]
	if !ok {
		panic("no provider for " + t.String())
	}
	var in []reflect.Value
	for i := range p.Type().NumIn() {
		in = append(in, c.Get(p.Type().In(i)))
	}
	return p.Call(in)[0]
}

type DB struct{ dsn string }
type Service struct {
	db *DB
	k  Kind
}

func main() {
	log := []string{}
	it := Item{Base: &Base{7}, inner: inner{1, 2}, Name: "x", Price: 1.5, Tags: map[string][]string{"a": {"b"}}, Kind: B,
		F: func(k Kind) Kind { return 1 - k }, C: make(chan Kind, 2), W: &sw{}, S: B, E: errors.New("err")}
	t := reflect.TypeOf(it)
	for i := range t.NumField() {
		f := t.Field(i)
		fmt.Println(f.Name, f.Type, f.Index, f.Anonymous, f.PkgPath == "", f.Type.Kind(), f.Type.String(), f.Type.Name())
	}
	for _, f := range reflect.VisibleFields(t) {
		fmt.Print(f.Name, f.Index, " ")
	}
	fmt.Println()
	fmt.Println(t.NumMethod(), reflect.TypeOf(&it).NumMethod())
	for m := range reflect.TypeOf(&it).Methods() {
		fmt.Println(m.Name, m.Type, m.Index)
	}
	v := reflect.ValueOf(&it).Elem()
	v.Addr().MethodByName("SetID").Call([]reflect.Value{reflect.ValueOf(9)})
	fmt.Println(it.ID, v.MethodByName("Describe").Call(nil)[0])
	fmt.Println(v.FieldByName("ID"), v.FieldByName("Pub"), v.FieldByName("priv"), v.FieldByName("Pub").CanSet(), v.FieldByName("priv").CanSet())
	fmt.Println(v.FieldByName("F").Call([]reflect.Value{reflect.ValueOf(A)})[0].Interface().(Kind))
	v.FieldByName("C").Send(reflect.ValueOf(B))
	x, ok := v.FieldByName("C").Recv()
	fmt.Println(x, ok, x.Type())
	v.FieldByName("Arr").Index(1).Set(reflect.ValueOf(B))
	fmt.Println(it.Arr, v.FieldByName("Arr").Slice(0, 2).Type(), v.FieldByName("Arr").Slice(1, 2))
	fmt.Println(v.FieldByName("S").Elem().Type(), v.FieldByName("S").Type(), v.FieldByName("W").Elem().Type(), v.FieldByName("E").Elem().Type())
	v.FieldByName("W").Set(reflect.ValueOf(&sw{3}))
	fmt.Fprint(it.W, "abc")
	fmt.Println(it.W.(*sw).n)
	v.FieldByName("S").Set(reflect.ValueOf(A))
	v.FieldByName("E").Set(reflect.ValueOf(io.EOF))
	fmt.Println(it.S, it.E == io.EOF)
	k := B
	pk := &k
	v.FieldByName("P").Set(reflect.ValueOf(&pk))
	fmt.Println(**it.P, v.FieldByName("P").Elem().Elem())
	try("set", func() { v.FieldByName("Kind").Set(reflect.ValueOf(uint8(1))) })
	try("set2", func() { v.FieldByName("Name").Set(reflect.ValueOf(Kind(1))) })
	try("set3", func() { v.FieldByName("S").Set(reflect.ValueOf(5)) })
	try("priv", func() { v.FieldByName("priv").SetInt(3) })
	try("priv2", func() { v.FieldByName("priv").Interface() })
	try("call", func() { v.FieldByName("F").Call([]reflect.Value{reflect.ValueOf(1)}) })
	try("call0", func() { v.FieldByName("F").Call(nil) })
	try("field", func() { reflect.ValueOf(Kind(1)).NumField() })
	try("field2", func() { reflect.ValueOf(Kind(1)).FieldByName("x") })
	try("elem", func() { reflect.ValueOf(Kind(1)).Elem() })
	try("method", func() { v.Method(99) })
	try("conv", func() { v.Convert(reflect.TypeOf(1)) })
	try("map", func() { reflect.ValueOf(it.Tags).SetMapIndex(reflect.ValueOf(1), reflect.ValueOf([]string{})) })
	cp := deepCopy(reflect.ValueOf(it)).Interface().(Item)
	cp.Base.ID = 1000
	cp.Tags["a"][0] = "changed"
	fmt.Println(it.ID, it.Tags, cp.ID, cp.Tags, cp.Name, cp.Kind)
	vis := reflect.TypeFor[Visitor]()
	fmt.Println(vis, reflect.TypeOf(V{}).Implements(vis), reflect.TypeOf(it).Implements(vis), vis.NumMethod(), vis.Method(0).Name, vis.Method(0).Type)
	var vv Visitor = V{&log}
	rv := reflect.ValueOf(&vv).Elem()
	fmt.Println(rv.Kind(), rv.NumMethod(), rv.Method(0).Call([]reflect.Value{reflect.ValueOf(it)})[0].IsNil(), log)
	l := &L[Kind]{}
	lv := reflect.ValueOf(l)
	lv.MethodByName("Push").Call([]reflect.Value{reflect.ValueOf(B)})
	fmt.Println(lv.Type(), lv.MethodByName("Len").Call(nil)[0], lv.MethodByName("First").Call(nil)[0], lv.Elem().Type().Name(), lv.NumMethod())
	c := &Container{map[reflect.Type]reflect.Value{}}
	c.Provide(func() *DB { return &DB{"dsn"} })
	c.Provide(func() Kind { return B })
	c.Provide(func(db *DB, k Kind) *Service { return &Service{db, k} })
	s := c.Get(reflect.TypeOf((*Service)(nil))).Interface().(*Service)
	fmt.Println(s.db.dsn, s.k)
	try("di", func() { c.Get(reflect.TypeOf(3)) })
	m := map[Kind]Item{A: {Name: "a"}, B: {Name: "b"}}
	mv := reflect.ValueOf(m)
	keys := mv.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].Uint() < keys[j].Uint() })
	for _, k := range keys {
		fmt.Print(k, " ", mv.MapIndex(k).Field(2), " ", mv.MapIndex(k).FieldByName("Name").String(), ";")
	}
	fmt.Println(mv.MapIndex(reflect.ValueOf(Kind(9))).IsValid())
	mt := reflect.MapOf(reflect.TypeOf(""), reflect.TypeOf(it.Kind))
	nm := reflect.MakeMap(mt)
	nm.SetMapIndex(reflect.ValueOf("q"), reflect.ValueOf(B))
	fmt.Println(mt, nm, nm.Interface().(map[string]Kind)["q"])
	fmt.Println(reflect.SliceOf(t.Field(5).Type), reflect.PointerTo(t), reflect.ArrayOf(3, t.Field(5).Type), reflect.ChanOf(reflect.RecvDir, t.Field(5).Type))
	swap := reflect.MakeFunc(reflect.TypeOf(func(a, b Kind) (Kind, Kind) { return a, b }), func(in []reflect.Value) []reflect.Value {
		return []reflect.Value{in[1], in[0]}
	}).Interface().(func(a, b Kind) (Kind, Kind))
	fmt.Println(swap(A, B))
	a, ok2 := reflect.TypeAssert[Kind](reflect.ValueOf(B))
	fmt.Println(a, ok2)
	_, ok2 = reflect.TypeAssert[fmt.Stringer](reflect.ValueOf(B))
	fmt.Println(ok2)
	fmt.Println(reflect.ValueOf(it).FieldByName("Kind").Equal(reflect.ValueOf(B)), reflect.ValueOf(B).Equal(reflect.ValueOf(uint8(1))), reflect.ValueOf(B).Comparable(), reflect.ValueOf(it).IsZero(), reflect.Zero(t).IsZero())
	fmt.Println(reflect.ValueOf(B).Convert(reflect.TypeOf(uint8(0))).Interface(), reflect.ValueOf(uint8(0)).CanConvert(reflect.TypeOf(A)), reflect.ValueOf(B).Convert(reflect.TypeFor[fmt.Stringer]()).Type(), reflect.TypeOf(A).ConvertibleTo(reflect.TypeOf(1)), reflect.TypeOf(A).AssignableTo(reflect.TypeOf(uint8(1))))
	fmt.Printf("%v %d %s %T %+v\n", reflect.ValueOf(B), reflect.ValueOf(B), reflect.ValueOf(B), reflect.ValueOf(B), reflect.ValueOf(Base{3}))
	fmt.Println(reflect.ValueOf(inner{1, 2}).Field(1), reflect.ValueOf(it).FieldByName("inner"), reflect.ValueOf(B).String(), reflect.ValueOf(it.inner).String())
	var any1 any = &it
	walkTypes(reflect.TypeOf(any1), map[reflect.Type]bool{}, 0)
	h := reflect.Value.NumMethod
	fmt.Println(h(reflect.ValueOf(B)), reflect.TypeOf(B).String() == "main.Kind", reflect.ValueOf(any1).Elem().Type() == t)
	for i, x := range reflect.ValueOf([]Kind{A, B}).Seq2() {
		fmt.Print(i, x, x.Type(), " ")
	}
	for f, x := range reflect.ValueOf(Base{4}).Fields() {
		fmt.Println(f.Name, x)
	}
	type local struct{ X, Y Kind }
	lt := reflect.TypeOf(local{})
	fmt.Println(lt, lt.Name(), lt.PkgPath(), reflect.ValueOf(local{A, B}))
	st := reflect.StructOf([]reflect.StructField{{Name: "K", Type: reflect.TypeOf(A), Tag: `json:"k"`}, {Name: "N", Type: reflect.TypeOf(1)}})
	sv := reflect.New(st).Elem()
	sv.Field(0).Set(reflect.ValueOf(B))
	fmt.Println(st, sv)
	chosen, recv, ok3 := reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectSend, Chan: reflect.ValueOf(it.C), Send: reflect.ValueOf(B)}})
	fmt.Println(chosen, recv.IsValid(), ok3, <-it.C)
	fmt.Println(strings.Contains(fmt.Sprint(reflect.ValueOf(&it)), "0x"))
	var np *Item
	fmt.Println(reflect.ValueOf(np).IsNil(), reflect.ValueOf(np).Elem().IsValid(), reflect.TypeOf(np).Elem().Field(2).Tag.Get("db"))
	fn := reflect.ValueOf(it.Describe)
	fmt.Println(fn.Call(nil)[0], fn.Type())
	sl := reflect.ValueOf(&[]Kind{A}).Elem()
	sl.Set(reflect.Append(sl, reflect.ValueOf(B), reflect.ValueOf(A)))
	reflect.Swapper(sl.Interface())(0, 1)
	fmt.Println(sl, sl.Len(), reflect.Copy(sl, reflect.ValueOf([]Kind{B, B})), sl.Interface())
}

func walkTypes(t reflect.Type, seen map[reflect.Type]bool, depth int) {
	if seen[t] || depth > 3 {
		return
	}
	seen[t] = true
	fmt.Print(strings.Repeat(" ", depth), t, " ", t.Kind(), "\n")
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Chan, reflect.Array:
		walkTypes(t.Elem(), seen, depth+1)
	case reflect.Struct:
		for i := range t.NumField() {
			walkTypes(t.Field(i).Type, seen, depth+1)
		}
	case reflect.Func:
		for i := range t.NumIn() {
			walkTypes(t.In(i), seen, depth+1)
		}
	}
}
