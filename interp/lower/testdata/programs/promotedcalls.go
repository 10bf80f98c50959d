package main

import (
	"bytes"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/template"
)

// Methods of embedded fields, called through interfaces and by compiled packages.

type adder interface{ add(n int) int }

type counter struct{ sum, calls int }

func (c *counter) add(n int) int { c.sum += n; c.calls++; return c.sum }
func (c counter) String() string { return fmt.Sprintf("<%d in %d>", c.sum, c.calls) }

type offset struct{ by int }

func (o offset) add(n int) int { return o.by + n }

// set changes the variable of which a method has a copy.
type set struct {
	values [2]int
	other  *byValue
}

func (s set) add(n int) int {
	before := s.values[0]
	s.other.values[0] = 100
	return 1000*before + 10*s.values[0] + n
}

type number int

func (n number) add(m int) int { return int(n) + m }

type function func(int) int

func (f function) add(n int) int { return f(n) }

type byValue struct {
	name string
	set
}
type ofCounter struct {
	_ [3]byte
	counter
}
type ofPointer struct {
	name string
	*counter
}
type deep struct {
	id int
	ofPointer
}
type deeper struct{ *deep }
type ofOffset struct {
	name string
	offset
}
type onlyOffset struct{ offset }
type onlyPointer struct{ *offset }
type ofInterface struct {
	id int
	adder
}
type onlyInterface struct{ adder }
type ofNumber struct {
	text string
	number
}
type ofFunction struct{ function }
type ofAlias = ofNumber
type named ofPointer
type wrapped struct {
	before string
	bytes.Buffer
}
type wrappedPointer struct {
	n int
	*strings.Reader
}
type streams struct {
	io.Reader
	fmt.Stringer
}
type reversed struct{ sort.Interface }

func (r reversed) Less(i, j int) bool { return r.Interface.Less(j, i) }

type pair[A any] struct{ a A }

func (p pair[A]) add(n int) int { return n + len(fmt.Sprint(p.a)) }

type ofPair struct {
	k int
	pair[string]
}

func try(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println(name, "panics:", r)
		}
	}()
	f()
}

func main() {
	v := &byValue{set: set{values: [2]int{5, 6}}}
	v.other = v
	list := []struct {
		name string
		adder
	}{
		{"value of a pointer", &ofCounter{counter: counter{sum: 1}}},
		{"pointer", ofPointer{counter: &counter{sum: 2}}},
		{"pointer of a pointer", &ofPointer{counter: &counter{sum: 3}}},
		{"two levels", deep{ofPointer: ofPointer{counter: &counter{sum: 4}}}},
		{"three levels", deeper{&deep{ofPointer: ofPointer{counter: &counter{sum: 5}}}}},
		{"method of a value", ofOffset{offset: offset{6}}},
		{"method of a value of a pointer", &ofOffset{offset: offset{7}}},
		{"only a value", onlyOffset{offset{8}}},
		{"only a pointer", onlyPointer{&offset{9}}},
		{"pointer to only a pointer", &onlyPointer{&offset{10}}},
		{"interface", ofInterface{adder: offset{11}}},
		{"interface of a pointer", &ofInterface{adder: &counter{sum: 12}}},
		{"interfaces", onlyInterface{&onlyInterface{ofInterface{adder: number(13)}}}},
		{"number", ofNumber{number: 14}},
		{"number of a pointer", &ofNumber{number: 15}},
		{"function", ofFunction{func(n int) int { return 16 + n }}},
		{"alias", ofAlias{number: 17}},
		{"named struct", named{counter: &counter{sum: 18}}},
		{"generic", ofPair{pair: pair[string]{"nineteen"}}},
		{"literal", struct{ *deep }{&deep{ofPointer: ofPointer{counter: &counter{sum: 20}}}}},
		{"copy of the receiver", v},
	}
	for range 2 {
		for _, x := range list {
			a, f := x.adder, x.adder.add
			fmt.Println(x.name, a.add(1), x.add(2), f(3))
		}
	}
	for _, x := range list {
		if s, ok := x.adder.(fmt.Stringer); ok {
			fmt.Println(x.name, s, s.String())
		}
	}

	for _, a := range []adder{ofPointer{}, onlyPointer{}, ofInterface{}, deeper{}} {
		try("nil", func() { a.add(1) })
	}
	try("nil *ofOffset", func() { var p *ofOffset; adder(p).add(1) })
	try("nil *ofCounter", func() { var p *ofCounter; adder(p).add(1) })
	try("nil String", func() { var s fmt.Stringer = ofPointer{}; _ = s.String() })

	w := &wrapped{before: "b"}
	var out interface {
		io.Writer
		Len() int
	} = w
	fmt.Fprintf(out, "%d %s", 1, "x")
	fmt.Println(out.Len(), w.String(), w)
	var in interface {
		io.Reader
		Len() int
	} = wrappedPointer{Reader: strings.NewReader("some text")}
	text, err := io.ReadAll(io.LimitReader(in, 4))
	fmt.Println(string(text), err, in.Len())
	s := streams{strings.NewReader("stream"), counter{1, 2}}
	var r interface {
		io.Reader
		String() string
	} = &s
	text, err = io.ReadAll(r)
	fmt.Println(string(text), err, r.String(), r)
	xs := sort.IntSlice{3, 1, 2}
	sort.Sort(reversed{xs})
	fmt.Println(xs)
	sort.Sort(&reversed{reversed{xs}})
	fmt.Println(xs)
	t := template.Must(template.New("").Parse("{{.}} {{.String}} {{.Len}}\n"))
	var printed strings.Builder
	fmt.Println(t.Execute(&printed, struct {
		*counter
		sort.Interface
	}{&counter{7, 8}, xs}), printed.String())
}
