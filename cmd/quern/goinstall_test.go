package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestGoInstall makes a module of the last commit, as the module proxy does for a tag, installs it with go install,
// and checks the version. That compiles Quern again, so only make snapshot runs it.
func TestGoInstall(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("takes minutes; make snapshot runs it")
	}
	version := module.Version{Path: "github.com/quernlab/quern", Version: "v0.1.0"}
	proxy := t.TempDir()
	folder := filepath.Join(proxy, filepath.FromSlash(version.Path), "@v")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":                    version.Version + "\n",
		version.Version + ".info": `{"Version": "` + version.Version + `"}`,
		version.Version + ".mod":  string(goMod),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(folder, version.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir() // package zip does not accept a linked work tree
	if out, err := exec.Command("git", "clone", "--quiet", "--shared", "--no-checkout", "../..", clone).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := zip.CreateFromVCS(archive, version, clone, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}

	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	install := exec.Command("go", "install", "-modcacherw", version.Path+"/cmd/quern@"+version.Version)
	install.Dir = bin // not in this module
	install.Env = append(os.Environ(),
		"GOBIN="+bin,
		"GOMODCACHE="+t.TempDir(), // the user's one must not keep a version that does not exist
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(strings.TrimSpace(string(cache)))+"/cache/download",
		"GOSUMDB=off",       // the cache has checked modules, and this version is nowhere else
		"GOFLAGS=-trimpath", // so that compiled dependencies are found in the build cache
		"GOWORK=off")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(bin, "quern"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "quern 0.1.0 ") {
		t.Errorf("quern version prints %q, %v", out, err)
	}
}
