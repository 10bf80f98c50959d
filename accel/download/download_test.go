package download_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/download"
)

var (
	content = bytes.Repeat([]byte("0123456789abcdef"), 1000)
	sumOf   = func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	sum     = sumOf(content)
)

// server serves content, with ranges. Each request sends at most limit bytes, then the connection
// breaks.
type server struct {
	content []byte
	tag     string // the ETag; "" for none
	limit   int
	plain   bool                // without ranges
	before  func()              // called before each response
	ranges  []string            // received
	header  func(h http.Header) // sets further fields
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.before != nil {
		s.before()
	}
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	if s.tag != "" {
		w.Header().Set("ETag", s.tag)
	}
	if s.header != nil {
		s.header(w.Header())
	}
	if s.plain {
		r.Header.Del("Range")
	}
	if s.limit > 0 {
		w = &breaking{w, s.limit}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.content))
}

// breaking ends the connection after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.ResponseWriter.Write(p[:b.left])
		panic(http.ErrAbortHandler)
	}
	b.left -= len(p)
	return b.ResponseWriter.Write(p)
}

// start serves s by HTTPS and returns its address, a path, and the option with its client.
func start(t *testing.T, s http.Handler) (address, path string, client download.Option) {
	t.Helper()
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	return server.URL + "/weights", filepath.Join(t.TempDir(), "models", "weights"), download.Client(server.Client())
}

// check fails unless the folder of path has exactly the file with this content.
func check(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file has %d bytes, want %d: %v", len(got), len(want), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

func TestGet(t *testing.T) {
	for name, s := range map[string]*server{
		"at once":                 {content: content, tag: `"1"`},
		"a connection that ends":  {content: content, tag: `"1"`, limit: 5000},
		"an empty file":           {content: []byte{}},
		"without ranges":          {content: content, tag: `"1"`, plain: true},
		"the sum that is stated":  {content: content, header: func(h http.Header) { h.Set("X-Linked-Etag", `"`+sum+`"`) }},
		"neither tag nor a range": {content: content, plain: true},
	} {
		t.Run(name, func(t *testing.T) {
			address, path, client := start(t, s)
			for range 2 { // the second call finds the file
				if err := download.Get(t.Context(), address, path, client, download.SHA256(sumOf(s.content))); err != nil {
					t.Fatal(err)
				}
				check(t, path, s.content)
			}
			want := 1
			if s.limit > 0 {
				want = (len(content) + s.limit - 1) / s.limit
			}
			if len(s.ranges) != want {
				t.Errorf("%d requests %q, want %d", len(s.ranges), s.ranges, want)
			}
		})
	}
}

// TestResume cancels a download and calls Get again, as another process would.
func TestResume(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*server) // between the calls
		sum     string
		want    string // range of the second call
		third   bool   // the second call sends another request, without a range
		address string // added to the address of the second call
	}{
		{name: "continued", want: "bytes=7000-"},
		{name: "continued with a sum", sum: sum, want: "bytes=7000-"},
		{name: "changed on the server", change: func(s *server) { s.tag, s.content = `"2"`, content[100:] }, want: "bytes=7000-"},
		{name: "no tag, but a sum", change: func(s *server) { s.tag = "" }, sum: sum, want: "bytes=7000-", third: true},
		{name: "shorter on the server", change: func(s *server) { s.tag, s.content = "", content[:100] }, want: "bytes=7000-"},
		{name: "another address", address: "?revision=2", want: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := &server{content: content, tag: `"1"`, limit: 7000}
			address, path, client := start(t, s)
			s.before = func() {
				if len(s.ranges) == 1 { // the second request
					cancel()
					panic(http.ErrAbortHandler)
				}
			}
			options := []download.Option{client}
			if tt.sum != "" {
				options = append(options, download.SHA256(tt.sum))
			}
			err := download.Get(ctx, address, path, options...)
			var failed *download.Error
			if !errors.Is(err, context.Canceled) || !errors.As(err, &failed) || failed.Kept != 7000 {
				t.Fatalf("%v, want an Error with 7000 bytes", err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("the unfinished file has its name: %v", err)
			}
			s.before, s.limit, s.ranges = nil, 0, nil
			if tt.change != nil {
				tt.change(s)
			}
			if err := download.Get(t.Context(), address+tt.address, path, options...); err != nil {
				t.Fatal(err)
			}
			check(t, path, s.content)
			if s.ranges[0] != tt.want {
				t.Errorf("requested %q, want %q first", s.ranges, tt.want)
			}
		})
	}
}

