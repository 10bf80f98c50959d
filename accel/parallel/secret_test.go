package parallel

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestWithoutSecret checks which addresses are accepted without a secret.
func TestWithoutSecret(t *testing.T) {
	t.Setenv(SecretVariable, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	_, port, _ := net.SplitHostPort(freeAddress(t))
	for _, row := range []struct {
		host   string
		local  int
		listen string // empty if rejected
	}{
		{"127.0.0.1", 0, "127.0.0.1"},
		{"127.0.0.2", 0, "127.0.0.2"},
		{"localhost", 0, "127.0.0.1"},
		{"node0.example", 2, "127.0.0.1"},
		{"192.0.2.1", 2, "127.0.0.1"},
		{"0.0.0.0", 2, "127.0.0.1"},
		{"192.0.2.1", 0, ""},
		{"192.0.2.1", 1, ""},
		{"0.0.0.0", 0, ""},
		{"::", 0, ""},
		{"", 0, ""},
		{"node0.example", 0, ""},
		{"localhost.example", 0, ""},
	} {
		address := net.JoinHostPort(row.host, port)
		for rank := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			if row.listen != "" {
				cancel() // it is enough that Join starts to wait
			}
			place := RankInfo{Rank: rank, Size: 2, LocalRank: min(rank, row.local-1), LocalSize: row.local, Address: address}
			_, err := Join(ctx, At(place), Timeout(time.Millisecond))
			cancel()
			var refused *SecretError
			if errors.As(err, &refused) != (row.listen == "") || row.listen != "" && !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d on this machine, rank %d: %v", address, row.local, rank, err)
			}
		}
		if row.listen == "" {
			continue
		}
		j := &joiner{info: &RankInfo{Size: 2, LocalSize: row.local, Address: address}}
		if err := j.protect(); err != nil || len(j.secret) < 64 {
			t.Fatalf("%v, secret of %d characters", err, len(j.secret))
		}
		l, err := j.listen(t.Context())
		if err != nil {
			if row.listen != "127.0.0.1" {
				continue // this machine does not have the address
			}
			t.Fatal(err)
		}
		if got := l.Addr().(*net.TCPAddr).IP; got.String() != row.listen {
			t.Errorf("%s: listens at %v", address, got)
		}
		_ = l.Close()
	}
}

// TestRanksOfAnotherUser must not be able to join if no secret was set.
func TestRanksOfAnotherUser(t *testing.T) {
	t.Setenv(SecretVariable, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if runtime.GOOS == "windows" {
		t.Setenv("LocalAppData", t.TempDir())
	}
	address := freeAddress(t)
	var joining sync.WaitGroup
	joining.Go(func() {
		_, errs := joinAll(t, []RankInfo{{Rank: 0, Size: 2, LocalRank: -1, Address: address}}, []string{""}, Timeout(10*time.Second))
		var missing *MissingError
		if !errors.As(errs[0], &missing) {
			t.Errorf("rank 0: %v", errs[0])
		}
	})
	for _, guess := range []string{"\x00", "quern", "0"} { // an empty one would make Join use the file
		_, errs := joinAll(t, []RankInfo{{Rank: 1, Size: 2, LocalRank: -1, Address: address}}, []string{guess}, Timeout(10*time.Second))
		var refused *RefusedError
		if !errors.As(errs[0], &refused) {
			t.Errorf("rank 1 with %q: %v", guess, errs[0])
		}
	}
	joining.Wait()
}

func TestUserSecret(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("LocalAppData", cache)
	t.Setenv("HOME", cache)
	const n = 8
	secrets := make([]string, n)
	var reading sync.WaitGroup
	for i := range n {
		reading.Go(func() {
			var err error
			if secrets[i], err = userSecret(); err != nil {
				t.Error(err)
			}
		})
	}
	reading.Wait()
	for _, s := range secrets {
		if s != secrets[0] || len(s) != 2*secretBytes {
			t.Errorf("secrets of one user: %q and %q", s, secrets[0])
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(base, "quern", "parallel.secret")
	for _, row := range []struct {
		mode os.FileMode
		want string // part of the error
	}{{0o644, "is readable by others"}, {0o606, "can be written by everybody"}, {0o600, ""}} {
		if err := os.Chmod(path, row.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := userSecret(); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("mode %o: %v", row.mode, err)
		}
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := userSecret(); err == nil || !strings.Contains(err.Error(), "does not contain a secret") {
		t.Errorf("a short secret: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".secret-*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}
