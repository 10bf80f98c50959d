//go:build unix

package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

func TestFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	me := os.Geteuid()
	make := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	folder := func(name string, mode os.FileMode) {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) string {
		path := filepath.Join(root, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := make("good/lib", 0o644)
	open := make("open/lib", 0o644)
	folder("open", 0o777)
	sticky := make("sticky/lib", 0o644)
	folder("sticky", 0o777|os.ModeSticky)
	below := make("public/mine/lib", 0o644)
	folder("public", 0o777|os.ModeSticky)
	above := make("wide/mine/lib", 0o644)
	folder("wide", 0o777)
	shared := make("shared/lib", 0o644)
	folder("shared", 0o775)
	for _, row := range []struct {
		name, path string
		user, root int
		alone      bool
		want       string // of the error
	}{
		{"good", good, me, 0, false, ""},
		{"a directory", filepath.Dir(good), me, 0, false, ""},
		{"relative", "good/lib", me, 0, false, "is not an absolute path"},
		{"empty", "", me, 0, false, "is not an absolute path"},
		{"writable file", make("written/lib", 0o666), me, 0, false, "can be written by everybody (mode 0666); chmod o-w"},
		{"writable directory", open, me, 0, false, "open can be written by everybody"},
		{"sticky directory that holds it", sticky, me, 0, false, "sticky can be written by everybody"},
		{"sticky directory above", below, me, 0, false, ""},
		{"writable directory above", above, me, 0, false, "wide can be written by everybody"},
		{"group", shared, me, 0, false, "shared can be written by the group"},
		{"group of the user", shared, me, 0, true, ""},
		{"another owner", good, me + 1, me + 2, false, "belongs to another user"},
		{"link", link(good, "good/link"), me, 0, false, ""},
		{"link to an open directory", link("../open/lib", "good/open"), me, 0, false, "open can be written by everybody"},
		{"link by way of an open directory", link("../open/back/lib", "good/detour"), me, 0, false, "open can be written by everybody"},
		{"link in an open directory", link(good, "open/good"), me, 0, false, "open can be written by everybody"},
		{"missing", filepath.Join(root, "good/none"), me, 0, false, "no such file"},
		{"loop", link("loop", "good/loop"), me, 0, false, "too many links"},
	} {
		if row.name == "link by way of an open directory" {
			link("../good", "open/back")
		}
		err := check(row.path, row.user, row.root, func(uint32, int) bool { return row.alone })
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o777: false, 0o777 | os.ModeSticky: false} {
		dir := filepath.Join(t.TempDir(), "cache")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		var refused *Error
		if err := Dir(dir); (err == nil) != want || err != nil && !errors.As(err, &refused) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		if err := os.Chown(dir, 12345, 0); err != nil {
			testenv.Missing(t, "%v", err)
		}
		if err := Dir(dir); err == nil || !strings.Contains(err.Error(), "belongs to another user (12345)") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAlone(t *testing.T) {
	t.Parallel()
	const users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:100::/home/bob:/bin/sh\n"
	const groups = "root:x:0:\nann:x:1000:\nusers:x:100:\nboth:x:200:ann,bob\nmine:x:201:ann,root\n"
	for gid, want := range map[uint32]bool{0: true, 1000: true, 100: false, 200: false, 201: true, 999: false} {
		if got := alone(groups, users, gid, 1000); got != want {
			t.Errorf("group %d: %v", gid, got)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	a, b, c := &Error{Path: "/a"}, &Error{Path: "/b"}, &Error{Path: "/c"}
	err := fmt.Errorf("library: %w", errors.Join(fmt.Errorf("first: %w", a), os.ErrNotExist, errors.Join(b, nil), fmt.Errorf("%w and %w", os.ErrExist, c)))
	if got := Errors(err); !slices.Equal(got, []*Error{a, b, c}) {
		t.Errorf("got %v", got)
	}
	for _, err := range []error{nil, os.ErrExist, fmt.Errorf("x: %w", os.ErrExist)} {
		if got := Errors(err); got != nil {
			t.Errorf("%v: %v", err, got)
		}
	}
}