// TestMixture continues bytes that do not belong to the content: the file is downloaded again.
func TestMixture(t *testing.T) {
	s := &server{content: content, tag: `"1"`}
	address, path, client := start(t, s)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path+".part", []byte("something else"), 0o600)
	os.WriteFile(path+".part.json", fmt.Appendf(nil, `{"address": %q, "version": "\"1\""}`, sumOf([]byte(address))), 0o600)
	if err := download.Get(t.Context(), address, path, client, download.SHA256(sum)); err != nil {
		t.Fatal(err)
	}
	check(t, path, content)
	if len(s.ranges) != 2 || s.ranges[1] != "" {
		t.Errorf("requests %q", s.ranges)
	}
}

func TestGetFails(t *testing.T) {
	wrong := sumOf([]byte("other"))
	var asked atomic.Int32
	for _, tt := range []struct {
		name    string
		handler http.Handler
		options []download.Option
		want    string
		is      error
		kept    bool
	}{
		{name: "not found", handler: http.NotFoundHandler(), want: "404 Not Found"},
		{name: "no account", handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }), want: "may need an account"},
		{name: "another sum", handler: &server{content: content}, options: []download.Option{download.SHA256(wrong)}, want: "has SHA-256 " + sum + ", want " + wrong},
		{name: "another stated sum", handler: &server{content: content, header: func(h http.Header) { h.Set("X-Linked-Etag", wrong) }}, want: "want " + wrong},
		{name: "not a sum", handler: http.NotFoundHandler(), options: []download.Option{download.SHA256("12")}, want: "64 hexadecimal digits"},
		{name: "too large", handler: &server{content: content}, options: []download.Option{download.MaxSize(100)}, is: download.ErrTooLarge},
		{name: "too large without a length", handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for range 10 {
				w.Write(content)
			}
		}), options: []download.Option{download.MaxSize(20000)}, is: download.ErrTooLarge},
		{name: "checked", handler: &server{content: content}, options: []download.Option{download.Check(func(r io.Reader) error {
			if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, content) {
				t.Errorf("checks %d bytes, %v", len(b), err)
			}
			return os.ErrInvalid
		})}, is: os.ErrInvalid},
		{name: "redirected to HTTP", handler: http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound), want: "connection refused"},
		{name: "stalls", handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Header().Set("ETag", `"1"`)
			if asked.Add(1) == 1 {
				w.Write(content[:10])
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}), options: []download.Option{download.Stall(5 * time.Second)}, want: "no data for 5s; 10 bytes are kept", kept: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address, path, client := start(t, tt.handler)
			var err error
			var entries []os.DirEntry
			for range 5 { // on a busy machine the first data may come too late
				asked.Store(0)
				err = download.Get(t.Context(), address, path, append(tt.options, client)...)
				if entries, _ = os.ReadDir(filepath.Dir(path)); !tt.kept || len(entries) > 0 {
					break
				}
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v, want %q, %v", err, tt.want, tt.is)
			}
			if (len(entries) > 0) != tt.kept {
				t.Errorf("the folder has %v", entries)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the file has its name")
			}
		})
	}
}

// TestInsecure downloads by plain HTTP and with a redirect to it.
func TestInsecure(t *testing.T) {
	s := httptest.NewServer(&server{content: content})
	defer s.Close()
	path := filepath.Join(t.TempDir(), "f")
	if err := download.Get(t.Context(), s.URL, path); !errors.Is(err, download.ErrInsecure) {
		t.Errorf("%v", err)
	}
	address, _, client := start(t, http.RedirectHandler(s.URL, http.StatusFound))
	if err := download.Get(t.Context(), address, path, client); !errors.Is(err, download.ErrInsecure) {
		t.Errorf("redirected: %v", err)
	}
	if err := download.Get(t.Context(), s.URL, path, download.SHA256(sum)); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"weights", "file:///etc/hostname", "https://", "%"} {
		if err := download.Get(t.Context(), address, path+"2"); err == nil {
			t.Errorf("%q was downloaded", address)
		}
	}
}

// TestBusy downloads a file while it is being downloaded.
func TestBusy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are locked by flock, which Windows does not have")
	}
	s := &server{content: content}
	address, path, client := start(t, s)
	s.before = func() {
		if err := download.Get(t.Context(), address, path, client); !errors.Is(err, download.ErrBusy) {
			t.Errorf("a second call: %v", err)
		}
	}
	if err := download.Get(t.Context(), address, path, client); err != nil {
		t.Fatal(err)
	}
	check(t, path, content)
}

