package module

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
)

// The public checksum database and its key, as the go command has them.
const (
	publicSums    = "sum.golang.org"
	publicSumsKey = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
)

// checksums compares modules with the checksum database.
type checksums struct {
	client *sumdb.Client
}

// newChecksums returns nil where the environment switches checksums off.
func newChecksums(p *Proxy) *checksums {
	name, key, address := publicSums, publicSumsKey, ""
	switch fields := strings.Fields(os.Getenv("GOSUMDB")); {
	case len(fields) == 0, len(fields) == 1 && fields[0] == publicSums:
	case fields[0] == "off":
		return nil
	default:
		key = fields[0]
		name, _, _ = strings.Cut(key, "+")
		if len(fields) > 1 {
			address = fields[1]
		}
	}
	return &checksums{sumdb.NewClient(&sumsOps{proxy: p, key: key, name: name, address: address, config: map[string][]byte{}, cache: map[string][]byte{}})}
}

// check fails where the database has another sum; version ends in /go.mod for that
// of the go.mod file.
func (c *checksums) check(path, version, sum string) error {
	private := os.Getenv("GOPRIVATE") + "," + os.Getenv("GONOSUMDB")
	if c == nil || module.MatchPrefixPatterns(private, path) {
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
	address   string // where the environment gives one

	mu            sync.Mutex
	config, cache map[string][]byte
}

// ReadRemote implements sumdb.ClientOps. Proxies pass on what the database says;
// that is signed.
func (o *sumsOps) ReadRemote(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sumsTimeout)
	defer cancel()
	if o.address != "" {
		return o.proxy.readURL(ctx, o.address+path)
	}
	if text, err := o.proxy.read(ctx, "sumdb/"+o.name+path); err == nil {
		return text, nil
	}
	return o.proxy.readURL(ctx, "https://"+o.name+path)
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
