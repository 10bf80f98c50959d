package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/goproxytest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestBuild builds programs with additional packages, which takes up to minutes: make compiled runs it. It uses the
// modules of Quern in the module cache.
func TestBuild(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("takes minutes; make compiled runs it")
	}
	modules, err := goproxytest.NewServer("testdata/mod", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(modules.Close)
	variables := []string{"GOCACHE", "GOMODCACHE"}
	out, err := exec.Command("go", append([]string{"env"}, variables...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/build",
		Setup: func(env *testscript.Env) error {
			for i, name := range variables {
				env.Setenv(name, values[i])
			}
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
			env.Setenv("MODULES", modules.URL)
			env.Setenv("GOPROXY", modules.URL)
			env.Setenv("GOSUMDB", "off")
			source, err := os.Getwd()
			env.Setenv("QUERN_SOURCE", source+"/../..")
			return err
		},
	})
}
