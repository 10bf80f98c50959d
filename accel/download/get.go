package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/internal/secret"
)

// Get downloads a file by HTTPS. An existing file is kept, unless it does not have the [SHA256]. A
// connection that breaks is continued as long as each request brings new data; then, or when ctx
// ends, the error is an [*Error], and the next call continues. If the server states a SHA-256, as
// Hugging Face does for large files, it is verified, too. A download longer than a second displays
// a progress bar. Plain HTTP is rejected ([ErrInsecure]) without [SHA256] or [Check].
func Get(ctx context.Context, address, path string, list ...Option) error {
	if err := interrupt.RequireContext(ctx, "download: Get"); err != nil {
		return err
	}
	o, err := settings("Get", list, append([]string{"SHA256"}, ofFiles...)...)
	if err != nil {
		return err
	}
	if done, err := o.has(path); err != nil {
		return fmt.Errorf("download: %w", err)
	} else if done {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil { // which has parts of the address
		err = errors.New("the address is not valid: characters such as / ? # @ and % of a user or password are written as %2F, %3F, %23, %40 and %25")
	}
	if err == nil && (u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		err = errors.New("want an address that begins with https://")
	}
	if err == nil && u.Scheme == "http" && !o.verifies() {
		err = ErrInsecure
	}
	if err != nil {
		return failure(address, path, 0, err)
	}
	p, err := openPart(path)
	if err != nil {
		return failure(address, path, 0, err)
	}
	defer p.close()
	if err := o.fetch(ctx, address, p); err != nil {
		return failure(address, path, p.size, err)
	}
	return nil
}

// verifies reports whether the content of the file is verified.
func (o *options) verifies() bool { return o.sum != "" || o.check != nil }

// has reports whether the file is there.
func (o *options) has(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil || o.sum == "" {
		return err == nil, errors.Join(err, f.Close())
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false, err
	}
	return hex.EncodeToString(sum.Sum(nil)) == o.sum, nil
}

// fetch downloads the rest of a file, verifies it and gives it its name. A file of several parts
// that do not fit together is downloaded once more.
func (o *options) fetch(ctx context.Context, address string, p *part) error {
	if p.size > 0 && (p.Address != identity(address) || !o.continues(p)) {
		if err := p.restart(); err != nil { // the bytes may be those of another content
			return err
		}
	}
	err := o.complete(ctx, address, p)
	var sum *ChecksumError
	if errors.Is(err, errRestart) || p.joined && errors.As(err, &sum) {
		if err := p.restart(); err != nil {
			return err
		}
		err = o.complete(ctx, address, p)
	}
	if err == nil {
		err = o.verified(p)
	} else if !errors.As(err, &sum) && !errors.Is(err, ErrTooLarge) && o.continues(p) {
		return err // what was received is kept
	}
	if err != nil {
		return errors.Join(err, p.restart())
	}
	return p.finish()
}

// continues reports whether the bytes of p can be continued without a mixture of two contents.
func (o *options) continues(p *part) bool { return p.Version != "" || o.sum != "" }

// complete sends requests until all bytes are there, and compares their checksum.
func (o *options) complete(ctx context.Context, address string, p *part) error {
	reached := p.size
	for {
		stated, err := o.request(ctx, address, p)
		if err == nil {
			for _, want := range []string{o.sum, stated} {
				if got := p.sha256(); want != "" && got != want {
					return &ChecksumError{want, got, p.size}
				}
			}
			return nil
		}
		var status *StatusError
		if ctx.Err() != nil || p.size <= reached || errors.As(err, &status) || errors.Is(err, ErrTooLarge) || !o.continues(p) {
			return err
		}
		reached = p.size
	}
}

// verified calls the check of the options.
func (o *options) verified(p *part) error {
	if o.check == nil {
		return nil
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return o.check(p.file)
}

// File is a file to download with [Files].
type File struct {
	Name     string // below the address and below the folder, such as "model.safetensors"
	SHA256   string // hexadecimal; "" if unknown
	Optional bool   // that the server does not have it is no error
}

// Files downloads files below an address to a folder, one after the other. Files that are complete
// are not downloaded again, so that a call after an error continues where the last one ended. The options
// are those of [Get] but [SHA256], which is a field of [File].
func Files(ctx context.Context, address, folder string, files []File, list ...Option) error {
	if err := interrupt.RequireContext(ctx, "download: Files"); err != nil {
		return err
	}
	if _, err := settings("Files", list, ofFiles...); err != nil {
		return err
	}
	for _, f := range files {
		local := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(local) || strings.ContainsAny(f.Name, `\?#%`) {
			name, _, _ := strings.Cut(f.Name, "?")
			return fmt.Errorf("download: %q is not the name of a file below %s", secret.Text(name), folder)
		}
		each := list[:len(list):len(list)]
		if f.SHA256 != "" {
			each = append(each, SHA256(f.SHA256))
		}
		err := Get(ctx, strings.TrimSuffix(address, "/")+"/"+f.Name, filepath.Join(folder, local), each...)
		var status *StatusError
		if f.Optional && errors.As(err, &status) && status.Code == http.StatusNotFound {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
