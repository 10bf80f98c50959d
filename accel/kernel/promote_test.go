package kernel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// Short loops are unrolled, and arrays whose indices are then constant are in registers. That changes no result.
func TestUnrolled(t *testing.T) {
	for _, c := range []struct {
		body string
		want string // of n
		in   bool   // whether an array remains in memory
	}{
		{"var v [4]int32; for i := range v { v[i] = int32(i * i) }; for i := range 4 { n[i] = v[3-i] }", "[9 4 1 0]", false},
		{"var v [4]int32; for i := range v { v[i] = int32(i * i) }; n[0], n[1], n[2], n[3] = v[3], v[2], v[1], v[0]", "[9 4 1 0]", false},
		{"v := [4]int32{1, 2, 3, 4}; w := v; w[0] = 9; v, w = w, v; for i := range 4 { n[i] = v[i] - w[i] }", "[8 0 0 0]", false},
		{"for i := range 4 { if i == 1 { continue }; if i == 3 { break }; n[i] = int32(i + 1) }", "[1 0 3 0]", false},
		{"for i, v := range [4]int32{5, 6, 7, 8} { v += int32(i); n[i] = v }", "[5 7 9 11]", false},
		{"for i := range 4 { j := i; j++; for k := range 3 { n[i] += int32(j * k) } }", "[3 6 9 12]", false},
		{"for i := range 4 { i *= 2; if i < 4 { n[i] = 1 } }", "[1 0 1 0]", false},
		{"var v [4]int32; for i := range 3 { for j := range 4 { v[j] += int32(i + j) } }; for i := range 4 { n[i] = v[i] }", "[3 6 9 12]", false},
		{"for i := range int32(3) { n[i+1] = i }", "[0 0 1 2]", false},
		{"var v [4][2]int32; for i := range 4 { v[i][i%2] = int32(i) }; for i, w := range v { n[i] = w[0]*10 + w[1] }", "[0 1 20 3]", false},
		{"var v [4]int32; for i := range v { v[(i*3+int(a))%4] = int32(i) }; for i := range 4 { n[i] = v[i] }", "[1 0 3 2]", true},
		{"for i := range 4 { n[i] = int32(i/2*10 - i%2) }", "[0 -1 10 9]", false},
		{"for range 3 { n[0]++ }", "[3 0 0 0]", false},
		{"for i := range 4 { switch i { case 1: n[i] = 5; case 2: break; default: n[i] = 7 } }", "[7 5 0 7]", false},
	} {
		k := compile(t, file(c.body), "k")
		if in := strings.Contains(k.PTX(), ".local"); in != c.in {
			t.Errorf("%s: an array is in memory: %v", c.body, in)
		}
		for _, device := range devices {
			on(t, device, func() {
				n := filled(tensor.Int32, 4, 0)
				if err := k.Launch(kernel.Grid(1, 1), float32(1), tensor.Zeros(8), n); err != nil || fmt.Sprint(n.Ints()) != c.want {
					t.Errorf("%s on %s: %v, %v, want %s", c.body, device, n.Ints(), err, c.want)
				}
			})
		}
	}
	// What is an error in a loop is one in an unrolled one.
	for body, want := range map[string]string{
		"var v [3]int32; for i := range 4 { v[i] = 1 }; n[0] = v[0]": "index 3 is out of range of v with length 3",
		"for i := range 3 { n[0] = 7 / (int32(i) - 1) }":             "integer divide by zero",
		"for i := range 3 { n[0] = int32(6 / i) }":                   "integer divide by zero",
		"for i := range 3 { n[0] = 1 << (1 - i) }":                   "negative shift amount -1",
		"var v [3]int32; for i := range 3 { n[0] = v[i-1] }":         "index -1 is out of range of v with length 3",
	} {
		k := compile(t, file(body), "k")
		for _, device := range devices {
			on(t, device, func() {
				err := k.Launch(kernel.Grid(1, 1), float32(1), tensor.Zeros(8), filled(tensor.Int32, 4, 0))
				var f *kernel.Fault
				if !errors.As(err, &f) || f.Reason != want {
					t.Errorf("%s on %s: %v, want %s", body, device, err, want)
				}
			})
		}
	}
}

// A shared array that a function declares stays one in a loop.
func TestUnrolledShared(t *testing.T) {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func turned(t kernel.Thread, v int32) int32 {
	var s [2048]int32
	kernel.Shared(&s)
	s[t.ThreadX()] = v
	t.Sync()
	v = s[31-t.ThreadX()]
	t.Sync()
	return v
}

func k(t kernel.Thread, n []int32) {
	for range 7 {
		n[t.ThreadX()] = turned(t, n[t.ThreadX()])
	}
}`
	n := of(tensor.Int32, 32)
	want := turned(values(t, n), 1)
	if err := compile(t, text, "k").Launch(kernel.Grid(32, 32), n); err != nil {
		t.Fatal(err)
	}
	for i, got := range values(t, n) {
		if got != want[31-i] {
			t.Fatalf("element %d is %v, want %v", i, got, want[31-i])
		}
	}
}
