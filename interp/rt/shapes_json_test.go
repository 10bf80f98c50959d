package rt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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

type Appending struct{ N int }

func (a Appending) AppendText(b []byte) ([]byte, error) {
	if a.N < 0 {
		return nil, errors.New("negative")
	}
	return fmt.Append(b, "n", a.N), nil
}

// Key has a method for map keys, and the kind of a key that does not need one.
type Key string

func (k Key) MarshalText() ([]byte, error) { return []byte("key " + k), nil }

// Newer has options in its tags that encoding/json knows since Go 1.27.
type Newer struct {
	Strict Int   `json:"strict,case:strict"`
	Loose  Int   `json:"loose,case:ignore"`
	In     inner `json:",embed"`
	Quote  Text  `json:"it's,omitempty"`
	Odd    Int   `json:"odd,,unknown,omitempty"`
	Named  Base  `json:"named,embed"`
	App    Appending
	Apps   map[Appending]Int `json:",omitempty"`
	Keys   map[Key]Int       `json:",omitempty"`
	Bools  map[bool]Int      `json:",omitempty"`
	Floats map[Float32]Text  `json:",omitempty"`
	Points map[*Color]Int    `json:",omitempty"`
	Any    map[any]Celsius   `json:",omitempty"`
	Pairs  map[[1]Int]Int    `json:",omitempty"`
	Deep   map[Int][]*Newer  `json:",omitempty"`
}

type Formatted struct {
	A Int
	D Float `json:"d,format:nonfinite"`
}

// Rest would take the members that have no field.
type Rest struct {
	A    Int
	More map[Text]any `json:",embed"`
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
