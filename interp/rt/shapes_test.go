package rt

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"log/slog"
	"sort"
	"strconv"
	"time"
)

// The types in this file and in shapes_json_test.go exist twice: compiled, and type-checked
// by the tests, which treat them as types of a cell.

type (
	Int     int
	Uint8   uint8
	Float   float64
	Float32 float32
	Complex complex128
	Text    string
	Flag    bool
	Bytes   []byte
	Octets  []Uint8
	Hash    [4]byte
	Ints    []Int
	Grid    [2][2]Int
	Names   map[Text]Int
	Any     map[any]any
	Action  func(Int) error
	Pipe    chan Int
	Empty   struct{}
	Seconds time.Duration // no methods: those of Duration stay with Duration
	Moment  time.Time
)

type Point struct {
	X, Y int
	note string
}

type Celsius float64

func (c Celsius) String() string { return strconv.FormatFloat(float64(c), 'f', 1, 64) + "°C" }

type Weekday int

func (d Weekday) String() string { return [...]string{"Mon", "Tue", "Wed"}[d] } // panics from 3 on

type Shy struct{ N int }

func (s *Shy) String() string { return "shy " + strconv.Itoa(s.N) }

type Loud struct{ Name string }

func (l Loud) GoString() string { return "LOUD(" + l.Name + ")" }

type Code struct{ N int }

func (c Code) Error() string { return "code " + strconv.Itoa(c.N) }

func (c Code) Is(target error) bool { return target == io.EOF && c.N == 1 }

type Wrapped struct {
	Op  string
	Err error
}

func (w *Wrapped) Error() string { return w.Op + ": " + w.Err.Error() }
func (w *Wrapped) Unwrap() error { return w.Err }

type Many []error

func (m Many) Error() string   { return fmt.Sprintf("%d errors", len(m)) }
func (m Many) Unwrap() []error { return m }

type Both struct{ A int }

func (b Both) Error() string  { return "as error" }
func (b Both) String() string { return "as string" }

// Convertible is converted to a Code by its method As.
type Convertible struct{ N int }

func (c Convertible) Error() string { return "convertible" }
func (c Convertible) As(target any) bool {
	p, ok := target.(*Code)
	if ok {
		p.N = c.N
	}
	return ok
}

type Fancy struct{ V int }

func (f Fancy) Format(s fmt.State, verb rune) {
	w, hasW := s.Width()
	p, hasP := s.Precision()
	fmt.Fprintf(s, "<%c %d %v %d %v", verb, w, hasW, p, hasP)
	for _, c := range "+-# 0" {
		if s.Flag(int(c)) {
			io.WriteString(s, " "+string(c))
		}
	}
	io.WriteString(s, ">")
}

type Panicky struct{ V any }

func (p Panicky) String() string { panic(p.V) }

type Node struct {
	Value Int
	Next  *Node
	Kids  []*Node
	By    map[Text]*Node
}

type Base struct {
	ID   int `json:"id"`
	Name string
}

func (b Base) Describe() string { return b.Name + "#" + strconv.Itoa(b.ID) }

type inner struct {
	Seen   Celsius
	hidden Celsius
}

type Derived struct {
	Base
	*Point
	inner
	Extra Text `json:"extra,omitempty"`
}

type Outer struct {
	C    Celsius
	c    Celsius
	P    *Point
	E    error
	S    fmt.Stringer
	A    any
	L    []Celsius
	M    map[Celsius]Weekday
	lst  []Celsius
	T    time.Time
	D    time.Duration
	B    *bytes.Buffer
	F    func()
	Anon struct {
		Q Celsius
		r Celsius
	}
}

type Shape interface{ Area() float64 }

type Square struct{ Side float64 }

func (s Square) Area() float64 { return s.Side * s.Side }

type Holder struct {
	Shape
	Others []Shape
	Any    any
}

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

type Tree[T any] struct {
	Left, Right *Tree[T]
	Data        T
}

