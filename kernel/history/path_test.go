package history

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("QUERN_HISTORY", "/a/file")
	if got := Path(); got != "/a/file" {
		t.Errorf("QUERN_HISTORY: %s", got)
	}
	t.Setenv("QUERN_HISTORY", "")
	if got := Path(); got != "" {
		t.Errorf("QUERN_HISTORY of nothing: %s", got)
	}
}

func TestPathByDefault(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("QUERN_HISTORY", "") // restored at the end of the test
	os.Unsetenv("QUERN_HISTORY")
	if got, want := Path(), filepath.Join(dir, "quern", "history.jsonl"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
