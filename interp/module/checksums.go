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

	"github.com/quernlab/quern/internal/secret"
)

// databases are the databases whose keys the go command knows, by name.
var databases = map[string]string{
	publicSums: publicSums + "+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
}

// mirrors are other names of databases, with their addresses.
var mirrors = map[string]string{
	"sum.golang.google.cn": publicSums + " https://sum.golang.google.cn",
}

// checksums compares modules with the checksum database.
type checksums struct {
	settings settings
	client   *sumdb.Client
}

// newChecksums returns nil if the environment switches checksums off.
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
		return nil, fmt.Errorf("GOSUMDB is %q: it must be off, a key, or a key and a URL separated by a space", secret.Text(value))
	}
	key := fields[0]
	if known, ok := databases[key]; ok {
		key = known
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("GOSUMDB: %w", secret.Error(err))
	}
	o := &databaseClient{proxy: p, key: key, name: verifier.Name(), config: map[string][]byte{}, cache: map[string][]byte{}}
	at, err := url.Parse("https://" + o.name)
	if err != nil || at.Host == "" || strings.HasSuffix(o.name, "/") || *at != (url.URL{Scheme: "https", Host: at.Host, Path: at.Path}) {
		return nil, fmt.Errorf("GOSUMDB: the name in the key is %q: it must be a host, or a host and a path", o.name)
	}
	if len(fields) == 2 {
		o.base = strings.TrimSuffix(fields[1], "/")
	}
	return &checksums{p.settings, sumdb.NewClient(o)}, nil
}

// check returns an error if the database has another sum for a module. A version that ends in
// /go.mod stands for the go.mod file of the module.
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
				return fmt.Errorf("%s@%s does not match the checksum database, which has %s, not %s", path, version, sum, got)
			}
			return nil
		}
	}
	return fmt.Errorf("the checksum database does not have %s@%s", path, version)
}

// databaseClient implements what the client of the database needs. Its state is kept in the process
// only.
type databaseClient struct {
	proxy     *Proxy
	key, name string

	mu            sync.Mutex
	base          string // address of the database; empty until it is known
	config, cache map[string][]byte
}

// ReadRemote implements sumdb.ClientOps.
func (o *databaseClient) ReadRemote(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sumsTimeout)
	defer cancel()
	base, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	return o.proxy.readURL(ctx, base+path)
}

// connect finds a proxy that forwards requests to the database, whose answers are signed. If no
// proxy does, the database itself is used (https://go.dev/ref/mod#checksum-database). Once a
// proxy forwards requests, the database is no longer asked directly.
func (o *databaseClient) connect(ctx context.Context) (string, error) {
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
		if !errors.Is(err, errNotFound) && !entry.onAnyError {
			return "", err
		}
	}
	o.base = "https://" + o.name
	return o.base, nil
}

// sumsTimeout bounds a request to the database.
const sumsTimeout = 30 * time.Second

// ReadConfig implements sumdb.ClientOps.
func (o *databaseClient) ReadConfig(file string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if file == "key" {
		return []byte(o.key), nil
	}
	return o.config[file], nil
}

// WriteConfig implements sumdb.ClientOps.
func (o *databaseClient) WriteConfig(file string, before, after []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if string(o.config[file]) != string(before) {
		return sumdb.ErrWriteConflict
	}
	o.config[file] = after
	return nil
}

// ReadCache implements sumdb.ClientOps.
func (o *databaseClient) ReadCache(file string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text, ok := o.cache[file]; ok {
		return text, nil
	}
	return nil, errors.New("not in the cache")
}

// WriteCache implements sumdb.ClientOps.
func (o *databaseClient) WriteCache(file string, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cache[file] = text
}

// Log implements sumdb.ClientOps.
func (*databaseClient) Log(string) {}

// SecurityError implements sumdb.ClientOps. It does nothing, because Lookup returns the error
// too.
func (*databaseClient) SecurityError(string) {}
