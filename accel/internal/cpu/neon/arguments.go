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
	results map[string]int // their offsets
}

// declare begins a function whose parameters, and results of one type, are written as in Go.
func (o *output) declare(name, parameters, doc string, results ...string) *arguments {
	a := &arguments{o.program(), map[string]int{}, map[string]reg{}, map[string]int{}}
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
	signature := "func(" + parameters + ")"
	for _, list := range results {
		names, kind := "ret", list
		if at := strings.LastIndex(list, " "); at >= 0 {
			names, kind, list = list[:at], list[at+1:], "("+list+")"
		}
		signature += " " + list
		size = (size + 7) &^ 7
		for _, result := range strings.Split(names, ", ") {
			a.results[result] = size
			size += map[string]int{"float32": 4, "float64": 8}[kind]
		}
	}
	o.function(name, signature, doc, size)
	for i, x := range generals {
		a.general[x.name] = i
		o.line("MOVD %s+%d(FP), R%d", x.name, x.at, i)
	}
	for _, x := range numbers {
		a.numbers[x.name] = a.kept(fmt.Sprintf("%s+%d(FP)", x.name, x.at))
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

// result returns the place of a result, which is called ret if it has no name.
func (a *arguments) result(name string) string {
	return fmt.Sprintf("%s+%d(FP)", name, a.results[name])
}

// bytes multiplies distances in elements of four bytes by their size.
func (a *arguments) bytes(names ...string) {
	for _, name := range names {
		a.line("LSL $2, %s, %s", a.r(name), a.r(name))
	}
}
