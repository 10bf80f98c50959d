package seen

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

func signature(i int) (s wire.Signature) {
	binary.BigEndian.PutUint64(s[:], uint64(i))
	return s
}

func open(t *testing.T, dir, key string) *Log {
	t.Helper()
	l := Open(dir, []byte(key), func(err error) { t.Error(err) })
	l.timeout = time.Minute
	t.Cleanup(l.Close)
	return l
}

func TestLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	first := open(t, dir, "key")
	if past := first.Past(); len(past) > 0 {
		t.Errorf("past: %v", past)
	}
	want := []wire.Signature{signature(1), signature(2)}
	for _, s := range want {
		first.Add(s)
	}
	first.Close()
	if got := open(t, dir, "key").Past(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := open(t, dir, "another").Past(); len(got) > 0 {
		t.Errorf("of another key: %v", got)
	}
}

// Signatures that a killed kernel has written are kept, except for an incomplete one.
func TestCutFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := signature(1)
	if err := os.WriteFile(filepath.Join(dir, name([]byte("key"))), append(one[:], "cut"...), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, "key")
	if got := l.Past(); !slices.Equal(got, []wire.Signature{one}) {
		t.Errorf("got %v", got)
	}
	l.Add(signature(2))
	l.Close()
	if got := open(t, dir, "key").Past(); !slices.Equal(got, []wire.Signature{one, signature(2)}) {
		t.Errorf("got %v", got)
	}
}

func TestFileIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, name([]byte("key")))
	var text []byte
	const count = 2*maxPast + 5
	for i := range count {
		s := signature(i)
		text = append(text, s[:]...)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, "key")
	if got := l.Past(); len(got) != maxPast || got[0] != signature(count-maxPast) || got[maxPast-1] != signature(count-1) {
		t.Errorf("%d signatures", len(got))
	}
	l.Add(signature(count))
	l.Close()
	if info, err := os.Stat(path); err != nil || info.Size() != 32*(maxPast+1) {
		t.Errorf("%v, %v", info, err)
	}
}

func TestOldFilesAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ago := time.Now().Add(-2 * maxAge)
	for _, file := range []string{name([]byte("old")), name([]byte("key")), "other", name([]byte("young"))} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if file != name([]byte("young")) {
			if err := os.Chtimes(path, ago, ago); err != nil {
				t.Fatal(err)
			}
		}
	}
	open(t, dir, "key").Past()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestDirThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failures := make(chan error, 9)
	l := Open(filepath.Join(file, "dir"), []byte("key"), func(err error) { failures <- err })
	if past := l.Past(); len(past) > 0 {
		t.Errorf("past: %v", past)
	}
	for i := range 2 * maxWaiting {
		l.Add(signature(i))
	}
	l.Close()
	if err := <-failures; err == nil || len(failures) > 0 {
		t.Errorf("%v, and %d more", err, len(failures))
	}
}
