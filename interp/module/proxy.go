package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// Proxy is the module proxies of GOPROXY as a Source. What it gets it keeps in the
// cache directory of the user.
type Proxy struct {
	urls   []string
	cache  string
	client *http.Client
	sums   *checksums // nil where GOSUMDB is off
}

// publicProxy is the one of the go command.
const publicProxy = "https://proxy.golang.org"

// maxFile bounds what is read from a proxy: go.mod files, lists and zip files.
const maxFile = zip.MaxZipFile

// NewProxy returns the proxies that the environment names. "direct", which is to ask
// the repositories themselves, needs the go command and is left out.
func NewProxy() *Proxy {
	p := &Proxy{client: http.DefaultClient, cache: filepath.Join(os.TempDir(), "quern", "modules")}
	if dir, err := os.UserCacheDir(); err == nil {
		p.cache = filepath.Join(dir, "quern", "modules")
	}
	list := os.Getenv("GOPROXY")
	if list == "" {
		list = publicProxy
	}
	for _, u := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		if u != "direct" && u != "off" {
			p.urls = append(p.urls, strings.TrimSuffix(u, "/"))
		}
	}
	p.sums = newChecksums(p)
	return p
}

// errNotFound is for what no proxy has.
var errNotFound = errors.New("not found")

// read reads a file from the first proxy that has it. Local proxies are folders,
// file:///path.
func (p *Proxy) read(ctx context.Context, name string) ([]byte, error) {
	err := errors.New("GOPROXY names no proxy, and there is no go command to do without")
	for _, base := range p.urls {
		var text []byte
		if text, err = p.readURL(ctx, base+"/"+name); err == nil {
			return text, nil
		}
	}
	return nil, err
}

func (p *Proxy) readURL(ctx context.Context, address string) ([]byte, error) {
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		text, err := os.ReadFile(filepath.FromSlash(u.Path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", address, errNotFound)
		}
		return text, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxFile+1))
	switch {
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusGone:
		return nil, fmt.Errorf("%s: %w", address, errNotFound)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", address, response.Status)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s: more than %d bytes", address, maxFile)
	}
	return text, nil
}

// file reads a file of a module version: its extension is info, mod or zip.
func (p *Proxy) file(ctx context.Context, path, version, extension string) ([]byte, error) {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return nil, err
	}
	v, err := module.EscapeVersion(version)
	if err != nil {
		return nil, err
	}
	return p.read(ctx, escaped+"/@v/"+v+"."+extension)
}

// Resolve implements Source. Beside "latest" it knows versions, branches and
// revisions as far as the proxy does, and prefixes such as v1 or v1.2.
func (p *Proxy) Resolve(ctx context.Context, path, query string) (string, error) {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	text, err := p.read(ctx, escaped+"/@v/list")
	if err != nil && !errors.Is(err, errNotFound) {
		return "", err
	}
	best := ""
	for version := range strings.FieldsSeq(string(text)) {
		fits := query == "latest" || strings.HasPrefix(version, query+".")
		newer := best == "" || semver.Prerelease(best) != "" && semver.Prerelease(version) == "" ||
			semver.Compare(version, best) > 0 && (semver.Prerelease(version) == "" || semver.Prerelease(best) != "")
		if fits && semver.IsValid(version) && newer {
			best = version
		}
	}
	if best != "" {
		return best, nil
	}
	if query == "latest" {
		text, err = p.read(ctx, escaped+"/@latest")
	} else {
		text, err = p.file(ctx, path, query, "info")
	}
	if err != nil {
		return "", fmt.Errorf("%s@%s: %w", path, query, err)
	}
	var info struct{ Version string }
	if err := json.Unmarshal(text, &info); err != nil {
		return "", fmt.Errorf("%s@%s: %w", path, query, err)
	}
	return info.Version, nil
}

// GoMod implements Source.
func (p *Proxy) GoMod(ctx context.Context, m module.Version) ([]byte, error) {
	text, err := p.file(ctx, m.Path, m.Version, "mod")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	sum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	})
	if err != nil {
		return nil, err
	}
	return text, p.sums.check(m.Path, m.Version+"/go.mod", sum)
}

// Dir implements Source.
func (p *Proxy) Dir(ctx context.Context, m module.Version) (string, error) {
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(p.cache, filepath.FromSlash(escaped)+"@"+m.Version)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	text, err := p.file(ctx, m.Path, m.Version, "zip")
	if err != nil {
		return "", fmt.Errorf("%s: %w", m, err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	archive := filepath.Join(work, "zip")
	if err := os.WriteFile(archive, text, 0o644); err != nil {
		return "", err
	}
	sum, err := dirhash.HashZip(archive, dirhash.Hash1)
	if err != nil {
		return "", fmt.Errorf("%s: %w", m, err)
	}
	if err := p.sums.check(m.Path, m.Version, sum); err != nil {
		return "", err
	}
	files := filepath.Join(work, "files")
	if err := zip.Unzip(files, m, archive); err != nil {
		return "", fmt.Errorf("%s: %w", m, err)
	}
	// Another process may have been faster: what it has is the same.
	if err := os.Rename(files, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil
}
