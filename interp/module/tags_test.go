package module_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/interp/module"
)

func TestBuildTags(t *testing.T) {
	for _, row := range []struct {
		flags string
		want  []string
	}{
		{"", nil},
		{"-mod=mod", nil},
		{"-tags=integration", []string{"integration"}},
		{"--tags=a,b", []string{"a", "b"}},
		{"-mod=mod -tags=a -v", []string{"a"}},
		{"  '-tags=a b'\t-v ", []string{"a", "b"}},
		{`"-ldflags=-X main.v=-tags=x" -tags=a`, []string{"a"}},
		{"-tags=a -tags=b", []string{"b"}},
		{"-tags=", nil},
		{"'-tags=a", []string{"a"}},
	} {
		isolate(t)
		t.Setenv("GOFLAGS", row.flags)
		if got := module.BuildTags(); !slices.Equal(got, row.want) {
			t.Errorf("GOFLAGS=%q: tags %q, want %q", row.flags, got, row.want)
		}
	}
}

func TestBuildTagsOfEnvironmentFile(t *testing.T) {
	isolate(t)
	name := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(name, []byte("GOFLAGS=-tags=written\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", name)
	if got := module.BuildTags(); !slices.Equal(got, []string{"written"}) {
		t.Errorf("tags %q", got)
	}
}
