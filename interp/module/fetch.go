package module

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/secret"
)

// ErrNeedsGo is the error for a module that must come from its repository, not from a proxy. Only
// the go command can download it.
var ErrNeedsGo = errors.New("it is fetched from its repository, which needs the go command: install Go (https://go.dev/dl), or name a proxy that has the module in GOPROXY")

// ErrOff is the error of all downloads with GOPROXY=off.
var ErrOff = errors.New("fetching modules is switched off by GOPROXY=off")

// errNotFound is the error for a file that a proxy does not have.
var errNotFound = errors.New("not found")

// try asks the proxies of GOPROXY for a module, one after the other. If a proxy does not have it,
// try asks the next one; after any other error it does so only if a bar separates the two. It
// asks no proxy for a private module.
func (p *Proxy) try(modulePath string, ask func(base string) error) error {
	if p.err != nil {
		return p.err
	}
	if p.settings.private(modulePath) {
		return fmt.Errorf("%s is private (GONOPROXY or GOPRIVATE): %w", modulePath, ErrNeedsGo)
	}
	var first, missing error // first is the most useful error
	for _, entry := range p.settings.proxies {
		var err error
		switch entry.url {
		case off:
			err = ErrOff
		case direct:
			err = ErrNeedsGo
		default:
			if err = ask(entry.url); err == nil {
				return nil
			}
		}
		absent := errors.Is(err, errNotFound)
		switch {
		case !absent && entry.url == direct && first != nil:
			first = fmt.Errorf("%w; %w", first, err)
		case !absent && first == nil:
			first = err
		case missing == nil:
			missing = err
		}
		if !absent && !entry.onAnyError {
			break
		}
	}
	switch {
	case first == nil:
		return missing
	case missing != nil:
		return fmt.Errorf("%w; %w", missing, first)
	}
	return first
}

// newClient returns a client that follows redirections, except from https to another scheme.
func newClient() *http.Client {
	return &http.Client{CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("stopped after 10 redirections")
		}
		if via[len(via)-1].URL.Scheme == "https" && request.URL.Scheme != "https" {
			return fmt.Errorf("redirected from https to %s", secret.Address(request.URL.String()))
		}
		return nil
	}}
}

// maxText bounds lists, go.mod files and answers of the checksum database, in bytes.
const maxText = 16 << 20

// readURL reads a short file.
func (p *Proxy) readURL(ctx context.Context, address string) ([]byte, error) {
	body, err := p.open(ctx, address)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", secret.Address(address), err)
	case len(text) > maxText:
		return nil, fmt.Errorf("%s: more than %d bytes", secret.Address(address), maxText)
	}
	return text, nil
}

// download copies a file of at most limit bytes.
func (p *Proxy) download(ctx context.Context, address, to string, limit int64) (err error) {
	body, err := p.open(ctx, address)
	if err != nil {
		return err
	}
	defer body.Close()
	meter, _ := display.Measure(ctx, "downloading "+path.Base(address), max(float64(body.size)/1e6, 0))
	defer meter.End()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(failpoint.Writer(failpoint.ModuleDownload, f), io.LimitReader(meter.Reader(body), limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", secret.Address(address), err)
	case n > limit:
		return fmt.Errorf("%s: more than %d bytes", secret.Address(address), limit)
	}
	return nil
}

// open opens a file of a proxy. A local proxy is a folder, file:///path. The error wraps
// errNotFound if the proxy does not have the file.
func (p *Proxy) open(ctx context.Context, address string) (opened, error) {
	u, err := url.Parse(address)
	if err != nil {
		return opened{}, secret.Error(err)
	}
	if u.Scheme == "file" {
		f, err := os.Open(filepath.FromSlash(u.Path))
		if errors.Is(err, fs.ErrNotExist) {
			return opened{}, fmt.Errorf("%s: %w", address, errNotFound)
		}
		return opened{f, 0}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return opened{}, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return opened{}, secret.Error(err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return opened{response.Body, response.ContentLength}, nil
	case http.StatusNotFound, http.StatusGone:
		err = errNotFound
	default:
		err = errors.New(response.Status)
	}
	response.Body.Close()
	return opened{}, fmt.Errorf("%s: %w", secret.Address(address), err)
}

// opened is a file of a proxy and its size, which is 0 or less if it is unknown.
type opened struct {
	io.ReadCloser
	size int64
}
