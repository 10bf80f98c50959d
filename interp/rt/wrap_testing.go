package rt

import (
	"context"
	"io"
	"testing"
)

// TestDouble is a value of a cell that implements testing.TB. Its type embeds testing.TB,
// because there is no other way to implement it.
type TestDouble struct {
	Box
	sealed
}

// sealed has the unexported method of testing.TB.
type sealed struct{ testing.TB }

func (d TestDouble) ArtifactDir() string               { return call0[string](d.Box, "ArtifactDir") }
func (d TestDouble) Attr(key, value string)            { callVoid2(d.Box, "Attr", key, value) }
func (d TestDouble) Chdir(dir string)                  { callVoid1(d.Box, "Chdir", dir) }
func (d TestDouble) Cleanup(f func())                  { callVoid1(d.Box, "Cleanup", f) }
func (d TestDouble) Context() context.Context          { return call0[context.Context](d.Box, "Context") }
func (d TestDouble) Error(args ...any)                 { callVoid1(d.Box, "Error", args) }
func (d TestDouble) Errorf(format string, args ...any) { callVoid2(d.Box, "Errorf", format, args) }
func (d TestDouble) Fail()                             { d.do("Fail") }
func (d TestDouble) FailNow()                          { d.do("FailNow") }
func (d TestDouble) Failed() bool                      { return call0[bool](d.Box, "Failed") }
func (d TestDouble) Fatal(args ...any)                 { callVoid1(d.Box, "Fatal", args) }
func (d TestDouble) Fatalf(format string, args ...any) { callVoid2(d.Box, "Fatalf", format, args) }
func (d TestDouble) Helper()                           { d.do("Helper") }
func (d TestDouble) Log(args ...any)                   { callVoid1(d.Box, "Log", args) }
func (d TestDouble) Logf(format string, args ...any)   { callVoid2(d.Box, "Logf", format, args) }
func (d TestDouble) Name() string                      { return call0[string](d.Box, "Name") }
func (d TestDouble) Output() io.Writer                 { return call0[io.Writer](d.Box, "Output") }
func (d TestDouble) Setenv(key, value string)          { callVoid2(d.Box, "Setenv", key, value) }
func (d TestDouble) Skip(args ...any)                  { callVoid1(d.Box, "Skip", args) }
func (d TestDouble) SkipNow()                          { d.do("SkipNow") }
func (d TestDouble) Skipf(format string, args ...any)  { callVoid2(d.Box, "Skipf", format, args) }
func (d TestDouble) Skipped() bool                     { return call0[bool](d.Box, "Skipped") }
func (d TestDouble) TempDir() string                   { return call0[string](d.Box, "TempDir") }

// do calls a method without parameters and results.
func (d TestDouble) do(name string) { d.method(name).call(d.Box) }
