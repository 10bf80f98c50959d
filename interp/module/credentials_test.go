package module_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp/module"
)

// TestCredentials fails to download from proxies and repositories whose addresses have a password or token, which must not
// be in the errors.
func TestCredentials(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/redirect"):
			http.Redirect(w, r, "http://127.0.0.1:9/x?signature=s3cret", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/forbidden"):
			http.Error(w, "no", http.StatusForbidden)
		default:
			http.Error(w, "no", http.StatusNotFound)
		}
	}))
	defer server.Close()
	own := strings.Replace(server.URL, "://", "://user:s3cret@", 1)
	git := map[string]string{
		"GOPROXY": "direct", "GOPRIVATE": "*", "GIT_CONFIG_COUNT": "1", "GIT_TERMINAL_PROMPT": "0",
		"GIT_CONFIG_KEY_0": "url.https://user:s3cret@127.0.0.1:9/.insteadOf", "GIT_CONFIG_VALUE_0": "https://github.com/",
	}
	for _, tt := range []struct {
		name string
		env  map[string]string
		git  bool
	}{
		{name: "nobody listens", env: map[string]string{"GOPROXY": "https://user:s3cret@127.0.0.1:9/x"}},
		{name: "a token as the user", env: map[string]string{"GOPROXY": "https://s3cret@127.0.0.1:9/x"}},
		{name: "not found", env: map[string]string{"GOPROXY": own}},
		{name: "not found, then nobody", env: map[string]string{"GOPROXY": own + ",https://s3cret@127.0.0.1:9"}},
		{name: "forbidden", env: map[string]string{"GOPROXY": own + "/forbidden"}},
		{name: "redirected", env: map[string]string{"GOPROXY": own + "/redirect"}},
		{name: "not valid", env: map[string]string{"GOPROXY": "https://user:s3cret%zz@127.0.0.1:9/x"}},
		{name: "a slash in the password", env: map[string]string{"GOPROXY": "https://user:s3cret/x@127.0.0.1:9/x"}},
		{name: "another scheme", env: map[string]string{"GOPROXY": "ftp://user:s3cret@127.0.0.1:9/x"}},
		{name: "a file of a user", env: map[string]string{"GOPROXY": "file://user:s3cret@/x"}},
		{name: "the checksum database", env: map[string]string{"GOSUMDB": "key https://user:s3cret@127.0.0.1:9/x more", "GOPROXY": own}},
		{name: "a repository", env: git, git: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isolate(t)
			t.Setenv("GOMODCACHE", t.TempDir())
			if settings, err := os.UserConfigDir(); err == nil { // telemetry of the go command would write while the folder is removed
				telemetry := filepath.Join(settings, "go", "telemetry")
				if err := errors.Join(os.MkdirAll(telemetry, 0o700), os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			for _, query := range []string{"github.com/quernlab/none", "github.com/quernlab/none@v1.0.0"} {
				sources := map[string]func() module.Source{"proxy": func() module.Source { return module.NewProxy() }}
				if module.HasGoCommand() {
					sources["go"] = func() module.Source { return module.GoCommand{} }
				}
				if _, err := exec.LookPath("git"); tt.git && err != nil {
					testenv.Missing(t, "no git")
				}
				for name, source := range sources {
					_, err := module.New(source()).Get(t.Context(), query)
					if err == nil {
						t.Fatalf("%s: no error", name)
					}
					for e := err; e != nil; e = errors.Unwrap(e) {
						if strings.Contains(e.Error(), "s3cret") {
							t.Errorf("%s: %s", name, e)
						}
					}
				}
			}
		})
	}
}
