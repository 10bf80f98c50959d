// Package stack reads the stack traces that package runtime writes.
package stack

import (
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Interp is part of the names of all functions of package interp and the packages
// below it. Some of these functions replace functions of the standard library.
const Interp = "quern/interp"

// Module begins the names of all functions of Quern, apart from those of package main.
const Module = "github.com/quernlab/quern/"

// maxAll bounds the text that All returns, in bytes.
const maxAll = 4 << 20

// Own returns the stack of the calling goroutine: its first and its last fifty
// functions.
func Own() string {
	buf := make([]byte, 64<<10)
	return string(buf[:runtime.Stack(buf, false)])
}

// All returns the stacks of all goroutines, with an empty line between them. It stops
// the program while it collects them.
func All() []byte {
	stacks := make([]byte, 64<<10)
	for {
		n := runtime.Stack(stacks, true)
		if n < len(stacks) || len(stacks) >= maxAll {
			return stacks[:n]
		}
		stacks = make([]byte, 4*len(stacks))
	}
}

// ID returns the number of the calling goroutine, which the runtime gives only in the
// first line of a stack trace: "goroutine 7 [running]:".
func ID() uint64 {
	var buf [64]byte
	return Goroutine(string(buf[:runtime.Stack(buf[:], false)]))
}

// Goroutine returns the number of the goroutine of a stack, or 0.
func Goroutine(stack string) uint64 {
	head, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
	id, err := strconv.ParseUint(head, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// IsWaiting reports whether the goroutine of a stack is blocked. The first line of the
// stack, such as "goroutine 7 [chan receive, 2 minutes]:", says in what.
func IsWaiting(stack string) bool {
	_, state, _ := strings.Cut(stack, "[")
	state, _, _ = strings.Cut(state, "]")
	state, _, _ = strings.Cut(state, ",")
	switch state {
	case "running", "runnable", "preempted", "copystack", "":
		return false
	}
	return !strings.HasPrefix(state, "GC ")
}

// VisibleName returns the name of a compiled function as users write it, or "" if the
// function belongs to Quern's interpreter.
func VisibleName(function string) string {
	if strings.Contains(function, Interp) {
		return ""
	}
	name := function[strings.LastIndexByte(function, '/')+1:]
	name, _, _ = strings.Cut(name, "[")
	return anonymous.ReplaceAllString(name, "")
}

// anonymous matches what the compiler appends to the names of function literals.
var anonymous = regexp.MustCompile(`(\.func\d+(\.\d+)*|-fm)+$`)
