package main

import (
	"bufio"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// find returns the names of the tests below root, relative to it and with
// slashes, in lexical order.
func find(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasSuffix(path, ".dir") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		if ok, err := isTest(path); err != nil || !ok {
			return err
		}
		name, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no tests in %s: install a Go distribution that includes its test folder", root)
	}
	return names, err
}

// isTest reports whether a file is a test that runs on this platform, alone and without
// arguments.
func isTest(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "//go:build ") {
			continue
		}
		if line != "// run" {
			return false, nil
		}
		return build.Default.MatchFile(filepath.Dir(path), filepath.Base(path))
	}
	return false, lines.Err()
}
