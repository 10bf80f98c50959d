package download

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/internal/atomicfile"
)

// part is an unfinished file: the first size bytes of the content.
type part struct {
	path string // of the finished file
	file *os.File
	lock io.Closer
	size int64
	sum  hash.Hash // of the bytes so far; nil if they have not been read yet
	// joined means that the bytes came in several responses.
	joined bool
	origin
}

// origin says which content the bytes belong to. It is stored beside them.
type origin struct {
	Address string `json:"address"` // its identity
	// Version is what the server sent as the strong ETag or as Last-Modified; "" if neither.
	Version string `json:"version"`
}

// identity is a checksum of an address, so that no token in its query is stored. The user and the password do not change
// what the address means.
func identity(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.User = nil
		address = u.String()
	}
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:])
}

func (p *part) name() string       { return p.path + ".part" }
func (p *part) originName() string { return p.path + ".part.json" }

// openPart opens the unfinished file of a path, which may be empty.
func openPart(path string) (*part, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	p := &part{path: path}
	f, err := os.OpenFile(p.name(), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	p.file = f
	if p.lock, err = atomicfile.Lock(p.name()); err != nil {
		f.Close()
		if errors.Is(err, atomicfile.ErrLocked) {
			return nil, ErrBusy
		}
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		p.close()
		return nil, err
	}
	p.size = info.Size()
	if text, err := os.ReadFile(p.originName()); err != nil || json.Unmarshal(text, &p.origin) != nil {
		p.origin = origin{}
	}
	return p, nil
}

// close ends the use of the files; an empty one is removed.
func (p *part) close() {
	p.file.Close() // closing it twice does no harm
	if p.size == 0 {
		p.remove()
	}
	p.lock.Close()
}

func (p *part) remove() {
	os.Remove(p.name())
	os.Remove(p.originName())
}

// restart drops the bytes.
func (p *part) restart() error {
	p.size, p.sum, p.joined, p.origin = 0, sha256.New(), false, origin{}
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// resume computes the checksum of the bytes of earlier calls and moves to their end.
func (p *part) resume() error {
	if p.sum != nil {
		return nil
	}
	p.sum = sha256.New()
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.CopyN(p.sum, p.file, p.size)
	return err
}

// belongsTo stores the origin of the bytes that follow.
func (p *part) belongsTo(o origin) error {
	if p.origin == o {
		return nil
	}
	p.origin = o
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return os.WriteFile(p.originName(), text, 0o666)
}

// Write appends bytes.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.sum.Write(b[:n])
	p.size += int64(n)
	return n, err
}

// sha256 returns the checksum of the bytes.
func (p *part) sha256() string { return hex.EncodeToString(p.sum.Sum(nil)) }

// finish gives the file its name.
func (p *part) finish() error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	if err := p.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(p.name(), p.path); err != nil {
		return err
	}
	os.Remove(p.originName())
	return atomicfile.SyncFolder(filepath.Dir(p.path))
}
