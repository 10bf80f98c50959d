package frame_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

type kind string

type person struct {
	Name   string  `frame:"name"`
	Age    *int    `frame:"age"`
	Weight float32 `frame:"weight"`
	Kind   kind    // the name of the column is that of the field
	Born   time.Time
	Skip   func() `frame:"-"`
}

func TestStructs(t *testing.T) {
	t.Parallel()
	age := 7
	people := []person{{Name: "a", Weight: 1.5, Kind: "x", Born: time.Unix(0, 0).UTC()}, {Name: "b", Age: &age, Kind: "y", Born: time.Unix(86400, 0).UTC()}}
	f, err := frame.FromStructs(people)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(f), "name text: a b; age int: - 7; weight float: 1.5 0; Kind text: x y; Born time: 1970-01-01 1970-01-02"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	var back []person
	if err := f.Structs(&back); err != nil || !reflect.DeepEqual(back, people) {
		t.Errorf("got %v, %v, want %v", back, err, people)
	}
	var strict []struct {
		Age int `frame:"age"`
	}
	var missing *frame.MissingError
	if err := f.Structs(&strict); !errors.As(err, &missing) || strict != nil {
		t.Errorf("got %v, want a MissingError", err)
	}
	var wrong []struct {
		Name int `frame:"name"`
	}
	var typ *frame.TypeError
	if err := f.Structs(&wrong); !errors.As(err, &typ) {
		t.Errorf("got %v, want a TypeError", err)
	}
	var small []struct {
		N uint8 `frame:"n"`
	}
	if err := frame.New(frame.Ints("n", 256)).Structs(&small); err == nil {
		t.Error("256 was stored in a uint8")
	}
	if _, err := frame.FromStructs([]struct{ X []int }{{}}); err == nil {
		t.Error("a field of slices was accepted")
	}
	if _, err := frame.FromStructs(3); err == nil {
		t.Error("an int was accepted as a slice of structs")
	}
}
