package module

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/note"
)

// databases are the keys that the go command knows by name.
var databases = map[string]string{
	publicSums: publicSums + "+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
}

// mirrors are other names of databases, and where they are reached.
var mirrors = map[string]string{
	"sum.golang.google.cn": publicSums + " https://sum.golang.google.cn",
}

// checksums compares modules with the checksum database.
type checksums struct {
	settings settings
	client   *sumdb.Client
}

// newChecksums returns nil where the environment switches checksums off.
func newChecksums(p *Proxy) (*checksums, error) {
	value := p.settings.sums
	if value == off {
		return nil, nil
	}
	if other, ok := mirrors[value]; ok {
		value = other
	}
	fields := strings.Fields(value)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, fmt.Errorf("GOSUMDB is %q, want a key, and a URL if need be", value)
	}
	key := fields[0]
	if known, ok := databases[key]; ok {
		key = known
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("GOSUMDB: %w", err)
	}
	o := &sumsOps{proxy: p, key: key, name: verifier.Name(), config: map[string][]byte{}, cache: map[string][]byte{}}
	at, err := url.Parse("https://" + o.name)
	if err != nil || at.Host == "" || strings.HasSuffix(o.name, "/") || *at != (url.URL{Scheme: "https", Host: at.Host, Path: at.Path}) {
		return nil, fmt.Errorf("GOSUMDB: the database has the name %q, want a host, perhaps with a path", o.name)
	}
	if len(fields) == 2 {
		o.base = strings.TrimSuffix(fields[1], "/")
	}
	return &checksums{p.settings, sumdb.NewClient(o)}, nil
}

// check fails where the database has another sum; version ends in /go.mod for that
// of the go.mod file.
func (c *checksums) check(path, version, sum string) error {
	if c == nil || !c.settings.checked(path) {
		return nil
	}
	lines, err := c.client.Lookup(path, version)
	if err != nil {
		return fmt.Errorf("checksum of %s@%s: %w", path, version, err)
	}
	want := path + " " + version + " "
	for _, line := range lines {
		if got, ok := strings.CutPrefix(line, want); ok {
			if got != sum {
				return fmt.Errorf("%s@%s is not what the checksum database has: %s in place of %s", path, version, sum, got)
			}
			return nil
		}
	}
	return fmt.Errorf("the checksum database does not have %s@%s", path, version)
}

// sumsOps is what the client of the database works with: its state is that of the
// process.
type sumsOps struct {
	proxy     *Proxy
	key, name string

	mu            sync.Mutex
	base          string // where the database is asked; empty before that is known
	config, cache map[string][]byte
}

// ReadRemote implements sumdb.ClientOps.
func (o *sumsOps) ReadRemote(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sumsTimeout)
	defer cancel()
	base, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	return o.proxy.readURL(ctx, base+path)
}

// connect finds out which proxy passes on what the database says, which is signed;
// the database itself is asked where none does
// (https://go.dev/ref/mod#checksum-database). Once a proxy passes it on, the database
// is not asked for what is looked up there.
func (o *sumsOps) connect(ctx context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.base != "" {
		return o.base, nil
	}
	for _, entry := range o.proxy.settings.proxies {
		if entry.url == direct || entry.url == off {
			break
		}
		base := entry.url + "/sumdb/" + o.name
		_, err := o.proxy.readURL(ctx, base+"/supported")
		if err == nil {
			o.base = base
			return base, nil
		}
		if !errors.Is(err, errNotFound) && !entry.anyways {
			return "", err
		}
	}
	o.base = "https://" + o.name
	return o.base, nil
}

// sumsTimeout bounds a question to the database.
const sumsTimeout = 30 * time.Second

// ReadConfig implements sumdb.ClientOps.
func (o *sumsOps) ReadConfig(file string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if file == "key" {
		return []byte(o.key), nil
	}
	return o.config[file], nil
}

// WriteConfig implements sumdb.ClientOps.
func (o *sumsOps) WriteConfig(file string, before, after []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if string(o.config[file]) != string(before) {
		return sumdb.ErrWriteConflict
	}
	o.config[file] = after
	return nil
}

// ReadCache implements sumdb.ClientOps.
func (o *sumsOps) ReadCache(file string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text, ok := o.cache[file]; ok {
		return text, nil
	}
	return nil, errors.New("not in the cache")
}

// WriteCache implements sumdb.ClientOps.
func (o *sumsOps) WriteCache(file string, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cache[file] = text
}

// Log implements sumdb.ClientOps.
func (*sumsOps) Log(string) {}

// SecurityError implements sumdb.ClientOps: the error of Lookup says it too.
func (*sumsOps) SecurityError(string) {}
