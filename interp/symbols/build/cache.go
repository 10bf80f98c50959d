package build

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// cacheDir returns the directory of the programs that have been built. Each has a directory, named after a hash of
// everything that it depends on.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no directory for the program: %w", err)
	}
	return filepath.Join(dir, "quern", "programs"), nil
}

// key returns the hash of texts.
func key(texts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(texts, "\x00"))))[:32]
}

// programFile is the name of a program in its directory.
func programFile() string {
	if runtime.GOOS == "windows" {
		return "quern.exe"
	}
	return "quern"
}

// cached returns the path of a program in the cache, or "".
func cached(dir, key string) string {
	path := filepath.Join(dir, key, programFile())
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Join(dir, key), now, now) // only so that it stays longer
	return path
}

// building is the beginning of the names of directories in which a program is being built.
const building = ".build-"

// store moves a directory with a program to its place. Another process may have been faster.
func store(dir, key, made string) (string, error) {
	if err := os.Rename(made, filepath.Join(dir, key)); err != nil {
		if path := cached(dir, key); path != "" {
			return path, nil
		}
		return "", fmt.Errorf("keep the program: %w", err)
	}
	return filepath.Join(dir, key, programFile()), nil
}

// omittedFile is the name of the file in the directory of a program with the packages that it lacks.
const omittedFile = "omitted.json"

// writeOmitted writes the packages that a program lacks into its directory, if there are any.
func writeOmitted(dir string, omitted []Omitted) error {
	if len(omitted) == 0 {
		return nil
	}
	text, err := json.Marshal(omitted)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, omittedFile), text, 0o666)
	}
	if err != nil {
		return fmt.Errorf("keep the program: %w", err)
	}
	return nil
}

// readOmitted reads what writeOmitted has written.
func readOmitted(dir string) ([]Omitted, error) {
	text, err := os.ReadFile(filepath.Join(dir, omittedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var omitted []Omitted
	if err == nil {
		err = json.Unmarshal(text, &omitted)
	}
	if err != nil {
		return nil, fmt.Errorf("read the packages that the program lacks: %w", err)
	}
	return omitted, nil
}

// How long programs, and what is left of an interrupted build, are kept.
const (
	keepProgram = 30 * 24 * time.Hour
	keepBuild   = 24 * time.Hour
)

// clean removes what has not been used for long. A program that runs may be among it: on Windows it stays then.
func clean(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, statErr := e.Info()
		keep := keepProgram
		if strings.HasPrefix(e.Name(), building) {
			keep = keepBuild
		}
		if statErr == nil && time.Since(info.ModTime()) > keep {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