// realTypes are the named types that tests store in interfaces.
var realTypes = []any{
	Int(0), Uint8(0), Float(0), Float32(0), Complex(0), Text(""), Flag(false), Bytes{}, Octets{}, Hash{}, Ints{}, Grid{},
	Names{}, Any{}, Action(nil), Pipe(nil), Empty{}, Seconds(0), Moment{}, Point{}, Celsius(0), Weekday(0), Shy{}, Loud{},
	Code{}, Wrapped{}, Many{}, Both{}, Convertible{}, Fancy{}, Panicky{}, Node{}, Base{}, inner{}, Derived{}, Outer{},
	Square{}, Holder{}, Pair[Text, Int]{}, Pair[Int, Celsius]{}, Tree[Int]{}, Temp(0), Color{}, ByPointer{}, Failing{},
	Level(0), PtrZero{}, Amb1{}, Amb2{}, Ambiguous{}, Tagged{}, Record{}, Square2{}, Stack{}, Stream{}, Source{}, Letters{}, Bundle{}, Pixels{}, Secret(""), Variadic{}, Deep{}, Omitting{},
	Appending{}, Key(""), Newer{}, Formatted{}, Rest{},
}

// Square2 has a method with a pointer receiver.
type Square2 struct{ Side float64 }

func (s *Square2) Area() float64 { return s.Side * s.Side }

// Stack is a sort.Interface and a heap.Interface.
type Stack []Int

var _ sort.Interface = Stack(nil)

func (s Stack) Len() int           { return len(s) }
func (s Stack) Less(i, j int) bool { return s[i] < s[j] }
func (s Stack) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// Stream has all io methods and records the calls.
type Stream struct {
	Data  []byte
	Calls []string
}

func (s *Stream) Read(p []byte) (int, error) {
	s.Calls = append(s.Calls, "Read")
	if len(s.Data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.Data)
	s.Data = s.Data[n:]
	return n, nil
}
func (s *Stream) Write(p []byte) (int, error) {
	s.Calls = append(s.Calls, "Write")
	s.Data = append(s.Data, p...)
	return len(p), nil
}
func (s *Stream) Close() error { s.Calls = append(s.Calls, "Close"); return Code{1} }

// Source is a reader with WriteTo, which io.Copy prefers.
type Source struct{ Text string }

func (s Source) Read(p []byte) (int, error) { return 0, errors.New("Read was called") }
func (s Source) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, s.Text)
	return int64(n), err
}

// Letters is a reader of runes.
type Letters struct {
	Text string
	At   int
}

func (l *Letters) Read(p []byte) (int, error) { return 0, errors.New("Read was called") }
func (l *Letters) ReadRune() (rune, int, error) {
	if l.At == len(l.Text) {
		return 0, 0, io.EOF
	}
	l.At++
	return rune(l.Text[l.At-1]), 1, nil
}
func (l *Letters) UnreadRune() error { l.At--; return nil }

// Bundle implements display.Displayer.
type Bundle struct{ HTML string }

func (b Bundle) MIMEBundle() map[string]any {
	return map[string]any{"text/html": b.HTML, "text/plain": "b"}
}
func (b Bundle) MIMEMetadata() map[string]any {
	return map[string]any{"text/html": map[string]any{"k": 1}}
}

// Pixels is an image.
type Pixels struct{ Side int }

func (p Pixels) ColorModel() color.Model { return color.GrayModel }
func (p Pixels) Bounds() image.Rectangle { return image.Rect(0, 0, p.Side, p.Side) }
func (p Pixels) At(x, y int) color.Color { return color.Gray{uint8(x + y)} }

// Secret hides its value in logs.
type Secret string

func (s Secret) LogValue() slog.Value { return slog.StringValue("hidden") }

// Variadic has a variadic method.
type Variadic struct{ Base int }

func (v Variadic) Sum(xs ...int) int {
	for _, x := range xs {
		v.Base += x
	}
	return v.Base
}

// Deep promotes methods by value, by pointer, of compiled types and of an
// interface.
type Deep struct {
	*Shy
	Base
	*bytes.Buffer
	Shape
}

// Omitting has fields that are omitted if they are zero.
type Omitting struct {
	P *PtrZero             `json:"p,omitzero"`
	S Shape                `json:"s,omitzero"`
	T time.Time            `json:"t,omitzero"`
	K map[fmt.Stringer]int `json:"k,omitempty"`
}
