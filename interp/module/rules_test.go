package module_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp/module"
)

// fakeProxy is a proxy that serves files by path, or responds with a status, and records the
// requests.
type fakeProxy struct {
	*httptest.Server
	status int
	files  map[string]string

	mu    sync.Mutex
	asked []string
}

func newFakeProxy(t *testing.T, status int, files map[string]string) *fakeProxy {
	t.Helper()
	p := &fakeProxy{status: status, files: files}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.Path)
		p.mu.Unlock()
		text, ok := p.files[r.URL.Path]
		switch {
		case p.status != 0:
			w.WriteHeader(p.status)
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *fakeProxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// bomb is the content of a file that claims to be larger than a module may be.
const bomb = "bomb"

// moduleFiles returns the files of a proxy for one version.
func moduleFiles(t *testing.T, path, version, goMod string, files map[string]string) map[string]string {
	t.Helper()
	var archive strings.Builder
	w := zip.NewWriter(&archive)
	for name, text := range files {
		if rest, ok := strings.CutPrefix(name, "@/"); ok {
			name = path + "@" + version + "/" + rest
		}
		create := func() (io.Writer, error) { return w.Create(name) }
		if text == bomb {
			create = func() (io.Writer, error) {
				return w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CompressedSize64: uint64(len(bomb)), UncompressedSize64: 501 << 20})
			}
		}
		f, err := create()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	at := "/" + path + "/@v/"
	return map[string]string{at + "list": version + "\n", at + version + ".info": `{"Version":"` + version + `"}`, at + version + ".mod": goMod, at + version + ".zip": archive.String()}
}

// isolate removes the settings of the machine from the environment of a test.
func isolate(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_CACHE_HOME": filepath.Join(home, "cache"), "XDG_CONFIG_HOME": filepath.Join(home, "config"), "LocalAppData": home, "AppData": home,
		"GOENV": "", "GOPRIVATE": "", "GONOPROXY": "", "GONOSUMDB": "", "GOSUMDB": "off", "GOPROXY": "", "GOINSECURE": "", "GOFLAGS": "",
	} {
		t.Setenv(name, value)
	}
}

