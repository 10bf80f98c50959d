package module_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/module"
)

// slowRegistry is a registry whose Dir waits for an event.
type slowRegistry struct {
	registry
	dir func(ctx context.Context, m xmodule.Version) error
}

func (r slowRegistry) Dir(ctx context.Context, m xmodule.Version) (string, error) {
	if err := r.dir(ctx, m); err != nil {
		return "", err
	}
	return r.registry.Dir(ctx, m)
}

var threeModules = map[string]string{
	"example.com/a@v1.0.0/go.mod": "module example.com/a\nrequire example.com/b v1.0.0\nrequire example.com/c v1.0.0\n",
	"example.com/b@v1.0.0/go.mod": "module example.com/b\n",
	"example.com/c@v1.0.0/go.mod": "module example.com/c\n",
}

// newSlowSet returns a set with three modules, the first of which has been downloaded.
func newSlowSet(t *testing.T, dir func(ctx context.Context, m xmodule.Version) error) *module.Set {
	t.Helper()
	s := module.New(slowRegistry{newRegistry(t, threeModules), func(ctx context.Context, m xmodule.Version) error {
		if m.Path == "example.com/a" {
			return nil
		}
		return dir(ctx, m)
	}})
	if _, err := s.Get(t.Context(), "example.com/a@v1.0.0"); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustFind(ctx context.Context, t *testing.T, s *module.Set, path string) {
	t.Helper()
	p, ok, err := s.Find(ctx, path)
	if err != nil || !ok || !strings.HasSuffix(filepath.ToSlash(p.Dir), path+"@v1.0.0") {
		t.Errorf("%s: %v, %v, %v", path, p, ok, err)
	}
}

// TestFindAtOnce checks that two modules are downloaded at the same time, and that a module that
// several goroutines need is downloaded once.
func TestFindAtOnce(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	s := newSlowSet(t, func(context.Context, xmodule.Version) error {
		both.Done() // panics at the third call
		both.Wait()
		return nil
	})
	var group sync.WaitGroup
	for _, path := range []string{"example.com/b", "example.com/c", "example.com/b", "example.com/c"} {
		group.Go(func() { mustFind(t.Context(), t, s, path) })
	}
	group.Wait()
	mustFind(t.Context(), t, s, "example.com/b")
}

// TestFindCanceled checks that a canceled Find does not make another one of the same module fail.
func TestFindCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	began, calls := make(chan struct{}), 0
	s := newSlowSet(t, func(ctx context.Context, _ xmodule.Version) error {
		if calls++; calls > 1 {
			return nil
		}
		close(began)
		<-ctx.Done()
		return ctx.Err()
	})
	var group sync.WaitGroup
	group.Go(func() {
		if _, _, err := s.Find(ctx, "example.com/b"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	<-began
	group.Go(func() { mustFind(t.Context(), t, s, "example.com/b") })
	cancel()
	group.Wait()
}
