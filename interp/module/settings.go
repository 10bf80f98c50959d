package module

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/internal/secret"
)

// settings are the variables of the go command that say where modules come from
// (https://go.dev/ref/mod#environment-variables).
type settings struct {
	proxies []proxyEntry
	noProxy string // patterns of modules that do not come from a proxy
	noSums  string // patterns of modules that are not in the checksum database
	sums    string // GOSUMDB
}

// proxyEntry is one element of GOPROXY.
type proxyEntry struct {
	url        string // of the proxy, or "direct", or "off"
	onAnyError bool   // a bar follows: any error leads to the next entry, not only "not found"
}

const (
	direct = "direct"
	off    = "off"
)

// The defaults of the go command.
const (
	defaultProxies = "https://proxy.golang.org,direct"
	publicSums     = "sum.golang.org"
)

// readSettings reads the environment and the file to which "go env -w" writes.
func readSettings() (settings, error) {
	file := environmentFile()
	get := func(name, without string) string {
		if value := os.Getenv(name); value != "" {
			return value
		}
		if value := file[name]; value != "" {
			return value
		}
		return without
	}
	private := get("GOPRIVATE", "")
	s := settings{noProxy: get("GONOPROXY", private), noSums: get("GONOSUMDB", private), sums: get("GOSUMDB", publicSums)}
	var err error
	s.proxies, err = parseProxies(get("GOPROXY", defaultProxies))
	return s, err
}

// environmentFile reads the file of "go env -w". Like the go command it treats a file that cannot
// be read as empty.
func environmentFile() map[string]string {
	values := map[string]string{}
	name := os.Getenv("GOENV")
	if name == off {
		return values
	}
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return values
		}
		name = filepath.Join(dir, "go", "env")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return values
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok && key != "" && key[0] >= 'A' && key[0] <= 'Z' {
			values[key] = value
		}
	}
	return values
}

// parseProxies parses GOPROXY. Entries after "direct" or "off" have no effect.
func parseProxies(list string) ([]proxyEntry, error) {
	var all []proxyEntry
	for list != "" {
		entry := proxyEntry{url: list}
		if i := strings.IndexAny(list, ",|"); i >= 0 {
			entry = proxyEntry{url: list[:i], onAnyError: list[i] == '|'}
			list = list[i+1:]
		} else {
			list = ""
		}
		switch entry.url = strings.TrimSpace(entry.url); entry.url {
		case "":
			continue
		case off, direct:
			return append(all, entry), nil
		}
		if strings.ContainsAny(entry.url, ".:/") && !strings.Contains(entry.url, ":/") && !filepath.IsAbs(entry.url) && !path.IsAbs(entry.url) {
			entry.url = "https://" + entry.url
		}
		if err := checkProxy(entry.url); err != nil {
			return nil, err
		}
		entry.url = strings.TrimSuffix(entry.url, "/")
		all = append(all, entry)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("GOPROXY is set but has no entries; unset it, or set it to %q", defaultProxies)
	}
	return all, nil
}

func checkProxy(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("GOPROXY: %s is not a URL: characters such as / ? # @ and %% of a user or password are written as %%2F, %%3F, %%23, %%40 and %%25", secret.Address(address))
	}
	switch u.Scheme {
	case "http", "https":
		return nil
	case "file":
		if *u != (url.URL{Scheme: u.Scheme, Path: u.Path, RawPath: u.RawPath}) {
			return fmt.Errorf("GOPROXY: %s: a file URL may only have a path", secret.Address(address))
		}
		return nil
	}
	return fmt.Errorf("GOPROXY: %s is not a proxy: use a URL that begins with https, http or file, or the words direct and off", secret.Address(address))
}

// private reports whether a module must not be requested from a proxy.
func (s settings) private(modulePath string) bool {
	return module.MatchPrefixPatterns(s.noProxy, modulePath)
}

// checked reports whether a module is checked against the checksum database.
func (s settings) checked(modulePath string) bool {
	return s.sums != off && !module.MatchPrefixPatterns(s.noSums, modulePath)
}
