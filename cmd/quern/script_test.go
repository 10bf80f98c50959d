package main

import (
	goversion "go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/goproxytest"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"quern": main})
}

// TestScript runs the sessions in testdata/script as a user would type them.
func TestScript(t *testing.T) {
	modules, err := goproxytest.NewServer("testdata/mod", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(modules.Close)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	goCache := t.TempDir()
	if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
		goCache = strings.TrimSpace(string(out))
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("JUPYTER_DATA_DIR", env.WorkDir+"/user")
			env.Setenv("VIRTUAL_ENV", env.WorkDir+"/venv")
			env.Setenv("GOPROXY", modules.URL)
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
			if program, err := exec.LookPath("quern"); err == nil {
				env.Setenv("BIN", filepath.Dir(program))
			}
			env.Setenv("ROOT", root)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("GOSUMDB", "off")
			env.Setenv("GO_RELEASE", strings.TrimPrefix(goversion.Lang(runtime.Version()), "go")+".0")
			env.Setenv("GOMODCACHE", env.WorkDir+"/modules")
			env.Setenv("GOCACHE", goCache)
			return nil
		},
	})
}