// TestRules checks which proxies get requests, by the rules of
// https://go.dev/ref/mod#environment-variables.
func TestRules(t *testing.T) {
	const path = "corp.example/secret"
	files := func(t *testing.T) map[string]string {
		return moduleFiles(t, path, "v1.0.0", "module "+path+"\n", map[string]string{"@/go.mod": "module " + path + "\n", "@/x.go": "package secret\n"})
	}
	for _, row := range []struct {
		name        string
		first       int    // status of the first proxy; 0: it has no files
		list        string // GOPROXY, of FIRST and SECOND
		environment map[string]string
		file        string // of "go env -w"
		want        string // which proxies get requests
		err         error  // nil: the module is found
		text        string // of another error
	}{
		{name: "comma, 404", first: 404, list: "FIRST,SECOND", want: "first second"},
		{name: "comma, 410", first: 410, list: "FIRST,SECOND", want: "first second"},
		{name: "comma, 500", first: 500, list: "FIRST,SECOND", want: "first", text: "500"},
		{name: "comma, 403", first: 403, list: "FIRST,SECOND", want: "first", text: "403"},
		{name: "comma, 401", first: 401, list: "FIRST,SECOND", want: "first", text: "401"},
		{name: "comma, nobody there", list: "DEAD,SECOND", want: "", text: "connect"},
		{name: "bar, 404", first: 404, list: "FIRST|SECOND", want: "first second"},
		{name: "bar, 500", first: 500, list: "FIRST|SECOND", want: "first second"},
		{name: "bar, nobody there", list: "DEAD|SECOND", want: "second"},
		{name: "spaces and empty entries", first: 404, list: " FIRST ,, SECOND ,", want: "first second"},
		{name: "slash at the end", first: 404, list: "FIRST/,SECOND/", want: "first second"},
		{name: "direct first", list: "direct,SECOND", want: "", err: module.ErrNeedsGo},
		{name: "direct behind 404", first: 404, list: "FIRST,direct,SECOND", want: "first", err: module.ErrNeedsGo},
		{name: "direct behind 500", first: 500, list: "FIRST,direct", want: "first", text: "500"},
		{name: "off", list: "off,SECOND", want: "", err: module.ErrOff},
		{name: "off behind 404", first: 404, list: "FIRST,off,SECOND", want: "first", err: module.ErrOff},
		{name: "off with a bar", first: 500, list: "FIRST|off|SECOND", want: "first", err: module.ErrOff},
		{name: "GOPRIVATE", list: "SECOND", environment: map[string]string{"GOPRIVATE": "corp.example"}, want: "", err: module.ErrNeedsGo},
		{name: "GOPRIVATE with a pattern", list: "SECOND", environment: map[string]string{"GOPRIVATE": "other.example,*.example/sec*"}, want: "", err: module.ErrNeedsGo},
		{name: "GOPRIVATE of another prefix", list: "SECOND", environment: map[string]string{"GOPRIVATE": "corp.example/sec"}, want: "second"},
		{name: "GONOPROXY", list: "SECOND", environment: map[string]string{"GONOPROXY": "corp.example"}, want: "", err: module.ErrNeedsGo},
		{name: "GONOPROXY over GOPRIVATE", list: "SECOND", environment: map[string]string{"GOPRIVATE": "corp.example", "GONOPROXY": "none"}, want: "second"},
		{name: "GONOSUMDB alone", list: "SECOND", environment: map[string]string{"GONOSUMDB": "corp.example"}, want: "second"},
		{name: "GOINSECURE changes nothing", first: 500, list: "FIRST,SECOND", environment: map[string]string{"GOINSECURE": "*", "GOFLAGS": "-insecure"}, want: "first", text: "500"},
		{name: "go env -w GOPRIVATE", list: "SECOND", file: "# comment\nGOPRIVATE=corp.example\n", want: "", err: module.ErrNeedsGo},
		{name: "go env -w GOPROXY", file: "GOPROXY=SECOND\n", want: "second"},
		{name: "the environment over go env -w", list: "SECOND", file: "GOPROXY=FIRST\n", want: "second"},
		{name: "GOENV=off", list: "SECOND", file: "GOPRIVATE=corp.example\n", environment: map[string]string{"GOENV": "off"}, want: "second"},
		{name: "no entries", list: ",", want: "", text: "no entries"},
		{name: "a word", list: "proxy", want: "", text: "is not a proxy"},
		{name: "another scheme", list: "ftp://example.com", want: "", text: "is not a proxy"},
		{name: "file with a host", list: "file://host/x?y", want: "", text: "may only have a path"},
	} {
		t.Run(row.name, func(t *testing.T) {
			isolate(t)
			first, second := newFakeProxy(t, row.first, nil), newFakeProxy(t, 0, files(t))
			dead := httptest.NewServer(http.NotFoundHandler())
			dead.Close()
			named := strings.NewReplacer("FIRST", first.URL, "SECOND", second.URL, "DEAD", dead.URL)
			t.Setenv("GOPROXY", named.Replace(row.list))
			if row.file != "" {
				config, err := os.UserConfigDir()
				if err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Join(config, "go"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(config, "go", "env"), []byte(named.Replace(row.file)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for name, value := range row.environment {
				t.Setenv(name, value)
			}
			for _, query := range []string{path, path + "@v1.0.0", path + "@v1"} {
				_, err := module.New(module.NewProxy()).Get(context.Background(), query)
				switch {
				case row.err == nil && row.text == "" && err != nil,
					row.err != nil && !errors.Is(err, row.err),
					row.text != "" && (err == nil || !strings.Contains(err.Error(), row.text)):
					t.Errorf("%s: got %v, want %v %q", query, err, row.err, row.text)
				}
			}
			var asked []string
			if len(first.requests()) > 0 {
				asked = append(asked, "first")
			}
			if len(second.requests()) > 0 {
				asked = append(asked, "second")
			}
			if got := strings.Join(asked, " "); got != row.want {
				t.Errorf("asked: %q, want %q", got, row.want)
			}
		})
	}
}

// TestPackagePath checks that the module of a package is found if "direct" follows the proxy.
func TestPackagePath(t *testing.T) {
	const path = "corp.example/secret"
	isolate(t)
	proxy := newFakeProxy(t, 0, moduleFiles(t, path, "v1.0.0", "module "+path+"\n", map[string]string{"@/go.mod": "module " + path + "\n", "@/in/x.go": "package in\n"}))
	t.Setenv("GOPROXY", proxy.URL+",direct")
	for _, query := range []string{path + "/in@v1.0.0", path + "/in"} {
		m, err := module.New(module.NewProxy()).Get(context.Background(), query)
		if err != nil || m.Path != path {
			t.Errorf("%s: got %v, %v", query, m, err)
		}
	}
}

// TestChecksumRules checks when the checksum database gets requests, and at which address.
func TestChecksumRules(t *testing.T) {
	const path, key = "corp.example/secret", "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
	for _, row := range []struct {
		name        string
		sums        string // GOSUMDB, with SUMS for the database's URL
		environment map[string]string
		supported   bool // the proxy forwards requests to the database
		proxy, db   bool // who gets requests for checksums
		found       bool
	}{
		{name: "off", sums: "off", found: true},
		{name: "a URL", sums: key + " SUMS", db: true},
		{name: "a known name with a URL", sums: "sum.golang.org SUMS", db: true},
		{name: "by way of the proxy", sums: "sum.golang.org", supported: true, proxy: true},
		{name: "GONOSUMDB", sums: key + " SUMS", environment: map[string]string{"GONOSUMDB": "corp.example"}, found: true},
		{name: "GONOSUMDB over GOPRIVATE", sums: key + " SUMS", environment: map[string]string{"GOPRIVATE": "corp.example", "GONOSUMDB": "none", "GONOPROXY": "none"}, db: true},
		{name: "GOPRIVATE", sums: key + " SUMS", environment: map[string]string{"GOPRIVATE": "corp.example", "GONOPROXY": "none"}, found: true},
		{name: "no key", sums: "sum.example.org"},
		{name: "too much", sums: key + " SUMS x"},
		{name: "a name that is a path elsewhere", sums: "sum.example.org@evil+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			isolate(t)
			files := moduleFiles(t, path, "v1.0.0", "module "+path+"\n", map[string]string{"@/go.mod": "module " + path + "\n"})
			if row.supported {
				files["/sumdb/sum.golang.org/supported"] = ""
			}
			proxy, db := newFakeProxy(t, 0, files), newFakeProxy(t, 0, nil)
			t.Setenv("GOPROXY", proxy.URL+",off")
			t.Setenv("GOSUMDB", strings.ReplaceAll(row.sums, "SUMS", db.URL))
			for name, value := range row.environment {
				t.Setenv(name, value)
			}
			_, err := module.New(module.NewProxy()).Get(context.Background(), path+"@v1.0.0")
			lookedUp := func(p *fakeProxy) bool {
				return slices.ContainsFunc(p.requests(), func(r string) bool { return strings.Contains(r, "/lookup/") || strings.Contains(r, "/latest") })
			}
			if (err == nil) != row.found || lookedUp(proxy) != row.proxy || lookedUp(db) != row.db {
				t.Errorf("%v; the proxy was asked %q, the database %q", err, proxy.requests(), db.requests())
			}
		})
	}
}

// TestHostileProxy checks that wrong responses are rejected.
func TestHostileProxy(t *testing.T) {
	const path = "corp.example/a"
	for name, row := range map[string]struct {
		goMod string
		files map[string]string // of the zip, @ for its prefix
		info  string            // of the version
		query string
		want  string
	}{
		"another path":          {goMod: "module evil.example/a\n", want: "its go.mod declares the module evil.example/a"},
		"no module line":        {goMod: "go 1.20\n", want: "its go.mod has no module line"},
		"no go.mod":             {goMod: "}{", want: "go.mod"},
		"requires a path":       {goMod: "module " + path + "\nrequire \"../../etc\" v1.0.0\n", want: "malformed"},
		"traversal":             {files: map[string]string{"@/../../../owned": "x"}, want: "owned"},
		"absolute":              {files: map[string]string{"/owned": "x"}, want: "owned"},
		"another prefix":        {files: map[string]string{"corp.example/b@v1.0.0/x.go": "x"}, want: "corp.example/b@v1.0.0/x.go"},
		"backslash":             {files: map[string]string{`@/..\..\owned`: "x"}, want: "owned"},
		"two names on Windows":  {files: map[string]string{"@/x.go": "x", "@/X.go": "y"}, want: "case-insensitive"},
		"go.mod below":          {files: map[string]string{"@/go.mod": strings.Repeat("x", 17<<20)}, want: "go.mod"},
		"bomb":                  {files: map[string]string{"@/x.go": bomb}, want: "too large"},
		"version with a path":   {info: "v1.0.0/../../../owned", query: "@latest", want: "version"},
		"version of nothing":    {info: "", query: "@latest", want: "version"},
		"version of another":    {info: "v1.0.1", query: "@v1.0.0-20200101000000-0123456789ab", want: "returned version v1.0.1 instead"},
		"version of next major": {info: "v2.0.0", query: "@latest", want: "version"},
		"large list":            {query: "@v1", info: strings.Repeat("x", 17<<20), want: "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			goMod := row.goMod
			if goMod == "" {
				goMod = "module " + path + "\n"
			}
			files := moduleFiles(t, path, "v1.0.0", goMod, row.files)
			query := row.query
			if query == "" {
				query = "@v1.0.0"
			} else {
				delete(files, "/"+path+"/@v/list")
				for _, at := range []string{"latest", "v/v1.info", "v/v1.0.0-20200101000000-0123456789ab.info"} {
					files["/"+path+"/@"+at] = fmt.Sprintf(`{"Version":%q}`, row.info)
				}
			}
			t.Setenv("GOPROXY", newFakeProxy(t, 0, files).URL)
			_, err := module.New(module.NewProxy()).Get(context.Background(), path+query)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

// TestCacheOfOthers checks that a cache is rejected if other users could have written to it.
func TestCacheOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system has no file modes")
	}
	const path = "corp.example/a"
	for name, prepare := range map[string]func(t *testing.T, cache string){
		"writable by everybody": func(t *testing.T, cache string) { chmod(t, cache, 0o777) },
		"writable by the group": func(t *testing.T, cache string) { chmod(t, cache, 0o770) },
		"sticky":                func(t *testing.T, cache string) { chmod(t, cache, 0o777|os.ModeSticky) },
		"above":                 func(t *testing.T, cache string) { chmod(t, filepath.Dir(cache), 0o777) },
		"of another user": func(t *testing.T, cache string) {
			if err := os.Chown(cache, 12345, 12345); err != nil {
				testenv.Missing(t, "%v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			base, err := os.UserCacheDir()
			if err != nil {
				t.Fatal(err)
			}
			cache := filepath.Join(base, "quern", "modules")
			planted := filepath.Join(cache, path+"@v1.0.0")
			if err := os.MkdirAll(planted, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(planted, "x.go"), []byte("package evil"), 0o600); err != nil {
				t.Fatal(err)
			}
			prepare(t, cache)
			t.Setenv("GOPROXY", newFakeProxy(t, 0, moduleFiles(t, path, "v1.0.0", "module "+path+"\n", map[string]string{"@/x.go": "package a"})).URL)
			_, err = module.New(module.NewProxy()).Get(context.Background(), path+"@v1.0.0")
			var refused *module.CacheError
			if !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		isolate(t)
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", "home"} {
			t.Setenv(name, "")
		}
		t.Setenv("GOPROXY", newFakeProxy(t, 0, moduleFiles(t, path, "v1.0.0", "module "+path+"\n", map[string]string{"@/x.go": "package a"})).URL)
		if _, err := module.New(module.NewProxy()).Get(context.Background(), path+"@v1.0.0"); err == nil || !strings.Contains(err.Error(), "directory of the module cache") {
			t.Errorf("got %v", err)
		}
	})
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
