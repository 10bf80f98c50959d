package rt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"log/slog"
	"sort"
	"strconv"
	"strings"
	"time"
)

// The types of this file are declared twice: the compiler compiles them, and
// the tests type-check the file and treat them as types of a cell.

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

// Convertible finds itself as a *Code by its method As.
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

// Types for encoding/json.

type Temp float64

func (t Temp) MarshalJSON() ([]byte, error) {
	return []byte(`{ "kelvin" : ` + strconv.FormatFloat(float64(t)+273, 'f', -1, 64) + ` }`), nil
}

func (t *Temp) UnmarshalJSON(b []byte) error {
	var v struct {
		Kelvin float64 `json:"kelvin"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*t = Temp(v.Kelvin - 273)
	return nil
}

type Color struct{ R, G, B uint8 }

func (c Color) MarshalText() ([]byte, error) {
	if c.R == 255 && c.G == 0 {
		return nil, errors.New("no such color")
	}
	return fmt.Appendf(nil, "#%02x%02x%02x", c.R, c.G, c.B), nil
}

func (c *Color) UnmarshalText(b []byte) error {
	if !strings.HasPrefix(string(b), "#") {
		return errors.New("bad color " + string(b))
	}
	_, err := fmt.Sscanf(string(b), "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return err
}

type ByPointer struct{ N int }

func (p *ByPointer) MarshalJSON() ([]byte, error) {
	return []byte(`"ptr` + strconv.Itoa(p.N) + `"`), nil
}

type Failing struct{ Kind string }

func (f Failing) MarshalJSON() ([]byte, error) {
	switch f.Kind {
	case "syntax":
		return []byte(`{"a":`), nil
	case "html":
		return []byte(`"<&>"`), nil
	}
	return nil, errors.New("failing on purpose")
}

type Level uint8

func (l Level) IsZero() bool { return l == 7 }

type PtrZero struct{ N int }

func (p *PtrZero) IsZero() bool { return p.N == 9 }

type Amb1 struct {
	Same string
	One  int
}

type Amb2 struct {
	Same string
	Two  int
}

type Ambiguous struct {
	Amb1
	Amb2
}

type Tagged struct {
	Amb1
	Amb2 `json:"amb2"`
	Won  string `json:"Same"`
}

type Record struct {
	A       Int                `json:"a"`
	B       *Int               `json:"b,omitempty"`
	S       Text               `json:"s,string"`
	N       Int                `json:"n,string"`
	Q       *Float             `json:"q,string,omitempty"`
	F       Flag               `json:"f,omitempty"`
	L       Ints               `json:"l,omitempty"`
	M       map[Int]Text       `json:"m,omitempty"`
	C       map[Color]Int      `json:"c,omitempty"`
	P       Point              `json:"p"`
	PZ      Point              `json:"pz,omitzero"`
	Lv      Level              `json:"lv,omitzero"`
	Pt      PtrZero            `json:"pt,omitzero"`
	Z       Shape              `json:"z,omitempty"`
	T       Temp               `json:"t"`
	TP      *Temp              `json:"tp"`
	By      ByPointer          `json:"by"`
	Col     Color              `json:"col"`
	Raw     Bytes              `json:"raw"`
	Oct     Octets             `json:"oct"`
	H       Hash               `json:"h"`
	Html    Text               `json:"html<>"`
	Any     any                `json:"any"`
	Anys    []any              `json:"anys"`
	Skip    Text               `json:"-"`
	Dash    Text               `json:"-,"`
	Bad     Text               `json:"a\"b"`
	When    time.Time          `json:"when,omitzero"`
	Lit     struct{ U, v Int } `json:"lit"`
	Num     json.Number        `json:"num,omitempty"`
	Tree    *Tree[Int]         `json:"tree,omitempty"`
	private Int
}

// realTypes are the named types above that a test may meet in an interface.
var realTypes = []any{
	Int(0), Uint8(0), Float(0), Float32(0), Complex(0), Text(""), Flag(false), Bytes{}, Octets{}, Hash{}, Ints{}, Grid{},
	Names{}, Any{}, Action(nil), Pipe(nil), Empty{}, Seconds(0), Moment{}, Point{}, Celsius(0), Weekday(0), Shy{}, Loud{},
	Code{}, Wrapped{}, Many{}, Both{}, Convertible{}, Fancy{}, Panicky{}, Node{}, Base{}, inner{}, Derived{}, Outer{},
	Square{}, Holder{}, Pair[Text, Int]{}, Pair[Int, Celsius]{}, Tree[Int]{}, Temp(0), Color{}, ByPointer{}, Failing{},
	Level(0), PtrZero{}, Amb1{}, Amb2{}, Ambiguous{}, Tagged{}, Record{}, Square2{}, Stack{}, Stream{}, Source{}, Letters{}, Bundle{}, Pixels{}, Secret(""), Variadic{}, Deep{}, Omitting{},
}

// Square2 has its method by pointer.
type Square2 struct{ Side float64 }

func (s *Square2) Area() float64 { return s.Side * s.Side }

// Stack is a sort.Interface and a heap.Interface.
type Stack []Int

var _ sort.Interface = Stack(nil)

func (s Stack) Len() int           { return len(s) }
func (s Stack) Less(i, j int) bool { return s[i] < s[j] }
func (s Stack) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// Stream has all io methods; it counts which were called.
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

// Source is a reader that io.Copy asks to write itself.
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

// Bundle shows itself.
type Bundle struct{ HTML string }

func (b Bundle) MIMEBundle() map[string]any {
	return map[string]any{"text/html": b.HTML, "text/plain": "b"}
}
func (b Bundle) MIMEMetadata() map[string]any {
	return map[string]any{"text/html": map[string]any{"k": 1}}
}

// Pixels is a picture.
type Pixels struct{ Side int }

func (p Pixels) ColorModel() color.Model { return color.GrayModel }
func (p Pixels) Bounds() image.Rectangle { return image.Rect(0, 0, p.Side, p.Side) }
func (p Pixels) At(x, y int) color.Color { return color.Gray{uint8(x + y)} }

// Secret hides from the log.
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

// Nothing is an interface of a cell that encoding/json looks for.
type Nothing interface{ IsZero() bool }

// Omitting leaves out fields that say they are zero.
type Omitting struct {
	N Nothing                    `json:"n,omitzero"`
	M interface{ IsZero() bool } `json:"m,omitzero"`
	P *PtrZero                   `json:"p,omitzero"`
	S Shape                      `json:"s,omitzero"`
	T time.Time                  `json:"t,omitzero"`
	K map[fmt.Stringer]int       `json:"k,omitempty"`
}
