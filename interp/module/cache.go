package module

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/trust"
)

// CacheError reports a cache directory of modules that is not used because other users could
// have put files there.
type CacheError struct {
	Dir string
	Err error
}

func (e *CacheError) Error() string {
	return fmt.Sprintf("the module cache %s is not used: %v; remove it, or set XDG_CACHE_HOME to a directory of your own", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *CacheError) Unwrap() error { return e.Err }

// cached returns the directory in the cache for a module and creates its parent. Only the user
// has access to the cache, so that nobody else can plant code that is executed.
func cached(m module.Version) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of the module cache: %w", err)
	}
	root := filepath.Join(base, "quern", "modules")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	if err := trust.Dir(root); err != nil {
		return "", &CacheError{root, err}
	}
	if err := os.Chmod(root, 0o700); err != nil {
		return "", err
	}
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, filepath.FromSlash(path)+"@"+version)
	return dir, failpoint.Do(failpoint.ModuleFolder, func() error { return os.MkdirAll(filepath.Dir(dir), 0o700) })
}
