package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"quern": main})
}

// TestScript runs the sessions in testdata/script as a user would type them.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("JUPYTER_DATA_DIR", env.WorkDir+"/user")
			env.Setenv("VIRTUAL_ENV", env.WorkDir+"/venv")
			return nil
		},
	})
}
