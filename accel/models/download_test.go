package models_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/download"
	"github.com/quernlab/quern/accel/models"
)

// serve serves files by HTTPS and records their names.
func serve(t *testing.T, files http.FileSystem) (address string, client download.Option, asked *[]string) {
	t.Helper()
	asked = new([]string)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		http.FileServer(files).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, download.Client(server.Client()), asked
}

func TestDownload(t *testing.T) {
	address, client, asked := serve(t, http.Dir("testdata"))
	folder := filepath.Join(t.TempDir(), "gpt2")
	wrong := strings.Repeat("0", 64)
	var sum *download.ChecksumError
	if err := models.Download(t.Context(), address+"/gpt2", folder, map[string]string{"model.safetensors": wrong}, client); !errors.As(err, &sum) {
		t.Fatalf("%v, want a ChecksumError", err)
	}
	if _, err := models.Load(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an incomplete download: %v", err)
	}
	if err := models.Download(t.Context(), address+"/gpt2", folder, nil, client); err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	g := read(t, "gpt2")
	closeTo(t, m.Forward(tokens(g.IDs)), g.Logits)
	if last := (*asked)[len(*asked)-1]; last != "/gpt2/config.json" {
		t.Errorf("%q came last", last)
	}
}

// TestDownloadShards downloads the files that an index lists.
func TestDownloadShards(t *testing.T) {
	source := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.json", "{}")
	write("1.safetensors", "1")
	write("2.safetensors", "2")
	write("tokenizer.json", "{}")
	address, client, asked := serve(t, http.Dir(source))
	for _, tt := range []struct{ index, want string }{
		{`{"weight_map": {"a": "2.safetensors", "b": "1.safetensors", "c": "2.safetensors"}}`, ""},
		{`{"weight_map": {"a": "../2.safetensors"}}`, `a is in "../2.safetensors"`},
		{`{"weight_map": {"a": "2.bin"}}`, "not the name of a safetensors file"},
		{`{}`, "lists no files"},
		{`[`, "not an index"},
	} {
		write("model.safetensors.index.json", tt.index)
		folder := t.TempDir()
		err := models.Download(t.Context(), address, folder, nil, client)
		var config *models.ConfigError
		if tt.want != "" && (!errors.As(err, &config) || !strings.Contains(err.Error(), tt.want)) || tt.want == "" && err != nil {
			t.Errorf("%s: %v, want %q", tt.index, err, tt.want)
		}
		if entries, _ := os.ReadDir(folder); tt.want == "" && len(entries) != 5 {
			t.Errorf("the folder has %v", entries)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(*asked), func(s string) bool { return s != "/2.safetensors" })); n != 1 {
		t.Errorf("the shard was asked for %d times in %q", n, *asked)
	}
}
