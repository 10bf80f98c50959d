// Package testenv skips tests if the machine lacks something.
//
// A test that skips itself in CI protects nothing, and nobody notices. So each test uses
// one of three functions:
//
//   - Missing: the machine lacks something that CI must have, such as a C compiler. If QUERN_TEST_STRICT is set, as in .ci/run, the test fails.
//   - Optional: the machine lacks something that CI need not have, such as NVIDIA's libraries.
//   - t.Skip: because of how the tests are run, that is -short, the race detector, the operating system, or an environment variable. A test in package structure allows no other condition.
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// Strict is the environment variable that makes Missing fail the test.
const Strict = "QUERN_TEST_STRICT"

// Missing skips the test because the machine lacks something that CI has. If Strict is
// set, it fails the test. The arguments are those of [testing.TB.Skipf].
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

// Command returns the path of a program. If it is not found, it calls [Missing].
func Command(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed: %v", name, err)
	}
	return path
}
