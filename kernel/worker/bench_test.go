package worker

import (
	"context"
	"os"
	"testing"

	"github.com/quernlab/quern/kernel/link"
)

// BenchmarkExecute measures an empty cell, from the kernel process to the worker process
// and back.
func BenchmarkExecute(b *testing.B) {
	ctx := context.Background()
	s := New(func() Runner { return NewCommand(os.Args[0]) }, &fakeNotebook{change: make(chan struct{})}, quiet)
	defer func() { _ = s.Shutdown(ctx) }()
	for i := 0; b.Loop(); i++ {
		if _, err := s.Execute(ctx, link.Execute{Cell: i + 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck measures a request without output to wait for.
func BenchmarkCheck(b *testing.B) {
	ctx := context.Background()
	s := New(func() Runner { return NewCommand(os.Args[0]) }, &fakeNotebook{change: make(chan struct{})}, quiet)
	defer func() { _ = s.Shutdown(ctx) }()
	for b.Loop() {
		if _, err := link.Ask(ctx, s, link.Check{}); err != nil {
			b.Fatal(err)
		}
	}
}
