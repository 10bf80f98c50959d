// Package cubin assembles PTX to machine code for a GPU with NVIDIA's ptxas. A driver compiles the PTX of a module when it loads
// it; it loads machine code, a cubin, as it is. The back end uses this package only to measure what that is worth, since ptxas is
// not part of the driver.
package cubin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/internal/atomicfile"
)

// Assembler assembles modules for one kind of GPU.
type Assembler struct {
	Path   string // of ptxas
	target string
	folder string // of the cubins, in the user's cache; empty for none
}

// New finds ptxas for a compute capability, such as 90.
func New(capability int) (*Assembler, error) {
	path, err := library.Assembler(library.ThisMachine())
	if err != nil {
		return nil, fmt.Errorf("ptxas: %w", err)
	}
	a := &Assembler{Path: path, target: fmt.Sprintf("sm_%d", capability)}
	if capability == 90 { // with wgmma
		a.target += "a"
	}
	if cache, err := os.UserCacheDir(); err == nil {
		a.folder = filepath.Join(cache, "quern", "cubin")
	}
	return a, nil
}

// Assemble returns the machine code of a module. It is kept in the user's cache for later processes.
func (a *Assembler) Assemble(ctx context.Context, ptx string) ([]byte, error) {
	if a.folder == "" {
		return a.run(ctx, ptx)
	}
	path := filepath.Join(a.folder, fmt.Sprintf("%x.cubin", sha256.Sum256([]byte(a.Path+"\x00"+a.target+"\x00"+ptx))))
	code, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return code, err
	}
	if code, err = a.run(ctx, ptx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(a.folder, 0o700); err != nil {
		return nil, err
	}
	return code, atomicfile.Replace(path, func(w io.Writer) error {
		_, err := w.Write(code)
		return err
	})
}

// run runs ptxas.
func (a *Assembler) run(ctx context.Context, ptx string) (code []byte, err error) {
	folder, err := os.MkdirTemp("", "cubin")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	in, out := filepath.Join(folder, "module.ptx"), filepath.Join(folder, "module.cubin")
	if err := os.WriteFile(in, []byte(ptx), 0o600); err != nil {
		return nil, err
	}
	if text, err := exec.CommandContext(ctx, a.Path, "-arch="+a.target, "-o", out, in).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s -arch=%s: %w: %s", a.Path, a.target, err, text)
	}
	return os.ReadFile(out)
}
