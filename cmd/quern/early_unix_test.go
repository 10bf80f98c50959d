//go:build unix

package main

import (
	"strings"
	"testing"
)

// The ports of a kernel are bound before the packages that take long to initialize.
func TestEarly(t *testing.T) {
	t.Parallel()
	cmd := quern(t, "", "version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for line := range strings.Lines(trace.String()) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "init" {
			at[words[1]] = len(at) + 1
		}
	}
	// A package without initialization has no line; early has its init function.
	const early = "github.com/quernlab/quern/kernel/transport/early"
	if at[early] == 0 {
		t.Fatalf("%s is not in\n%s", early, trace.String())
	}
	for _, slow := range []string{
		"github.com/traefik/yaegi/stdlib", "github.com/traefik/yaegi/stdlib/syscall", "gonum.org/v1/plot", "golang.org/x/tools/internal/stdlib", "net", "encoding/json",
	} {
		if at[slow] == 0 {
			t.Errorf("%s is not initialized at all", slow)
		}
		if at[slow] < at[early] {
			t.Errorf("%s is initialized before %s", slow, early)
		}
	}
}
