package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/secret"
)

// Proxy is the module proxies of GOPROXY as a Source. It keeps its downloads in the cache
// directory of the user.
type Proxy struct {
	settings settings
	err      error // of the settings
	client   *http.Client
	sums     *checksums // nil where GOSUMDB is off
}

// NewProxy returns the proxies that the environment names. Modules that must come from their
// repositories by the settings are rejected with [ErrNeedsGo].
func NewProxy() *Proxy {
	p := &Proxy{client: newClient()}
	if p.settings, p.err = readSettings(); p.err == nil {
		p.sums, p.err = newChecksums(p)
	}
	return p
}

// address returns the address of a file of a module version. The extension is info, mod or zip.
func address(base, path, version, extension string) (string, error) {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	v, err := module.EscapeVersion(version)
	if err != nil {
		return "", err
	}
	return base + "/" + escaped + "/@v/" + v + "." + extension, nil
}

// Resolve implements Source. A query is "latest", a prefix such as v1 or v1.2, or a version,
// branch or revision that the proxy knows.
func (p *Proxy) Resolve(ctx context.Context, path, query string) (version string, err error) {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	err = p.try(path, func(base string) error {
		version, err = p.resolve(ctx, base, escaped, path, query)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s@%s: %w", path, query, err)
	}
	if err := module.Check(path, version); err != nil {
		return "", fmt.Errorf("%s@%s: the proxy returned an invalid version: %w", path, query, err)
	}
	if module.CanonicalVersion(query) == query && version != query {
		return "", fmt.Errorf("%s@%s: the proxy returned version %s instead", path, query, version)
	}
	return version, nil
}

// resolve asks one proxy.
func (p *Proxy) resolve(ctx context.Context, base, escaped, path, query string) (string, error) {
	versions, err := p.versions(ctx, base, escaped, path)
	if err != nil {
		return "", err
	}
	retracted, err := p.retractions(ctx, path, versions)
	if err != nil && !errors.Is(err, errNotFound) {
		return "", err
	}
	versions = slices.DeleteFunc(versions, func(v string) bool {
		return query != "latest" && !strings.HasPrefix(v, query+".") || retracted.reason(v) != ""
	})
	if len(versions) > 0 {
		return slices.MaxFunc(versions, compareReleases), nil
	}
	at := base + "/" + escaped + "/@latest"
	if query != "latest" {
		if at, err = address(base, path, query, "info"); err != nil {
			return "", err
		}
	}
	text, err := p.readURL(ctx, at)
	if err != nil {
		return "", err
	}
	var info struct{ Version string }
	if err := json.Unmarshal(text, &info); err != nil {
		return "", fmt.Errorf("%s: %w", secret.Address(at), err)
	}
	return info.Version, nil
}

// GoMod implements Source. Like the files of a module, its go.mod file remains in the cache, so that a version that has been
// used before needs no network.
func (p *Proxy) GoMod(ctx context.Context, m module.Version) ([]byte, error) {
	if err := module.Check(m.Path, m.Version); err != nil {
		return nil, err
	}
	dir, err := cached(m)
	if err != nil {
		return nil, err
	}
	name := dir + ".mod"
	if text, err := os.ReadFile(name); err == nil {
		return text, nil
	}
	text, err := p.goMod(ctx, m)
	if err != nil {
		return nil, err
	}
	return text, atomicfile.Replace(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// goMod downloads a go.mod file and checks it.
func (p *Proxy) goMod(ctx context.Context, m module.Version) (text []byte, err error) {
	err = p.try(m.Path, func(base string) error {
		at, err := address(base, m.Path, m.Version, "mod")
		if err == nil {
			text, err = p.readURL(ctx, at)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	sum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	})
	if err != nil {
		return nil, err
	}
	if err := p.sums.check(m.Path, m.Version+"/go.mod", sum); err != nil {
		return nil, err
	}
	return text, nil
}

// Dir implements Source.
func (p *Proxy) Dir(ctx context.Context, m module.Version) (string, error) {
	if err := module.Check(m.Path, m.Version); err != nil {
		return "", err
	}
	dir, err := cached(m)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	err = atomicfile.CreateFolder(dir, func(work, content string) error { return p.unpack(ctx, m, work, content) })
	if err != nil {
		return "", fmt.Errorf("%s: %w", m, err)
	}
	return dir, nil
}

// unpack downloads a module to a folder, checks it, and unpacks it to another one.
func (p *Proxy) unpack(ctx context.Context, m module.Version, work, content string) error {
	archive := filepath.Join(work, "zip")
	err := p.try(m.Path, func(base string) error {
		at, err := address(base, m.Path, m.Version, "zip")
		if err == nil {
			err = p.download(ctx, at, archive, zip.MaxZipFile)
		}
		return err
	})
	if err != nil {
		return err
	}
	// Names and sizes are checked first, because the checksum reads all files.
	checked, err := zip.CheckZip(m, archive)
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		return err
	}
	sum, err := dirhash.HashZip(archive, dirhash.Hash1)
	if err != nil {
		return err
	}
	if err := p.sums.check(m.Path, m.Version, sum); err != nil {
		return err
	}
	return failpoint.Do(failpoint.ModuleUnzip, func() error { return zip.Unzip(content, m, archive) })
}
