package main

import (
	"fmt"
	"strings"
)

// arguments are a function's: integers and pointers in general registers from R0 on, numbers in all elements of vector registers.
type arguments struct {
	*program
	general map[string]int
	numbers map[string]reg
}

// declare begins a function whose parameters are written as in Go.
func (o *output) declare(name, parameters, doc string) *arguments {
	a := &arguments{o.program(), map[string]int{}, map[string]reg{}}
	type argument struct {
		name string
		at   int
	}
	var generals, numbers []argument
	size, waiting := 0, []string(nil)
	for _, part := range strings.Split(parameters, ", ") {
		name, kind, typed := strings.Cut(part, " ")
		waiting = append(waiting, name)
		if !typed {
			continue
		}
		for _, name := range waiting {
			if kind == "float32" {
				numbers = append(numbers, argument{name, size})
				size += 4
				continue
			}
			size = (size + 7) &^ 7
			generals = append(generals, argument{name, size})
			size += 8
		}
		waiting = nil
	}
	o.function(name, "func("+parameters+")", doc, size)
	for i, x := range generals {
		a.general[x.name] = i
		o.line("MOVD %s+%d(FP), R%d", x.name, x.at, i)
	}
	for _, x := range numbers {
		r := a.keep()
		a.numbers[x.name] = r
		o.line("FMOVS %s+%d(FP), F%d", x.name, x.at, a.number(r))
		o.line("VDUP V%d.S[0], V%d.S4", a.number(r), a.number(r))
	}
	return a
}

// r returns the name of an argument's register.
func (a *arguments) r(name string) string {
	n, ok := a.general[name]
	if !ok {
		panic("neon: no argument " + name)
	}
	return fmt.Sprintf("R%d", n)
}

// bytes multiplies distances in elements of four bytes by their size.
func (a *arguments) bytes(names ...string) {
	for _, name := range names {
		a.line("LSL $2, %s, %s", a.r(name), a.r(name))
	}
}
