// Package testenv skips tests for what a machine lacks.
//
// A test that skips itself in CI protects nothing, and nobody notices. So a test
// says which of three reasons it has:
//
//   - Missing: the machine lacks something that CI must have, such as a C
//     compiler. Where QUERN_TEST_STRICT is set, as in .ci/run, that fails.
//   - Optional: the machine lacks something that CI need not have, such as
//     NVIDIA's libraries.
//   - t.Skip: the way that the tests are run, that is -short, the race
//     detector, the operating system, or an environment variable. Package
//     structure has a test that allows no other condition.
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// Strict is the environment variable that makes Missing fail.
const Strict = "QUERN_TEST_STRICT"

// Missing skips the test because the machine lacks something that CI has. It
// fails the test where Strict is set to anything. The arguments are those of
// [testing.TB.Skipf].
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Strict) != "" {
		t.Fatalf(format+" ("+Strict+" is set, so nothing may be missing)", args...)
	}
	t.Skipf(format, args...)
}

// Optional skips the test because the machine lacks something that CI need not
// have. The arguments are those of [testing.TB.Skipf].
func Optional(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Skipf(format, args...)
}

// Command returns the path of a program, and calls [Missing] if there is none.
func Command(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed: %v", name, err)
	}
	return path
}
