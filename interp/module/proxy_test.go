package module_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/quernlab/quern/interp/module"
)

// proxyFolder creates the files of a proxy with two versions of a module.
func proxyFolder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "example.com/!upper/@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("list", "v1.0.0\nv1.1.0\nv1.2.0-rc.1\n")
	for _, version := range []string{"v1.0.0", "v1.1.0"} {
		source := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.com/Upper\n", "x.go": "package x // " + version + "\n"} {
			if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(version+".mod", "module example.com/Upper\n")
		write(version+".info", `{"Version":"`+version+`"}`)
		file, err := os.Create(filepath.Join(dir, version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := zip.CreateFromDir(file, xmodule.Version{Path: "example.com/Upper", Version: version}, source); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestProxy(t *testing.T) {
	root := proxyFolder(t)
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	t.Setenv("GOSUMDB", "off")
	for name, list := range map[string]string{
		"folder": "file://" + filepath.ToSlash(root),
		"server": server.URL + ",direct",
		"second": server.URL + "/none|" + server.URL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOPROXY", list)
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			ctx := context.Background()
			s := module.New(module.NewProxy())
			for query, want := range map[string]string{
				"example.com/Upper": "v1.1.0", "example.com/Upper@v1": "v1.1.0", "example.com/Upper@v1.0": "v1.0.0", "example.com/Upper@v1.0.0": "v1.0.0",
			} {
				m, err := s.Get(ctx, query)
				if err != nil || m.Version != want {
					t.Errorf("%s: got %v, %v, want %s", query, m, err, want)
					continue
				}
				p, ok, err := s.Find(ctx, "example.com/Upper")
				if err != nil || !ok {
					t.Fatalf("%v, %v", ok, err)
				}
				if text, err := os.ReadFile(filepath.Join(p.Dir, "x.go")); err != nil || !strings.Contains(string(text), want) {
					t.Errorf("%s: x.go is %q, %v", query, text, err)
				}
			}
			if _, err := s.Get(ctx, "example.com/Upper@v3.0.0"); err == nil {
				t.Error("Get found a version that does not exist")
			}
		})
	}
}

// TestProxyNone checks the error without a proxy.
func TestProxyNone(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	_, err := module.New(module.NewProxy()).Get(context.Background(), "example.com/a@v1.0.0")
	if !errors.Is(err, module.ErrOff) {
		t.Errorf("got %v", err)
	}
}

// TestProxyChecksums checks that modules without an entry in the checksum database are rejected.
func TestProxyChecksums(t *testing.T) {
	root := proxyFolder(t)
	none := httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(root))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOSUMDB", "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8 "+none.URL)
	t.Setenv("GOPRIVATE", "")
	_, err := module.New(module.NewProxy()).Get(context.Background(), "example.com/Upper@v1.0.0")
	if err == nil || !strings.Contains(err.Error(), "checksum of example.com/Upper@v1.0.0/go.mod") {
		t.Errorf("got %v", err)
	}
	t.Setenv("GONOSUMDB", "example.com")
	if _, err := module.New(module.NewProxy()).Get(context.Background(), "example.com/Upper@v1.0.0"); err != nil {
		t.Errorf("private: %v", err)
	}
}