func TestFiles(t *testing.T) {
	requests := 0
	address, path, client := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.Header.Get("Authorization") != "Bearer x" || strings.Contains(r.URL.Path, "none") {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, r.URL.Path)
	}))
	folder := filepath.Dir(path)
	files := []download.File{{Name: "a"}, {Name: "sub/b", SHA256: sumOf([]byte("/weights/sub/b"))}, {Name: "none", Optional: true}, {Name: "c"}}
	for range 2 {
		if err := download.Files(t.Context(), address, folder, files, client, download.Header("Authorization", "Bearer x")); err != nil {
			t.Fatal(err)
		}
	}
	if requests != 5 {
		t.Errorf("%d requests", requests)
	}
	if b, err := os.ReadFile(filepath.Join(folder, "sub", "b")); err != nil || string(b) != "/weights/sub/b" {
		t.Errorf("%q, %v", b, err)
	}
	for _, name := range []string{"../a", "/a", "", "a?b"} {
		if err := download.Files(t.Context(), address, folder, []download.File{{Name: name}}, client); err == nil || !strings.Contains(err.Error(), "is not the name of a file") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCredentials downloads from addresses with a password and a token: neither is in an error, in what it wraps, or in a
// file. The server receives both.
func TestCredentials(t *testing.T) {
	redirect := func(to string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	breaks := &server{content: content, tag: `"1"`, limit: 7000}
	breaks.before = func() {
		if len(breaks.ranges) > 0 {
			panic(http.ErrAbortHandler)
		}
	}
	for _, tt := range []struct {
		name, address string // "" for that of the server
		handler       http.Handler
		options       []download.Option
		kept          bool
	}{
		{name: "not found", handler: http.NotFoundHandler()},
		{name: "nobody listens", address: "https://user:s3cret@127.0.0.1:9/x?token=s3cret"},
		{name: "a token as the user", address: "https://s3cret@127.0.0.1:9/x"},
		{name: "plain HTTP", address: "http://user:s3cret@127.0.0.1:9/x#s3cret"},
		{name: "not valid", address: "https://user:s3cret%zz@127.0.0.1:9/x"},
		{name: "a slash in the password", address: "https://user:s3/s3cret@127.0.0.1:9/x"},
		{name: "digits and a slash in the password", address: "https://user:9/s3cret@127.0.0.1/x"},
		{name: "another scheme", address: "ftp://user:s3cret@127.0.0.1:9/x"},
		{name: "no scheme", address: "user:s3cret@127.0.0.1/x"},
		{name: "redirected to nobody", handler: redirect("https://user:s3cret@127.0.0.1:9/x?signature=s3cret")},
		{name: "redirected to an invalid address", handler: redirect("https://user:s3cret%zz@127.0.0.1:9/x")},
		{name: "redirected without end", handler: redirect("?token=s3cret")},
		{name: "another sum", handler: &server{content: content}, options: []download.Option{download.SHA256(sumOf(nil))}},
		{name: "breaks off", handler: breaks, kept: true},
		{name: "an invalid header", handler: http.NotFoundHandler(), options: []download.Option{download.Header("Authorization", "Bearer s3cret\n")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address, path, client := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, password, _ := r.BasicAuth(); password != "s3cret" && r.Header.Get("Referer") == "" || r.FormValue("token") != "s3cret" {
					t.Errorf("the server does not receive the password or the token: %v", r.URL)
				}
				tt.handler.ServeHTTP(w, r)
			}))
			if tt.address == "" {
				tt.address = strings.Replace(address, "https://", "https://user:s3cret@", 1) + "?token=s3cret#s3cret"
			}
			for _, get := range []func() error{
				func() error {
					return download.Get(t.Context(), tt.address, path, append(tt.options, client)...)
				},
				func() error {
					return download.Files(t.Context(), strings.Split(tt.address, "?")[0], filepath.Dir(path), []download.File{{Name: "x?token=s3cret"}}, client)
				},
			} {
				err := get()
				var failed *download.Error
				if err == nil || errors.As(err, &failed) && strings.Contains(failed.Address, "s3cret") {
					t.Fatalf("%v, want an error without the password", err)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					for _, text := range []string{e.Error(), fmt.Sprintf("%+v", e)} {
						if strings.Contains(text, "s3cret") {
							t.Errorf("the error is %s", text)
						}
					}
				}
			}
			kept := 0
			filepath.WalkDir(filepath.Dir(path), func(name string, entry os.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return nil
				}
				kept++
				if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte("s3cret")) || strings.Contains(name, "s3cret") {
					t.Errorf("%s has %s, %v", name, text, err)
				}
				return nil
			})
			if (kept > 0) != tt.kept {
				t.Errorf("%d files are left", kept)
			}
			if tt.kept { // with another password, which the server accepts
				breaks.before, breaks.limit = nil, 0
				if err := download.Get(t.Context(), tt.address, path, client); err != nil || breaks.ranges[len(breaks.ranges)-1] != "bytes=7000-" {
					t.Errorf("%v, requests %q", err, breaks.ranges)
				}
			}
		})
	}
}

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	for want, f := range map[string]func() error{
		"download: Files does not take SHA256(\"" + sum + "\"): its options are Check, Client, Header, Stall and MaxSize": func() error {
			return download.Files(t.Context(), "https://localhost", t.TempDir(), nil, download.SHA256(sum))
		},
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
